"""Mutations of the workers' mapping code, and the Python tests that kill them: those that need nothing but Python, and
those of the environments that are made."""
import os
import pathlib
import shutil
import sys

import python_sites
from trial import NO_VERDICT, attempt, first_killer, processor_time, why

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MAPPING = {
    "jax": ["layout", "data", "index_maps", "collective"],
    "python": ["plumb_worker/groups", "plumb_worker/hlo"],
    "torch": ["layout"],
}
PLAIN = ["groups_test", "drawn_hlo_test", "trace_test", "case_test"]
OF_WORKERS = {"jax": ["mapping_test", "worker_test"], "torch": ["mapping_test", "worker_test", "submesh_test"]}
PATIENCE = 4  # times the processor time that a test takes as it stands, and 30 s


def home():
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return pathlib.Path(os.environ.get("PLUMB_HOME") or f"{cache}/plumbline") / "env"


def interpreter(framework):
    """Of the latest release there is an environment of; None where there is none."""
    made = sorted(home().glob(f"{framework}@*/plumbline"), key=lambda one: [
        int(n) if n.isdigit() else 0 for n in one.parent.name.split("@")[1].replace("+", ".").split(".")])
    return made[-1].parent / "bin/python" if made else None


def mutations():
    """Of every file whose tests can run here."""
    found = []
    for folder, names in MAPPING.items():
        if folder == "python" or interpreter(folder):
            for name in names:
                file = f"adapters/{folder}/{name}.py"
                found += python_sites.mutations(file, (ROOT / file).read_text())
    return found


class Trial:
    def __init__(self, build, say):
        self.copy, self.build = build / "mutants/python", build
        shutil.rmtree(self.copy, ignore_errors=True)
        shutil.copytree(ROOT / "adapters", self.copy / "adapters", ignore=shutil.ignore_patterns("__pycache__"))
        self.seconds = {}
        for folder in MAPPING:
            for name, command, environment in self.tests(folder):
                if name in self.seconds:
                    continue
                before = processor_time()
                code, said = attempt(command, 900, self.copy, **environment)
                if code != 0:
                    raise SystemExit(f"mutate: {name} fails without a mutation:\n{said[-2000:]}")
                self.seconds[name] = processor_time() - before
                say(f"{name} takes {self.seconds[name]:.0f} s of a processor")

    def tests(self, folder):
        """(name, command, environment) of the tests of a folder's files, the quick ones first."""
        if folder == "python":
            for name in PLAIN:
                yield name, [sys.executable, "-B", str(self.copy / f"adapters/python/{name}.py"), "-f"], {}
            folder = "jax"
        python = interpreter(folder)
        if not python:
            return
        if folder == "jax" and (self.build / "adapters/jax/index_maps_test").exists():
            asked = self.copy / "asked"  # the test names the original's path; the copy answers
            asked.write_text(f'#!/bin/sh\nexec {python} -I -B {self.copy}/adapters/jax/index_maps.py\n')
            asked.chmod(0o755)
            yield "index_maps_test", [str(self.build / "adapters/jax/index_maps_test")], {"PLUMB_JAX_PYTHON": str(asked)}
        for name in OF_WORKERS[folder]:
            yield (f"{folder} {name}",
                   [str(python), "-I", "-B", str(self.copy / f"adapters/{folder}/{name}.py"), "-f"], {})

    def kill(self, mutation):
        original = (ROOT / mutation.file).read_text()
        file = self.copy / mutation.file
        file.write_text(mutation.mutated)
        try:
            return first_killer(self.killed(*test) for test in self.tests(mutation.file.split("/")[1]))
        finally:
            file.write_text(original)

    def killed(self, name, command, environment):
        end = why(*attempt(command, 30 + PATIENCE * self.seconds[name], self.copy, **environment))
        return end if not end or end.startswith(NO_VERDICT) else f"{name} {end}"
