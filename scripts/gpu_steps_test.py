"""scripts/gpu-check without a GPU: what its steps ask plumb, and what becomes of their words; lists of many nodes."""

import json
import os
import resource
import shutil
import signal
import subprocess
import unittest

from testing.gpu_node import BUILD, HOST, ROOT, Node


class Steps(Node):
    def nodes(self, rows, figures):
        """What nodes have written: host, uuid, severity, why; and host, uuid, case, median."""
        shutil.rmtree(self.folder / "nodes", ignore_errors=True)
        for host, uuid, severity, why in rows:
            (self.folder / "nodes" / host).mkdir(parents=True, exist_ok=True)
            with open(self.folder / "nodes" / host / "cards.tsv", "a", encoding="utf-8") as file:
                print(host, uuid, f"S{uuid}", "Card", severity, why, sep="\t", file=file)
        for host, uuid, case, median in figures:
            with open(self.folder / "nodes" / host / "figures.tsv", "a", encoding="utf-8") as file:
                print(host, uuid, f"S{uuid}", "Card", case, median, sep="\t", file=file)

    def ask(self, text):
        """What the functions of the steps and of the page say."""
        files = " ".join(f". {ROOT}/scripts/gpu/{name}.sh;" for name in ["figures", "steps", "written"])
        return subprocess.run(["bash", "-c", f"tab=$'\\t' backend=cuda sampled=(); {files} {text}"], capture_output=True, text=True, check=True,
                              cwd=self.folder).stdout

    def test_what_many_nodes_wrote_is_one_list(self):
        rows = [("a", "GPU-1", "ok", ""), ("a", "GPU-2", "isolate", "wrong"), ("b", "GPU-3", "watch", "hot"), ("c", "GPU-4", "ok", "")]
        self.nodes(rows, [])
        done = self.check("--gather", "nodes", "--nodes", "a,b,c,d")
        self.assertEqual(done.returncode, 1)
        self.assertEqual([line.split()[:2] for line in done.out.splitlines()[:-1]], [["isolate", "a"], ["reset", "d:"], ["watch", "b"]])
        self.assertIn("reset    d: the node has written nothing", done.out)
        self.assertIn("4 cards of 4 nodes: 1 to isolate, 1 to reset, 1 to watch", done.out)
        self.nodes(rows[2:], [])
        self.assertEqual(self.check("--gather", "nodes").returncode, 0)
        self.assertEqual(self.check("--gather", "nodes", "--nodes", "b,x").returncode, 5)
        self.assertEqual(self.check("--gather", "nowhere").returncode, 2)

    def test_a_list_says_what_is_not_over_not_shown_or_not_read(self):
        ok = [("a", "GPU-1", "ok", ""), ("b", "GPU-2", "ok", "")]
        for said, code in [("PASS", 0), ("NOT OVER: run it again", 4), ("NOTHING SHOWN: not every card was judged", 2)]:
            self.nodes(ok, [])
            (self.folder / "nodes/b/page.txt").write_text(f"gpu-check of b\n\n{said}\n")
            done = self.check("--gather", "nodes")
            self.assertEqual((done.returncode, f"b  {said}\n" in done.out), (code, code != 0))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        full = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        self.assertEqual(self.check("--gather", "nodes", preexec_fn=full, restore_signals=False).returncode, 3)
        self.nodes(ok, [])
        (self.folder / "nodes/b/cards.tsv").write_text("\0garbage\tof a\tdisk\n")
        done = self.check("--gather", "nodes")
        self.assertEqual(done.returncode, 5)
        self.assertIn("reset    b: what the node has written cannot be read\n1 cards of 2 nodes", done.out)

    def test_products_of_two_libraries_are_compared_each_with_its_own(self):
        """Two cards, each with two libraries, are two of a kind, not four."""
        self.nodes([(h, f"GPU-{h}", "ok", "") for h in "ab"], [])
        for host, times in [("a", 1), ("b", 1.5)]:
            (self.folder / "table").write_text(f"times us  samples  median\non x=1: e  cuda\n             9  {100 * times}\n"
                                               f"on x=1: e  cuda,products=cublaslt\n             9  {10 * times}\n")
            rows = self.ask(f"medians {self.folder}/table")
            (self.folder / f"nodes/{host}/figures.tsv").write_text("".join(f"{host}\tGPU-{host}\tS\tCard\t{row}\n" for row in rows.splitlines()))
        self.assertEqual(self.check("--gather", "nodes").returncode, 0)

    def test_what_a_bench_beside_nccl_finds(self):
        """UNSURE and DISAGREE are told, what is not timed has failed, and one that hangs is not begun for ever."""
        table = [("AGREE    nccl,np=2  on x=2: a", 0, 500, "pass", ""), ("UNSURE   nccl,np=2  on x=2: a", 0, 500, "told", "1 UNSURE"),
                 ("DISAGREE nccl,np=2  on x=2: a", 1, 500, "told", ""), ("not timed  nccl,np=2  on x=2: a\n    hung: ended", 1, 500, "failed", "reset"),
                 ("not timed  nccl,np=2  on x=2: a\n    wrong: 3", 1, 500, "failed", "isolate"),
                 ("not timed  nccl,np=2  on x=2: a\n    unsupported: no", 1, 500, "told", ""),
                 ("", 124, 500, "failed", "reset"), ("", 124, 60, "left", "")]
        for said, code, seconds, word, words in table:
            with self.subTest(said=said, seconds=seconds):
                (self.folder / "nb.out").write_text(said + "\n")
                self.ask(f"seconds={seconds} work={self.folder}; conclude {code} {self.folder}/nb.out nccl-bench {self.folder}")
                state = (self.folder / "nccl-bench.state").read_text()
                self.assertEqual(state.split("\t")[0], word, state)
                if word == "failed":
                    why = state.strip().split("\t")[1]
                    self.assertEqual(self.ask(f"severity_of all {why!r}"), words)
                else:
                    self.assertIn(words, state)

    def test_slow_against_its_own_kind(self):
        """The median over cases of a card's ratio to the median of its kind: 11 % is found, 9 % and one slow case are not."""
        cases = ["on x=1: a", "on x=2: b", "on x=4: c"]
        for slower, cards, found in [([1.11, 1.11, 1.11], 4, True), ([1.09, 1.09, 1.09], 4, False), ([3, 1, 1], 4, False),
                                     ([1.5, 1.5, 1], 3, True), ([1.5, 1.5, 1.5], 2, False)]:
            with self.subTest(slower=slower, cards=cards):
                hosts = [f"n{n}" for n in range(cards)]
                figures = [(host, f"GPU-{host}", case, 1e5 * (1 + n) * (slower[n] if host == "n1" else 1))
                           for host in hosts for n, case in enumerate(cases)]
                self.nodes([(host, f"GPU-{host}", "ok", "") for host in hosts], figures)
                done = self.check("--gather", "nodes")
                self.assertEqual(done.returncode, 1 if found else 0, done.out)
                self.assertEqual("serial SGPU-n1  Card  GPU-n1: takes" in done.out, found, done.out)
                self.assertEqual(done.out.count("isolate "), int(found))
        self.assertEqual(self.check("--gather", "nodes", "--slow", "60").returncode, 0)

    def test_columns_are_found_by_their_names(self):
        table = ("times us  samples  p95  median  min\n"
                 "on x=2: reshard f32[8@x] -> f32[8]  cuda\n            12       9        7.5       1\n"
                 "times us  min  median\non x=1: b  cuda\n            1      2e+04\n"
                 "on x=1: long\n  on cuda,np=2\n            1      3e+04\n"
                 "rates  size  algbw GB/s      limit  of limit\non x=1: b  cuda\n      32 KiB      3  send 9 GB/s      33 %\n"
                 "slow  cuda  on x=1: b\ngrowth  backend  devices  median us\non x=2: c  cuda  2  4\n")
        (self.folder / "table").write_text(table)
        said = subprocess.run(["bash", "-c", f". {ROOT}/scripts/gpu/figures.sh; medians {self.folder}/table"], capture_output=True,
                              text=True, check=True).stdout
        self.assertEqual(said, "on x=2: reshard f32[8@x] -> f32[8]  cuda\t7.5\non x=1: b  cuda\t2e+04\non x=1: long  cuda,np=2\t3e+04\n")

    def test_what_falls_short_of_a_wanted_figure_is_told(self):
        """Of a card alone; a result that is not proved is wrong."""
        rows = [("redistribute/run:128", "of_copy", "9.1e-01", "Card", "runs of 128 bytes 0.91 of a copy"),
                ("redistribute/run:128", "of_copy", "8.9e-01", "Card", "runs of 128 bytes 0.89 of a copy (wanted 0.9)"),
                ("redistribute/run:32", "of_copy", "8.9e-01", "Card", "runs of 32 bytes 0.89 of a copy"),
                ("redistribute/run:128", "of_copy", "1e-02", "this processor", "runs of 128 bytes 0.01 of a copy"),
                ("prove_product/size:16384", "of_product", "5.1e-02", "Card", "proof of 16384 cubed 0.051 of its product (wanted 0.05) (Card)"),
                ("prove_product/size:16384", "of_product", "4.1e-02", "Card", "proof of 16384 cubed 0.041 of its product (Card)"),
                ("prove_moved", "of_copy", "5e-01", "Card", "proof of what is moved at 0.50 of a copy")]
        for name, kind, value, label, words in rows:
            text = f'    {{\n "name": "{name}",\n "{kind}": {value},\n "label": "{label}"\n    }}\n'
            (self.folder / "said").write_text(text)
            said = subprocess.run(["bash", "-c", f". {ROOT}/scripts/gpu/figures.sh; kernel_figures {self.folder}/said"], capture_output=True,
                                  text=True, check=True).stdout
            self.assertEqual(said, words + "\n")
        for error, state in [("a result is not proved", "failed"), ("out of memory", "told")]:
            self.script(self.folder / "kernels", f"#!/bin/bash\nprintf '    {{\\n\"name\": \"prove_moved\",\\n\"error_message\": \"{error}\"\\n    }}\\n'\n")
            self.script(self.folder / "ask", f"""#!/bin/bash
                tab=$'\t' kernels={self.folder}/kernels backend=cuda sample= work={self.folder}
                . {ROOT}/scripts/gpu/figures.sh; . {ROOT}/scripts/gpu/steps.sh; kernels_of GPU-1 {self.folder} 20""")
            subprocess.run([self.folder / "ask"], check=True)
            self.assertEqual((self.folder / "kernels.state").read_text().split("\t")[0], state)

    def test_steps_of_nccl_call_what_nccl_has(self):
        """On stubs of NCCL and CUDA: sums, forms, algorithms, replicas, a plain call beside ours; each on as many ranks as there are cards."""
        stubs = BUILD / "adapters/nccl/testing/stubs"
        if not (stubs / "libnccl.so.2").exists():
            self.skipTest("built without the headers of NCCL")
        for name in ["plumb-nccl", "plumb-launch"]:
            (self.tree / "bin" / name).symlink_to(BUILD / "bin" / name)
        os.environ.update(LD_LIBRARY_PATH=str(stubs), STUB_CARDS="2")
        self.addCleanup(lambda: [os.environ.pop(name) for name in ["LD_LIBRARY_PATH", "STUB_CARDS"]])
        done = self.check("--only", "nccl-shared,nccl-alone,nccl-forms,nccl-bench", "--sample", "8", "--out", "out", *HOST)
        self.assertEqual(done.returncode, 0, done.out + done.err)
        page = self.out("page.txt")
        for line in ["nccl-shared +GPU-1 +pass", "nccl-shared +GPU-2 +pass", "nccl-alone +all +pass", "nccl-forms +all +pass",
                     "nccl-bench +all +(pass|told) +beside NCCL alone: [1-3] "]:
            self.assertRegex(page, line)
        packed = next((self.folder / "out").glob("records.tar.*"))

        def records(name):
            lines = subprocess.run(["tar", "-xOf", packed, f"./{name}.jsonl"], capture_output=True, check=True).stdout
            return [line for line in map(json.loads, filter(None, lines.split(b"\n"))) if "case" in line]

        for name in ["GPU-1/nccl-shared", "all/nccl-alone", "all/nccl-forms"]:
            kinds = {call["kind"] for record in records(name) for call in record["trace"]}
            self.assertLessEqual({"all-reduce", "reduce-scatter", "all-gather"}, kinds, name)
        alone = records("all/nccl-alone")
        self.assertNotIn("unsupported", {record["status"] for record in alone})
        self.assertLessEqual(len(alone), 2 * (8 + 10))  # of each suite's draw and of the cases that are named, by two plans
        notes = {note for record in records("all/nccl-forms") for note in record["notes"]}
        for form in ["in-place", "misaligned", "graph", "registered", "two", "grouped"]:
            self.assertIn(f"form={form}: ncclAllReduce", notes)

    def test_a_step_of_all_cards_that_failed_is_on_the_list(self):
        """A node whose GPUs together have wrong bits or hang is drained; an error that the library says is listed, and drains none."""
        table = [("failed", "wrong  nccl,np=2  on x=2: reshard", "isolate", r"which of them is not known"),
                 ("failed", "diverged  nccl  on x=2", "isolate", ""), ("failed", "hung  nccl  on x=2", "reset", ""),
                 ("failed", "crashed  nccl  on x=2", "reset", ""),
                 ("failed", "reneged  nccl  on x=2", "watch", "this drains no node"), ("failed", "plumb ended with 7", "watch", ""),
                 ("told", "wrong  torch", None, ""), ("unshown", "no NCCL", None, "")]
        (self.folder / "all").mkdir()
        for word, why, severity, words in table:
            (self.folder / "all/nccl-alone.state").write_text(f"{word}\t{why}\n")
            said = self.ask(f"work={self.folder} host=n1; failed_of_all")
            self.assertEqual(said.split("\t")[:5], ["n1", "-", "-", "-", severity] if severity else [""], why)
            self.assertIn(words, said)
        self.assertEqual(self.ask('severity_of card "wrong  cuda"; severity_of card "hung: not over"; severity_of card "plumb ended with 7"'),
                         "isolateresetisolate")
        self.assertEqual(self.ask('severity_of card "reneged  nccl"'), "watch")


if __name__ == "__main__":
    unittest.main()
