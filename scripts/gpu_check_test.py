"""scripts/gpu-check without a GPU: cards that a stub of nvidia-smi names, kernels on this processor, faults of theirs."""

import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("PLUMB_BUILD") or ROOT / "build")
HOST = ["--backend", "cuda,device=host"]

# Answers from the table `cards`, as a driver that knows no other fields than are in it; writes down what it was asked.
SMI = r"""#!/bin/bash
here=${0%/*}
echo "$*" >>"$here/asked"
[[ ! -e $here/hangs ]] || sleep 60
[[ $1 == --query-gpu=* ]] || exit 0
awk -F '\t' -v asked="${1#*=}" '
  NR == 1 { count = split(asked, field, ","); for (n = 1; n <= NF; ++n) column[$n] = n
    for (n = 1; n <= count; ++n) if (!(field[n] in column)) { print "Field \"" field[n] "\" is not a valid field to query."; exit 2 } next }
  { for (n = 1; n <= count; ++n) printf "%s%s", $column[field[n]], n < count ? ", " : "\n" }' "$here/cards"
"""

# plumb-cuda, that does wrong on the cards that `faults` names.
KERNELS = """#!/bin/bash
fault=$(sed -n "s/^$CUDA_VISIBLE_DEVICES //p" {faults})
exec {real} "$@" ${{fault:+--fault $fault}}
"""


def card(n, **more):
    return {"uuid": f"GPU-{n}", "serial": f"{1000 + n}", "name": "Card 80GB", "driver_version": "580.1",
            "ecc.errors.uncorrected.volatile.total": "0", "ecc.errors.corrected.volatile.total": "0",
            "remapped_rows.failure": "No", "remapped_rows.pending": "No", "temperature.gpu": "40", "clocks.sm": "1980",
            "clocks_throttle_reasons.active": "0x0000000000000000", "clocks_throttle_reasons.hw_slowdown": "Not Active", **more}


class GpuCheck(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="plumb-gpu-check-"))
        self.addCleanup(shutil.rmtree, self.folder)
        # As a bundle is laid out; the programs are those of this build.
        self.tree = self.folder / "tree"
        (self.tree / "bin").mkdir(parents=True)
        (self.tree / "share").mkdir()
        (self.tree / "share/plumbline").symlink_to(ROOT)
        shutil.copy(ROOT / "scripts/gpu-check", self.tree)
        shutil.copy(BUILD / "bin/plumb", self.tree / "bin")
        self.script(self.tree / "bin/plumb-cuda", KERNELS.format(faults=self.folder / "faults",
                                                                  real=BUILD / "adapters/cuda/plumb-cuda"))
        (self.tree / "libexec/plumbline").mkdir(parents=True)
        (self.tree / "libexec/plumbline/kernels_benchmark").symlink_to(BUILD / "suites/kernels_benchmark")
        self.script(self.folder / "stub/nvidia-smi", SMI)
        self.has([card(1), card(2)])

    def script(self, path, text):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def has(self, cards, faults=()):
        lines = [list(cards[0]), *(one.values() for one in cards)] if cards else []
        (self.folder / "stub/cards").write_text("".join("\t".join(line) + "\n" for line in lines))
        (self.folder / "faults").write_text("".join(f"{line}\n" for line in faults))

    def begun(self, *words, **more):
        env = {**os.environ, "PATH": f"{self.folder / 'stub'}:{os.environ['PATH']}", "GPU_CHECK_DRIVER": str(self.folder / "driver")}
        return subprocess.Popen([self.tree / "gpu-check", *words], env=env, cwd=self.folder, text=True, start_new_session=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)

    def check(self, *words, **more):
        process = self.begun(*words, **more)
        process.out, process.err = process.communicate()
        return process

    def out(self, name, folder="out"):
        return (self.folder / folder / name).read_text()

    def test_prolog(self):
        table = [
            # what is so of card 2, its fault, the exit code, the line
            ({"ecc.errors.uncorrected.volatile.total": "[N/A]"}, None, 0, r"^ok: 2 card\(s\); slow or not is not said: of its model 2 are known,"),
            ({}, "drops-last-source", 1, r"^isolate \S+ serial 1002 Card 80GB GPU-2: must-pass: wrong .* on .*: reshard"),
            ({}, "never-ends", 5, "^reset .* serial 1002 .*: hung"),
            ({"ecc.errors.uncorrected.volatile.total": "3"}, None, 1, "^isolate .* serial 1002 .*: 3 uncorrectable ECC errors$"),
            ({"remapped_rows.failure": "Yes"}, None, 1, "^isolate .*1002.*: a row of memory could not be remapped"),
            ({"remapped_rows.pending": "1"}, None, 5, "^reset .*1002.*: rows of memory wait to be remapped"),
            ({"clocks_throttle_reasons.hw_slowdown": "Active"}, None, 0, "^watch .*1002.*: its clocks are held back: hw_slowdown"),
            ({"serial": "[GPU requires reset]"}, None, 5, "^reset .*nvidia-smi says of it"),
            ({"remapped_rows.pending": "1"}, "drops-last-source", 1, "^isolate .*; reset "),
        ]
        for more, fault, code, line in table:
            with self.subTest(more=more, fault=fault):
                self.has([card(1), card(2, **more)], [f"GPU-2 {fault}"] if fault else [])
                done = self.check("--prolog", "--sample", "8" if fault else "1", *HOST)
                self.assertRegex(done.out, line)
                self.assertEqual(done.returncode, code, done.out + done.err)
                self.assertEqual(done.out.count("\n"), 1)
                self.assertNotIn("serial 1001", done.out)

    def test_prolog_among_other_nodes(self):
        """A node of two cards knows whether one is slow by what others left, at least one; it leaves its own."""
        among = self.folder / "among"
        among.mkdir()
        words = ["--prolog", *HOST, "--sample", "2", "--among", str(among), "--slow", "900"]
        self.assertIn("its model 2 are known, 3 at least", self.check(*words).out)
        own = next(among.iterdir())
        rows = [line.split("\t") for line in own.read_text().splitlines()]
        self.assertEqual({row[1] for row in rows}, {"GPU-1", "GPU-2"})

        def others(times, model):
            for n in range(3):
                lines = ["\t".join([f"n{n}", f"GPU-n{n}", "S", model, row[4], str(float(row[5]) * times)]) for row in rows if row[1] == "GPU-1"]
                (among / f"n{n}.tsv").write_text("\n".join(lines) + "\n")

        for times, model, code, line in [(1, "Card 80GB", 0, r"^ok: 2 card\(s\)$"), (1000, "Card 80GB", 0, r"^ok: 2 card\(s\)$"),
                                         (1e-3, "Card 80GB", 1, r"^isolate .*GPU-1: takes [0-9.]+ times the median of 5 of its kind.*; isolate .*GPU-2"),
                                         (1e-3, "Card 40GB", 0, "its model 2 are known")]:
            with self.subTest(times=times, model=model):
                others(times, model)
                done = self.check(*words)
                self.assertRegex(done.out, line)
                self.assertEqual(done.returncode, code)
                self.assertNotIn("GPU-n", done.out)
        self.assertEqual(len(list(among.iterdir())), 4)  # its own was replaced

    def test_a_node_that_lacks_cards_is_to_be_reset(self):
        self.has([card(1)])
        for n, code, line in [(1, 0, "^ok: 1 card"), (2, 5, "^reset [^ ]+: 1 of 2 GPUs are seen$")]:
            done = self.check("--prolog", "--sample", "1", "--cards", str(n), *HOST)
            self.assertRegex(done.out, line)
            self.assertEqual(done.returncode, code)
        self.has([])
        done = self.check("--prolog", "--cards", "8")
        self.assertRegex(done.out, "^reset [^ ]+: 0 of 8 GPUs are seen$")
        self.assertEqual(done.returncode, 5)

    def test_the_prolog_of_the_page_drains_a_node_for_its_cards_alone(self):
        script = (ROOT / "scripts/bundle.md").read_text().split("```bash\n")[1].split("```")[0]
        self.script(self.folder / "stub/logger", '#!/bin/bash\necho "$*"\n')
        for code, drains in [(0, 0), (1, 1), (5, 1), (2, 0), (3, 0), (137, 0)]:
            self.script(self.folder / "check", f"#!/bin/bash\necho why\nexit {code}\n")
            self.script(self.folder / "prolog", script.replace("/opt/plumbline/gpu-check", str(self.folder / "check")))
            env = {**os.environ, "PATH": f"{self.folder / 'stub'}:{os.environ['PATH']}"}
            done = subprocess.run([self.folder / "prolog"], env=env, capture_output=True, text=True, check=False)
            self.assertEqual((done.returncode, done.stderr), (drains, ""))
            self.assertEqual("why" in done.stdout, code != 0)

    def test_the_page_names_the_suites_that_must_pass(self):
        named = subprocess.run(["bash", "-c", f'. {ROOT}/scripts/gpu/steps.sh; printf "%s, " "${{must_pass[@]}}"'], capture_output=True,
                               text=True, check=True).stdout
        self.assertIn(f"| `must-pass` | {named.removesuffix(', ')} on `cuda` |", (ROOT / "scripts/bundle.md").read_text())

    def test_cards_without_the_tool_are_those_of_the_driver(self):
        (self.folder / "driver/gpus/0000:04:00.0").mkdir(parents=True)
        (self.folder / "driver/version").write_text("NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  Sun\n")
        (self.folder / "driver/gpus/0000:04:00.0/information").write_text(
            "Model: \t\t NVIDIA H100 80GB HBM3\nIRQ:   \t\t 18\nGPU UUID: \t GPU-9\nBus Location: \t 0000:04:00.0\n")
        (self.folder / "stub/hangs").touch()
        done = self.check("--prolog", "--sample", "1", *HOST)
        self.assertRegex(done.out, "^reset .* serial unknown NVIDIA H100 80GB HBM3 GPU-9: nvidia-smi does not answer")
        self.assertEqual(done.returncode, 5)
        (self.folder / "stub/nvidia-smi").unlink()
        path = os.pathsep.join(d for d in os.environ["PATH"].split(os.pathsep) if not os.path.exists(f"{d}/nvidia-smi"))
        os.environ["PATH"], before = path, os.environ["PATH"]
        try:
            self.assertEqual(self.check("--prolog", "--sample", "1", *HOST).out[:13], "ok: 1 card(s)")
        finally:
            os.environ["PATH"] = before

    def test_where_no_gpu_is_nothing_passes(self):
        self.has([card(1)])
        # The stub names a card, and CUDA finds none: that node is to be reset, unless it is this program that has no code for cards.
        done = self.check("--prolog")
        if "built without nvcc" in done.out:
            self.assertEqual(done.returncode, 2)
            self.assertRegex(done.out, "^nothing could be judged: built without nvcc")
        else:
            self.assertEqual(done.returncode, 5, done.out)
            self.assertRegex(done.out, "^reset .* serial 1001 .*: must-pass: CUDA does not start: (no CUDA driver|no GPU)")
        done = self.check("--out", "out", "--only", "doctor,must-pass", "--sample", "20")
        self.assertEqual(done.returncode, 2, done.out)
        self.assertRegex(self.out("page.txt"), "NOTHING SHOWN(.|\n)* must-pass +GPU-1 +NO PASS +not shown: ")
        self.assertNotIn("PASS\n", self.out("page.txt"))
        self.has([])
        for words in [["--prolog"], ["--out", "none"]]:
            self.assertEqual(self.check(*words).returncode, 2)
        self.assertFalse((self.folder / "none").exists())

    def test_one_bad_card_ends_neither_the_run_nor_the_figures_of_others(self):
        self.has([card(1), card(2), card(3, **{"clocks_throttle_reasons.active": "0x0000000000000008"})], ["GPU-2 forgets-a-term"])
        done = self.check("--under", "nodes", "--only", "doctor,proofs,nccl-alone,bench,kernels,faults", "--sample", "6", *HOST)
        self.assertEqual(done.returncode, 1, done.out)
        node = next((self.folder / "nodes").iterdir())
        page, drain = (node / "page.txt").read_text(), (node / "drain.txt").read_text()
        self.assertRegex(drain, r"\Aisolate .* serial 1002 (.|\n)*proofs: wrong ")
        self.assertNotIn("1001", drain + "".join(line for line in drain.split("\n") if "1003" in line and "isolate" in line))
        listed = subprocess.run([BUILD / "adapters/cuda/plumb-cuda", "--list"], capture_output=True, text=True, check=True).stdout
        for line in ["proofs +GPU-1 +pass", "proofs +GPU-2 +failed",
                     f"faults +GPU-3 +pass +{len(listed.splitlines())} planted faults caught",
                     "kernels +GPU-1 +pass +runs of 32 bytes [0-9.]+ of a copy; .* proof of 512 cubed [0-9.]+ of its product",
                     "nccl-alone +all +NO PASS +not shown: this bundle has no backend nccl", "FAILED: GPUs to drain",
                     "GPU-3  40  1980  1980 .*0x0000000000000008"]:
            self.assertRegex(page, line)
        figures = (node / "figures.tsv").read_text()
        self.assertEqual({row.split("\t")[1] for row in figures.splitlines()} & {"GPU-1", "GPU-3"}, {"GPU-1", "GPU-3"})
        self.assertLessEqual(len(list(node.iterdir())), 8)
        asked = (self.folder / "stub/asked").read_text().splitlines()
        self.assertTrue(asked)
        for words in asked:  # no setting of a card is changed
            self.assertRegex(words, r"^(-L|--query-gpu=\S+ --format=csv,noheader,nounits)$")

    def test_killed_half_way_it_goes_on_and_a_fresh_machine_goes_on_too(self):
        self.has([card(1)])
        words = ["--out", "out", "--only", "must-pass", "--sample", "300", *HOST]
        record = self.folder / "out/work/GPU-1/must-pass.jsonl"
        killed = self.begun(*words)
        while not record.exists() or record.read_bytes().count(b"\n") < 10:  # of 300, which take part of a second
            self.assertIsNone(killed.poll())
            time.sleep(0.002)
        os.killpg(killed.pid, signal.SIGKILL)
        killed.communicate()
        judged = record.read_bytes().count(b"\n")
        # Without time for a step it packs what there is; the folder is carried to a machine with another card.
        self.assertEqual(self.check(*words, "--continue", "--for", "1s").returncode, 4)
        self.assertIn("NOT OVER", self.out("page.txt"))
        os.rename(self.folder / "out/work/GPU-1", self.folder / "out/work/card1")
        self.assertEqual(self.check(*words, "--continue", "--for", "1s").returncode, 4)
        shutil.rmtree(self.folder / "out/work")
        self.has([card(7)])
        done = self.check(*words, "--continue")
        self.assertEqual(done.returncode, 0, done.out + done.err)
        self.assertRegex(done.out, "^PASS of this processor, no GPU was checked by a sample of 300 cases: must-pass; NOT SHOWN: not all steps")
        self.assertFalse((self.folder / "out/work").exists())
        packed = next((self.folder / "out").glob("records.tar.*"))
        lines = subprocess.run(["tar", "-xOf", packed, "./card1/must-pass.jsonl"], capture_output=True, check=True).stdout
        lines = [json.loads(line) for line in lines.split(b"\n") if line]
        runs = {line["run"] for line in lines if "selection" in line}
        self.assertEqual(len(runs), 2)  # the one that was killed, and the one that went on
        cases = [line["case"] for line in lines if "case" in line]
        self.assertGreater(len(cases), judged)
        self.assertEqual(len(cases), len(set(cases)))  # none was judged twice

    def test_a_full_disk_is_our_own_failure(self):
        small = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        done = self.check("--out", "out", "--only", "doctor,proofs", "--sample", "50", *HOST, preexec_fn=small, restore_signals=False)
        self.assertEqual(done.returncode, 3, done.out + done.err)
        self.assertNotIn("PASS", done.out)
        done = self.check("--out", "out", "--only", "doctor,proofs", "--sample", "50", *HOST)
        self.assertEqual(done.returncode, 0, done.out + done.err)

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
        table = ("case                      backend  size     p95 us  median us  min us\n"
                 "on x=2: reshard f32[8@x] -> f32[8]  cuda     32 KiB   9        7.5        1\n"
                 "case  backend  min us  median us\non x=1: b  cuda  1  2e+04\nslow  cuda  on x=1: b\n")
        (self.folder / "table").write_text(table)
        said = subprocess.run(["bash", "-c", f". {ROOT}/scripts/gpu/figures.sh; medians {self.folder}/table"], capture_output=True,
                              text=True, check=True).stdout
        self.assertEqual(said, "on x=2: reshard f32[8@x] -> f32[8]\t7.5\non x=1: b\t2e+04\n")

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

    def test_a_framework_that_sees_no_gpu_fails_nothing(self):
        """As a JAX of a release that nobody published, installed for the processor alone."""
        self.script(self.folder / "stub/python", """#!/bin/bash
case "$*" in
  *"import jax"*) echo 7.8.9 ;;
  *"import torch"*) echo "ModuleNotFoundError: No module named 'torch'" >&2; exit 1 ;;
  *) echo "jax: platform=gpu, and JAX finds no GPU here" >&2; exit 2 ;;
esac
""")
        done = self.check("--only", "doctor,jax,torch", "--python", self.folder / "stub/python", "--out", "out", *HOST)
        self.assertNotEqual(done.returncode, 1, done.out + done.err)
        page = self.out("page.txt")
        self.assertRegex(page, "jax +all +NO PASS +not shown: jax@7.8.9,platform=gpu: .*JAX finds no GPU here")
        self.assertRegex(page, "torch +all +NO PASS +not shown: .* has no torch")

    def test_what_is_refused(self):
        for words, said in [(["--frobnicate"], "unknown option --frobnicate"), (["--only", "nosuch"], "no step nosuch"),
                            (["--for", "soon"], "expected a time"), (["--for", "9m5"], "expected a time"), (["--for", ""], "expected a time"),
                            (["--only", ""], "expected steps of"), (["--slow", "x"], "expected percent"),
                            (["--cards", "0"], "expected a number of GPUs"), (["--among", "."], "--among goes with --prolog"),
                            (["--prolog", "--among", "nowhere"], "there is no folder nowhere"), (["--sample", "0"], "expected a number of cases"), (["--sample", "few"], "expected a number of cases"), (["--out"], "--out needs a value")]:
            done = self.check(*words)
            self.assertEqual(done.returncode, 2)
            self.assertIn(said, done.err)


if __name__ == "__main__":
    unittest.main()
