"""What scripts/peer makes of two clocks' figures, from programs that print fixed ones, and of what is not there."""

import importlib.machinery
import importlib.util
import os
import pathlib
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent / "peer"
loader = importlib.machinery.SourceFileLoader("peer", str(SCRIPT))
peer = importlib.util.module_from_spec(importlib.util.spec_from_loader("peer", loader))
loader.exec_module(peer)

# Ranks that take 10 and 30 us, and then 30 and 20: their means are 20 and 25. The first two and the last take longer.
PLUMB = """#!/usr/bin/env python3
import json, sys
word = sys.argv
record = word[word.index("--record") + 1]
with open(record, "a") as out:
    print(json.dumps({"run": "r", "started": "now"}), file=out)
    for line in (a for a in word if a.startswith("on ")):
        if "LACKS" in word[word.index("--backend") + 1] and "+x ->" in line:
            print("not timed ", line)
            continue
        took = [[90, 90, 10, 30, 90], [90, 90, 30, 20, 90]]
        ranks = [{"enter": [0] * 5, "leave": [1000 * us for us in rank]} for rank in took]
        print(json.dumps({"case": line, "backend": "b", "bench": {"nanoseconds": [30000, 30000], "ranks": ranks}}), file=out)
"""

# IMB-MPI1's words, of a benchmark of the size given; $TOOK is its t_max.
IMB = """#!/bin/sh
echo "#--------"
echo "# Benchmarking $1"
echo "# #processes = 2"
echo "#--------"
echo "       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]"
for bytes in $(echo "$5" | tr , ' '); do echo "       $bytes          200         1.00        ${TOOK}        2.00"; done
exit ${CODE-0}
"""


class Tables(unittest.TestCase):
    def test_the_column_is_the_slowest_rank_s(self):
        text = "# Benchmarking Allreduce \n#bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n 64 200 1.00 3.00 2.00\n 128 time-out.\n"
        self.assertEqual(peer.parse_table(text), {("Allreduce", 64): 3.0})

    def test_sizes_as_imb_has_them(self):
        self.assertEqual(peer.bytes_said("Allgatherv", 1024, 4), 1024)
        self.assertEqual(peer.bytes_said("Reduce_scatter", 1024, 4), 1024)
        self.assertEqual(peer.bytes_said("Allreduce", 1024, 4), 4096)


class Ratios(unittest.TestCase):
    def test_the_interval_is_the_binomial_distribution_s(self):
        """Of n the k-th and the k-th last, where fewer than 5 % of all n coins have fewer than k heads, or as few tails."""
        for n, k in {5: 0, 6: 1, 8: 1, 9: 2, 11: 2, 12: 3, 20: 6}.items():
            found = peer.interval_of_median([float(i) for i in range(n, 0, -1)])
            self.assertEqual(found, (k, n + 1 - k) if k else None)

    def test_agreement(self):
        for ratios, verdict in {(1.0,) * 6: "AGREE", (1.02,) * 6: "AGREE", (1.03,) * 6: "DISAGREE", (0.97,) * 6: "DISAGREE",
                                (1.0,) * 5 + (1.03,): "UNSURE", (1.05,) * 5: "UNSURE"}.items():
            self.assertEqual(peer.agreement(list(ratios)), verdict, ratios)


class Commands(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name, text in {"plumb": PLUMB, "imb": IMB}.items():
            (self.folder / name).write_text(text)
            (self.folder / name).chmod(0o755)

    def run_with(self, *more, backend="b {plan}", **variables):
        command = [SCRIPT, "--plumb", self.folder / "plumb", "--peer", str(self.folder / "imb"), "--backend", backend, "--pairs", "6", *more]
        return subprocess.run(command, text=True, capture_output=True, env={**os.environ, **variables})

    def test_equal_ones_agree(self):
        ran = self.run_with("--sizes", "1Ki", TOOK="25.00")
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertEqual(ran.stdout.splitlines()[:2], ["AGREE    Allgatherv of 2048 bytes  on x=2: reshard f32[1024@x] -> f32[1024]",
                                                       "    1.000 (1.000 to 1.000) times IMB-MPI1's, by 6 pairs; 25 us and 25 us"])
        self.assertEqual(ran.stdout.count("AGREE"), 3)

    def test_a_delay_is_seen(self):
        ran = self.run_with(TOOK="23.75")  # ours takes 5 % more
        self.assertEqual((ran.returncode, ran.stdout.count("DISAGREE")), (1, 3), ran.stdout)
        self.assertIn("1.053 (1.053 to 1.053) times IMB-MPI1's", ran.stdout)

    def test_what_fails_is_said(self):
        ran = self.run_with(TOOK="25", CODE="9")
        self.assertEqual(ran.returncode, 3)
        self.assertIn("exit code 9", ran.stderr)
        ran = self.run_with(TOOK="25", backend="LACKS {plan}")
        self.assertEqual(ran.returncode, 3)
        self.assertIn("plumb bench did not time all:\nnot timed  on x=2: reshard", ran.stderr)

    def test_what_is_missing_is_named(self):
        lacking = subprocess.run([SCRIPT], text=True, capture_output=True, env={**os.environ, "PLUMB_HOME": str(self.folder)})
        self.assertEqual((lacking.returncode, lacking.stdout), (2, ""))
        self.assertEqual(lacking.stderr, "peer: there is no mpich@5.0.2 and no imb@2021.19.0: scripts/environment mpich@5.0.2 && scripts/environment imb@2021.19.0\n")
        nobody = subprocess.run([SCRIPT, "--plumb", self.folder / "plumb", "--backend", "b {plan}", "--peer", "/nowhere/imb"], text=True, capture_output=True)
        self.assertEqual((nobody.returncode, nobody.stderr), (2, "peer: /nowhere/imb: No such file or directory\n"))

    def test_a_peer_that_is_not_there_is_noticed_before_anything_is_timed(self):
        timed = self.folder / "plumb"
        timed.write_text("#!/bin/sh\ntouch $(dirname $0)/timed; exit 3\n")
        ran = subprocess.run([SCRIPT, "--plumb", timed, "--backend", "b {plan}", "--peer", "sh -c 'exit 9'"], text=True, capture_output=True)
        self.assertEqual(ran.returncode, 3)
        self.assertFalse((self.folder / "timed").exists())

    def test_a_backend_that_does_not_say_where_its_plan_stands_is_refused(self):
        ran = self.run_with(backend="mpi,np=2", TOOK="25")
        self.assertEqual((ran.returncode, ran.stdout), (2, ""))
        self.assertIn("--backend: expected {plan} where its plan stands (of direct and calls): mpi,np=2", ran.stderr)

    def test_bad_input(self):
        for flags, words in {("--pairs", "5"): "--pairs: expected a number from 6, not '5'", ("--sizes", "1Gb"): "not '1Gb'", ("--sizes", ""): "not ''",
                             ("--sizes", "3"): "2 ranks do not divide each of them", ("--iterations", "3"): "expected a number from 4, not '3'",
                             ("--ranks", "1"): "expected a number from 2"}.items():
            ran = self.run_with(*flags)
            self.assertEqual((ran.returncode, words in ran.stderr), (2, True), (flags, ran.stderr))


if __name__ == "__main__":
    unittest.main()
