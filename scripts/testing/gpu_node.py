"""Cards that a stub of nvidia-smi names, and kernels on this processor: a node for the tests of scripts/gpu-check."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
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


class Node(unittest.TestCase):
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
