"""What scripts/equal-runs counts of what plumb bench says, and what it refuses."""

import os
import pathlib
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent / "equal-runs"

# Says of the cases of a second run what $SAID says, word by word.
PLUMB = """#!/bin/sh
case "$*" in
*--against* | *--in-turns*) for word in $SAID; do echo "$word mpi  on x=2: case: 1.000 times as long"; done ;;
esac
exit ${CODE-0}
"""


class Counts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.bin = pathlib.Path(folder.name)
        for name in ("plumb", "plumb-launch", "plumb-mpi"):
            (self.bin / name).write_text(PLUMB)
            (self.bin / name).chmod(0o755)

    def run_with(self, *flags, **variables):
        return subprocess.run([SCRIPT, "--bin", self.bin, "--times", "1", *flags], text=True, capture_output=True, env={**os.environ, **variables})

    def judged(self, said, *flags):
        ran = self.run_with(*flags, SAID=said)
        return ran.returncode, ran.stdout.splitlines()[-1]

    def test_of_equal_runs_faster_and_slower_are_false(self):
        self.assertEqual(self.judged("SAME SAME UNSURE SAME"), (0, "4 cases: 0 falsely FASTER or SLOWER, 3 told"))
        self.assertEqual(self.judged("SAME FASTER SAME SLOWER"), (1, "4 cases: 2 falsely FASTER or SLOWER, 4 told"))

    def test_unsure_is_no_answer(self):
        self.assertEqual(self.judged("UNSURE UNSURE UNSURE UNSURE"), (1, "4 cases: 0 falsely FASTER or SLOWER, 0 told"))
        self.assertEqual(self.judged("SAME SAME UNSURE UNSURE", "--told", "0.5")[0], 0)
        self.assertEqual(self.judged("SAME SAME UNSURE UNSURE", "--told", "0.75")[0], 1)

    def test_of_a_delay_all_but_slower_is_missed(self):
        self.assertEqual(self.judged("SLOWER SLOWER SLOWER SLOWER", "--delay", "0.12"), (0, "4 cases: 0 missed, 4 told"))
        self.assertEqual(self.judged("SLOWER UNSURE SAME FASTER", "--delay", "0.12"), (1, "4 cases: 3 missed, 3 told"))

    def test_backends_in_turns_are_judged_alike(self):
        self.assertEqual(self.judged("SAME SAME UNSURE SAME", "--in-turns"), (0, "4 cases: 0 falsely FASTER or SLOWER, 3 told"))
        self.assertEqual(self.judged("SLOWER SLOWER SLOWER UNSURE", "--in-turns", "--delay", "0.12"), (1, "4 cases: 1 missed, 3 told"))

    def test_cases_of_which_nothing_is_said_are_no_success(self):
        self.assertEqual(self.judged("SAME SAME SAME")[0], 1)

    def test_what_fails_is_said(self):
        ran = self.run_with(CODE="3")
        self.assertEqual(ran.returncode, 3)
        self.assertIn("exit code 3 of plumb bench", ran.stderr)

    def test_bad_input(self):
        for flags, words in {("--delay", "nan"): "expected a number from 0, not 'nan'", ("--delay", "inf"): "expected a number from 0, not 'inf'",
                             ("--delay", "-1"): "expected a number from 0, not '-1'", ("--repetitions", "0"): "from 4, of which something can be told, not '0'",
                             ("--repetitions", "3"): "from 4", ("--repetitions", "-1"): "from 4", ("--told", "2"): "a share from 0 to 1, not '2'",
                             ("--delay", "0.1", "--told", "1"): "--told is of equal runs", ("--times", "0"): "from 1, not '0'"}.items():
            ran = self.run_with(*flags)
            self.assertEqual((ran.returncode, ran.stdout, words in ran.stderr), (2, "", True), (flags, ran.stderr))

    def test_without_a_build_it_says_what_makes_one(self):
        (self.bin / "plumb-mpi").unlink()
        ran = self.run_with()
        self.assertEqual((ran.returncode, ran.stdout), (2, ""))
        self.assertEqual(ran.stderr, "equal-runs: there is no plumb-mpi: scripts/plumb --build-only\n")


if __name__ == "__main__":
    unittest.main()
