"""The limits: every one is shown by a refusal of this release, and a limit that is not refused does not hold."""

import os
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, os.pardir, "python")]

import limits
import probe

# Rows that some releases have lifted, or had not yet.
BY_RELEASE = {"split to unfinished"}
STANDARD = {"engine": "gloo", "flatten": "none", "op": "einsum", "via": "redistribute"}


def table(row, refusal):
    made = limits.Table(STANDARD, refusal)
    made.rows = [row]
    return made


def case(*specs):
    return probe.as_case(limits._reshard(*specs))


class Limits(unittest.TestCase):
    def test_every_row_is_refused_in_the_words_it_expects(self):
        worker = [sys.executable, "-I", "-B", os.path.join(HERE, "worker.py"), "--probe"]
        child = subprocess.run(worker, capture_output=True, text=True)
        self.assertEqual(child.returncode, 0, child.stdout)
        state = {}
        for line in child.stdout.splitlines():
            _, name, answer = line.split(": ", 2)
            state.setdefault(name, set()).add(answer.split(":")[0])
        self.assertEqual(set(state), {row.name for row in limits.ROWS if row.probe})
        for name, answers in state.items():
            allowed = {"refused"} | ({"not a limit here"} if name in BY_RELEASE else set())
            self.assertLessEqual(answers, allowed, name)

    def test_a_row_that_torch_does_not_refuse_does_not_hold(self):
        row = limits.Row("planted", "no all-gather", lambda c, o: True, "all-gather", {})
        self.assertIsNone(table(row, lambda p: None).find(None))
        self.assertIsNone(table(row, lambda p: "ZeroDivisionError").find(None))
        self.assertIsNotNone(table(row, lambda p: "no all-gather today").find(None))

    def test_a_probe_runs_once(self):
        asked = []
        row = limits.Row("planted", "", lambda c, o: True, "no", {})
        made = table(row, lambda p: asked.append(p) or "no")
        self.assertEqual([bool(made.find(None)) for _ in range(3)], [True] * 3)
        self.assertEqual(len(asked), 1)

    def test_every_probe_is_a_case_of_its_row(self):
        for row in limits.ROWS:
            if row.probe:
                self.assertTrue(row.holds(probe.as_case(row.probe), STANDARD), row.name)

    def test_flatten_needs_the_axes_it_names(self):
        row = limits.ROWS[0]
        for flatten, holds in {"none": False, "contiguous": False, "all": False, "x.y": False, "x.z": True}.items():
            self.assertEqual(row.holds(case("f32[4]", "f32[4]"), {"flatten": flatten}), holds, flatten)

    def test_what_communicates(self):
        for specs, does in {("f32[8@x]", "f32[8]"): True, ("f32[8]", "f32[8@x]"): False, ("f32[8]+x", "f32[8]"): True,
                            ("f32[8@x]", "f32[8@x.y]"): False, ("f32[8@x,8]", "f32[8,8@x]"): True}.items():
            self.assertEqual(limits.communicates(case(*specs)), does, specs)


if __name__ == "__main__":
    unittest.main()
