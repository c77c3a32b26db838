"""An interpreter with a framework, taken over as it is, and judged: run with one, ${PLUMB} is the tool."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts/environment"


class Adopted(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.home = folder.name

    def run_here(self, *words):
        return subprocess.run(words, env={**os.environ, "PLUMB_HOME": self.home}, capture_output=True, text=True, check=False)

    def test_it_runs_a_case(self):
        said = self.run_here(SCRIPT, "--adopt", sys.executable, "jax", "torch")
        self.assertEqual(said.returncode, 0, said.stdout + said.stderr)
        adopted = [place.name for place in pathlib.Path(self.home, "env").iterdir()]
        self.assertEqual([f"adopted {name} of {sys.executable}" for name in adopted],
                         [line for line in said.stdout.splitlines() if line.startswith("adopted")])
        for name in adopted:
            record = pathlib.Path(self.home, "record")
            run = self.run_here(os.environ["PLUMB"], "run", "--record", record, "--backend", name, "on x=2: reshard f32[8@x] -> f32[8]")
            self.assertRegex(run.stdout, ": 1 pass", run.stderr)
            row = next(row for row in map(json.loads, record.read_text(encoding="utf-8").splitlines()) if "versions" in row)
            framework, release = name.split("@")
            self.assertEqual(row["versions"][framework].split("+")[0], release)


if __name__ == "__main__":
    unittest.main()
