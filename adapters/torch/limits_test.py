"""The limits: every one is shown by a refusal of this release, and a limit that is not refused does not hold."""

import itertools
import os
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, os.pardir, "python")]

import limits
import probe

# Rows that some releases have lifted, or had not yet.
BY_RELEASE = {"split to unfinished sum", "grouped product of f32", "grouped product of f16"}
STANDARD = {"engine": "gloo", "flatten": "none", "op": "einsum", "via": "redistribute"}


def case(*specs):
    return probe.as_case(limits._reshard(*specs))


def one_by_one(size, ways, order):
    """Each rank's indices where the axes cut one after the other."""
    found = []
    for at in itertools.product(*map(range, ways)):
        items = range(size)
        for a in order:
            items = limits.chunks(items, ways[a])[at[a]]
        found.append(list(items))
    return found


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

    def test_every_probe_is_a_case_of_its_row(self):
        for row in limits.ROWS:
            if row.probe:
                self.assertTrue(row.holds(probe.as_case(row.probe), {**STANDARD, **row.options}), row.name)

    def test_flatten_needs_the_axes_it_names(self):
        row = limits.ROWS[0]
        for flatten, holds in {"none": False, "contiguous": False, "all": False, "x.y": False, "x.z": True}.items():
            self.assertEqual(bool(row.holds(case("f32[4]", "f32[4]"), {"flatten": flatten})), holds, flatten)

    def test_uneven_orders_that_split_factors_give(self):
        for size, ways, order, otherwise in [
                (8, (2, 2, 2), (1, 2, 0), False), (5, (2, 2), (0, 1), False), (5, (2, 2), (1, 0), False),
                (5, (2, 2, 2), (1, 2, 0), True), (9, (4, 2), (1, 0), True), (9, (4, 2), (0, 1), False)]:
            self.assertEqual(limits.says_otherwise(size, ways, order), otherwise, (size, ways, order))

    def test_split_factors_cut_as_torch_says(self):
        """What limits.chunks takes for torch's cut is torch's: each rank's indices, from torch itself."""
        import layout
        import local
        from torch.distributed._local_tensor import LocalTensorMode

        ways = (2, 2, 2)
        for order in itertools.permutations(range(3)):
            for size in (5, 7, 9):
                spec = f"f32[{size}@{'.'.join('xyz'[a] for a in order)}]"
                one = probe.as_case({**limits._reshard(spec, spec), "mesh": {"axes": [[a, 2] for a in "xyz"]}})
                local.start(8)
                with LocalTensorMode(8):
                    mesh = layout.mesh_of("cpu", one, "none")
                    found = layout.indices(size, mesh, layout.placements(mesh, one.operands[0]), 0)
                    own = [local.own_value(r, found).tolist() for r in range(8)]
                self.assertEqual(own != one_by_one(size, ways, order), limits.says_otherwise(size, ways, order), spec)

    def test_each_reduction_of_what_was_split_is_a_limit_of_its_own(self):
        for left, wanted in {"f32[4]+x": "sum", "f32[4]+avg(x)": "avg", "f32[4]+max(x)": "max", "f32[4]+min(x)": "min",
                             "f32[4]+avg(x)+y": "avg", "f32[4]+avg(y)+x": "sum", "f32[4]+y": None}.items():
            given = "f32[4@x]+avg(y)" if "avg(y)" in left else "f32[4@x]+y"
            found = {reduction for reduction, *_ in limits.UNFINISHED if limits.split_to(case(given, left), reduction)}
            self.assertEqual(found, {wanted} - {None}, left)

    def test_what_communicates(self):
        for specs, does in {("f32[8@x]", "f32[8]"): True, ("f32[8]", "f32[8@x]"): False, ("f32[8]+x", "f32[8]"): True,
                            ("f32[8@x]", "f32[8@x.y]"): False, ("f32[8@y]", "f32[8@x.y]"): True,
                            ("f32[8@x.y]", "f32[8@y.x]"): True, ("f32[8@x.y]", "f32[8@x]"): True, ("f32[8@x,8]", "f32[8,8@x]"): True}.items():
            self.assertEqual(limits.communicates(case(*specs)), does, specs)


if __name__ == "__main__":
    unittest.main()
