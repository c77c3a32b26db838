"""scripts/gpu-check without a GPU: cards that a stub of nvidia-smi names, kernels on this processor, faults of theirs."""

import json
import os
import resource
import shutil
import signal
import subprocess
import time
import unittest

from testing.gpu_node import BUILD, HOST, ROOT, Node, card


class GpuCheck(Node):
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

    def test_a_prolog_asks_the_tool_three_times(self):
        """Of a driver that knows all fields, by either name of what holds clocks back: is it there, which cards, how are they."""
        for names in ["clocks_event_reasons", "clocks_throttle_reasons"]:
            held = {f"{names}.{what}": "Not Active" for what in ["hw_slowdown", "hw_thermal_slowdown", "hw_power_brake_slowdown"]}
            known = {"retired_pages.pending": "No", **held}
            table = [({}, "^ok: "), ({"retired_pages.pending": "Yes"}, "pages of memory wait"), ({"remapped_rows.pending": "1"}, "rows of memory wait"),
                     ({"ecc.errors.uncorrected.volatile.total": "3"}, "3 uncorrectable"),
                     ({f"{names}.hw_thermal_slowdown": "Active"}, "held back: hw_thermal_slowdown"), ({"serial": "[GPU requires reset]"}, "nvidia-smi says of it")]
            for more, line in table:
                with self.subTest(names=names, more=more):
                    fields = {key: value for key, value in card(2, **{**known, **more}).items() if names in key or not key.startswith("clocks_")}
                    self.has([fields])
                    (self.folder / "stub/asked").unlink(missing_ok=True)
                    self.assertRegex(self.check("--prolog", "--sample", "1", *HOST).out, line)
                    calls = (self.folder / "stub/asked").read_text().splitlines()
                    self.assertEqual(len(calls), 3 if "event" in names else 4, calls)

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
        # Three cards of one model, timed on a shared processor: one may well be 10 percent slower than the others.
        steps = "doctor,proofs,nccl-alone,bench,kernels,faults"
        done = self.check("--under", "nodes", "--only", steps, "--sample", "6", "--slow", "900000", *HOST)
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
        # Its archive is carried to a machine with another card, of the same model.
        subprocess.run(["tar", "-C", self.folder / "out/work", "-czf", self.folder / "out/records.tar.gz", "."], check=True)
        shutil.rmtree(self.folder / "out/work")
        self.has([card(7, name="Card 40GB")])
        done = self.check(*words, "--continue")
        self.assertEqual(done.returncode, 2)
        self.assertIn("is of other models: Card 80GB", done.err)
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

    def test_what_ended_begins_anew_and_what_another_run_left_is_no_pass(self):
        """A card that is replaced or mended, or breaks; other options; a run that was cut short is gone on with by its like alone."""
        self.has([card(1)])
        words = ["--out", "out", "--only", "proofs", *HOST]
        for cards, faults, code, said in [([1], [], 0, "PASS"), ([1], ["GPU-1 forgets-a-term"], 1, "FAILED: GPUs to drain"), ([1], [], 0, "PASS"),
                                          ([2], ["GPU-2 forgets-a-term"], 1, "FAILED: GPUs to drain"), ([3], [], 0, "PASS")]:
            self.has([card(n) for n in cards], faults)
            done = self.check(*words, "--sample", "6")
            self.assertEqual(done.returncode, code, done.out + done.err)
            self.assertTrue(done.out.startswith(said), done.out)
        self.assertNotEqual(self.check(*words[:-2], "--sample", "6").returncode, 0)  # of no GPU at all

        def cut_short():
            work = self.folder / "out/work"
            shutil.rmtree(self.folder / "out")
            (work / "GPU-1").mkdir(parents=True)
            (work / "made").write_text(f"backend={HOST[1]} sample=6 python=python3 plumbline=\n")
            (work / "cards").write_text("GPU-1\t1001\tCard 80GB\t580.1\n")
            (work / "GPU-1/proofs.state").write_text("pass\tof another run\n")

        self.has([card(1)])
        for words, code, carried in [(["--sample", "6"], 0, True), (["--sample", "7"], 2, None), ([], 2, None), (["--sample", "6", "--python", "other"], 2, None)]:
            cut_short()
            done = self.check("--out", "out", "--only", "proofs", *HOST, *words)
            self.assertEqual(done.returncode, code, done.out + done.err)
            if code == 2:
                self.assertIn("a run that is not over was backend=cuda,device=host sample=6", done.err)
            else:
                self.assertEqual("of another run" in self.out("page.txt"), carried)
        cut_short()
        self.has([card(1), card(2)])
        done = self.check("--out", "out", "--only", "proofs", *HOST, "--sample", "6")
        self.assertIn("begins anew: other cards are here", done.err)
        self.assertNotIn("of another run", self.out("page.txt"))
        cut_short()
        (self.folder / "out/work/GPU-1").rename(self.folder / "out/work/card1")  # as --continue names it
        self.has([card(1)])
        self.check("--out", "out", "--only", "proofs", *HOST, "--sample", "6")
        self.assertIn("of another run", self.out("page.txt"))

    def test_no_pass_without_a_gpu(self):
        """What is here is no pass, nor what ran on this processor where a GPU was asked for."""
        self.has([card(1)])
        for only in ["doctor", "kernels", "doctor,proofs,kernels", "faults"]:
            done = self.check("--only", only, "--out", "out", "--sample", "1")
            self.assertEqual(done.returncode, 2, only + done.out)
            self.assertIn("NOTHING SHOWN", done.out)

    def test_a_driver_older_than_the_toolkit_resets_no_card(self):
        self.has([card(1)])
        shutil.copy(self.tree / "bin/plumb", self.tree / "bin/plumb.real")
        self.script(self.tree / "bin/plumb", f"""#!/bin/bash
{self.tree}/bin/plumb.real "$@" | sed 's/no CUDA driver\\|built without nvcc/the CUDA driver is older than CUDA 13/'
exit "${{PIPESTATUS[0]}}"
""")
        done = self.check("--prolog")
        self.assertEqual(done.returncode, 2, done.out)
        self.assertIn("the CUDA driver is older than CUDA 13", done.out)

    def test_faults_end_in_time_and_go_on(self):
        """The next call begins with the first that was not tried."""
        self.has([card(1)])
        self.script(self.tree / "bin/plumb-cuda", """#!/bin/bash
[[ $* != --list ]] || for n in 1 2 3 4 5 6; do echo '["--fault","f'$n'","--plan","direct"] "status":"wrong" "flags":"" "cases":["on x=1"]'; done
""")
        self.script(self.tree / "bin/plumb", f"""#!/bin/bash
sleep 0.7; echo "$*" >>{self.folder}/tried; echo "wrong  cuda  on x=1"; exit 1
""")
        ask = f"""tab=$'\t' backend=cuda sampled=() work={self.folder} cuda={self.tree}/bin/plumb-cuda plumb={self.tree}/bin/plumb
            . {ROOT}/scripts/gpu/steps.sh; faults_of GPU-1 {self.folder} 2; cat {self.folder}/faults.state"""
        said = []
        for _ in range(4):
            said.append(subprocess.run(["bash", "-c", ask], capture_output=True, text=True, check=True).stdout)
            if said[-1].startswith("pass"):
                break
        self.assertTrue(said[0].startswith("left"), said)
        self.assertEqual(said[-1], "pass\t6 planted faults caught\n")
        self.assertEqual(len((self.folder / "tried").read_text().splitlines()), 6)

    def test_a_full_disk_is_our_own_failure(self):
        small = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        done = self.check("--out", "out", "--only", "doctor,proofs", "--sample", "50", *HOST, preexec_fn=small, restore_signals=False)
        self.assertEqual(done.returncode, 3, done.out + done.err)
        self.assertNotIn("PASS", done.out)
        done = self.check("--out", "out", "--only", "doctor,proofs", "--sample", "50", *HOST)
        self.assertEqual(done.returncode, 0, done.out + done.err)

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
        self.assertRegex(page, "jax +all +NO PASS +not shown: jax@7.8.9,platform=gpu,precision=highest,style=explicit: .*JAX finds no GPU here")
        self.assertRegex(page, "torch +all +NO PASS +not shown: .* has no torch")

    def test_a_backend_that_is_misspelt_drains_nobody(self):
        for words in [["--prolog"], ["--only", "must-pass", "--out", "out"]]:
            for backend in ["nonsense", "cuda,device=hots", "local", "cuda,device=host,plan=calls"]:
                done = self.check(*words, "--backend", backend)
                self.assertEqual((done.returncode, done.out), (2, ""))
                self.assertIn(f"expected cuda or cuda,device=host, not {backend}", done.err)
        self.assertFalse((self.folder / "out").exists())

    def test_a_prolog_that_cannot_write_judges_nothing(self):
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        for bytes_ in [0, 200, 20000]:
            limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_, bytes_))
            done = self.check("--prolog", "--sample", "4", *HOST, preexec_fn=limit, restore_signals=False)
            self.assertEqual(done.returncode, 3, done.out + done.err)
            self.assertRegex(done.out, r"\Anothing could be judged: .*cannot be written to\n\Z")

    def test_a_prolog_without_a_gpu_says_so_in_its_line(self):
        self.has([])
        done = self.check("--prolog")
        self.assertEqual((done.returncode, done.out), (2, "nothing could be judged: there is no GPU: neither nvidia-smi nor /proc/driver/nvidia names one\n"))

    def test_a_bundle_is_refused_before_it_is_built(self):
        for name, said in [("nowhere/x.tar.xz", "is no folder"), ("x.zip", "expected FILE.tar.xz"), ("x.tar.bz2", "expected FILE.tar.xz"), ("stub", "is there already"), ("", "expected FILE.tar.xz")]:
            done = subprocess.run([ROOT / "scripts/bundle", self.folder / name if name else ""], env={**os.environ, "PLUMB_BUILD": str(self.folder / "build")},
                                  capture_output=True, text=True, check=False, timeout=60)
            self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
            self.assertIn(said, done.stderr)
        self.assertFalse((self.folder / "build").exists())

    def test_what_is_refused(self):
        for words, said in [(["--frobnicate"], "unknown option --frobnicate"), (["--only", "nosuch"], "no step nosuch"),
                            (["--for", "soon"], "expected a time"), (["--for", "9m5"], "expected a time"), (["--for", "29s"], "a step takes 30s at least"),
                            (["--gather", ".", "--nodes", ""], "expected names"), (["--gather", ".", "--nodes", "*"], "expected names"),
                            (["--gather", ".", "--nodes", "n[1-3]"], "scontrol show hostnames"), (["--for", ""], "expected a time"),
                            (["--only", ""], "expected steps of"), (["--slow", "x"], "expected percent"),
                            (["--cards", "0"], "expected a number of GPUs"), (["--among", "."], "--among goes with --prolog"),
                            (["--nodes", "a"], "--nodes goes with --gather"), (["--prolog", "--nodes", "a"], "--nodes goes with --gather"),
                            *[(["--prolog", flag, "doctor"], f"{flag} does not go with --prolog") for flag in ["--only", "--python", "--out", "--under"]],
                            (["--prolog", "--for", "9m"], "--for does not go with --prolog"), (["--prolog", "--continue"], "--continue does not go"),
                            (["--gather", "nodes", "--cards", "2"], "--cards does not go with --gather"),
                            (["--prolog", "--among", "nowhere"], "there is no folder nowhere"), (["--sample", "0"], "expected a number of cases"), (["--sample", "few"], "expected a number of cases"), (["--out"], "--out needs a value")]:
            done = self.check(*words)
            self.assertEqual(done.returncode, 2)
            self.assertIn(said, done.err)


if __name__ == "__main__":
    unittest.main()
