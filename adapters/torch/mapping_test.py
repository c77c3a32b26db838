"""What torch is told of a layout, and what it says of one, for every layout of small arrays on meshes of three axes.
Needs the Python of an environment made by scripts/environment."""

import itertools
import math
import os
import sys
import unittest
import unittest.mock
from types import SimpleNamespace

import numpy as np
import torch
import torch.distributed as dist
from torch.distributed.tensor import distribute_tensor
from torch.testing._internal.distributed.fake_pg import FakeStore

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, os.pardir, "python")]

import layout
from plumb_worker.case import Spec, parse_spec, parts_text, spec_text

AXES, IDS = ("x", "y", "z"), (3, 1, 0, 2, 7, 4, 6, 5)


def layouts(rank):
    """Every way to split dimensions by some of the axes: (split, the axes that are left)."""
    found = set()
    for where in itertools.product(range(-1, rank), repeat=len(AXES)):
        for order in itertools.permutations(AXES):
            at = dict(zip(AXES, where))
            found.add((tuple(tuple(a for a in order if at[a] == d) for d in range(rank)),
                       tuple(a for a in AXES if at[a] == -1)))
    return sorted(found)


class OfRank(unittest.TestCase):
    def start(self, rank):
        layout.forget()
        if dist.is_initialized():
            dist.destroy_process_group()
        dist.init_process_group("fake", store=FakeStore(), rank=rank, world_size=8)
        return layout.whole_mesh("cpu", tuple((a, 2) for a in AXES), IDS, "none")

    def tearDown(self):
        layout.forget()
        if dist.is_initialized():
            dist.destroy_process_group()

    def test_a_rank_holds_what_it_says(self):
        """Uneven sizes too."""
        for rank, shape in itertools.product((0, 3, 6), ((8, 6), (9, 5))):
            whole = torch.arange(math.prod(shape), dtype=torch.float32).reshape(shape)
            mesh = self.start(rank)
            for split, _ in layouts(2)[rank % 2::2]:
                spec = Spec(parse_spec(spec_text("f32", shape, split)))
                with self.subTest(f"rank {rank} {spec.text}"):
                    tensor = distribute_tensor(whole, mesh, layout.placements(mesh, spec), src_data_rank=None)
                    local = tensor.to_local()
                    self.assertEqual(layout.claim(tensor, spec), spec.text)
                    for held in (local[:1, :1], local):  # one that is shorter than its placements say, too
                        found = layout.slices(tensor, held)(lambda value: value)
                        rows, columns = (np.concatenate([np.arange(*r) for r in ranges] or [np.arange(0)]) for ranges in found)
                        np.testing.assert_array_equal(whole.numpy()[np.ix_(rows, columns)], held.numpy())
                    self.assertEqual(layout.bytes_of(tensor.to_local()), local.numpy().tobytes())
                    for ranges in found:  # no more of them than there are pieces
                        for (_, end), (begin, _) in zip(ranges, ranges[1:]):
                            self.assertLess(end, begin)

    def test_a_mesh_flattens_the_axes_that_are_asked_for_and_no_others(self):
        self.start(0)
        sets = {"none": [], "contiguous": ["xy", "xyz", "yz"], "all": ["xy", "xyz", "xz", "yz"], "x.z/y.z": ["xz", "yz"]}
        for flatten, wanted in sets.items():
            with unittest.mock.patch.object(layout.DeviceMesh, "_flatten", autospec=True) as flattened:
                layout.whole_mesh("cpu", tuple((a, 2) for a in AXES), IDS, flatten)
            self.assertEqual(sorted("".join(call.args[0].mesh_dim_names) for call in flattened.call_args_list), wanted)

    def test_meshes_do_not_outlive_their_groups(self):
        whole = "cpu", tuple((a, 2) for a in AXES), IDS, "none"
        first, part = self.start(0), layout.submesh(whole, ("x", "y"))
        self.assertIs(layout.whole_mesh(*whole), first)
        self.assertIs(layout.submesh(whole, ("x", "y")), part)
        self.assertIsNot(self.start(0), first)
        self.assertIsNot(layout.submesh(whole, ("x", "y")), part)

    def test_operands_are_cut_by_one_axis_after_the_other(self):
        """Uneven sizes too, where a call with all placements gives ranks other rows."""
        whole = torch.arange(9 * 5).reshape(9, 5)
        otherwise = 0
        for rank in (0, 3, 6):
            mesh = self.start(rank)
            at = dict(zip(AXES, np.unravel_index(IDS.index(rank), (2, 2, 2))))
            for split, _ in layouts(2):
                want = whole
                for d, axes in enumerate(split):
                    for axis in axes:
                        width = -(-want.shape[d] // 2)
                        want = want.narrow(d, width * at[axis], min(width, want.shape[d] - width * at[axis]))
                spec = Spec(parse_spec(spec_text("f32", (9, 5), split)))
                with self.subTest(f"rank {rank} {spec.text}"):
                    np.testing.assert_array_equal(layout.cut(whole, mesh, spec), want)
                    one_call = distribute_tensor(whole, mesh, layout.placements(mesh, spec), src_data_rank=None)
                    otherwise += not torch.equal(one_call.to_local(), want)
        self.assertGreater(otherwise, 0)

    def test_what_is_left_unfinished_is_said(self):
        mesh = self.start(1)
        for split, left in layouts(1):
            for n in range(1, len(left) + 1):
                for axes in itertools.permutations(left, n):
                    ways = [("sum", ()), ("sum", axes[:1]), ("sum", axes), ("max", ()), ("min", ())]
                    for reduction, averaged in ways:
                        spec = Spec(parse_spec(spec_text("f32", (8,), split, parts_text(axes, reduction, averaged))))
                        placed = layout.placements(mesh, spec)
                        finished = layout.finished(mesh, spec)
                        with self.subTest(spec.text):
                            said = SimpleNamespace(device_mesh=mesh, placements=placed, ndim=1, dtype=torch.float32,
                                                   shape=(8,))
                            self.assertEqual(layout.claim(said, spec), spec.text)
                            self.assertEqual([p.is_partial() for p in placed], [a in axes for a in AXES])
                            said.placements = finished
                            bare = spec_text("f32", (8,), split)
                            self.assertEqual(layout.claim(said, Spec(parse_spec(bare))), bare)
                            # Named in another order where the spec has another set of axes.
                            said.placements = placed
                            other = layout.claim(said, Spec(parse_spec(bare)))
                            in_order = tuple(a for a in AXES if a in axes)
                            self.assertEqual(other, spec_text("f32", (8,), split, parts_text(
                                in_order, reduction, tuple(a for a in in_order if a in averaged))))

    def test_a_free_result_is_replicated_and_what_has_no_name_claims_nothing(self):
        mesh = self.start(0)
        free = Spec(parse_spec("f32[8]?"))
        self.assertTrue(all(p.is_replicate() for p in layout.finished(mesh, free)))
        said = SimpleNamespace(device_mesh=mesh, placements=layout.finished(mesh, free), ndim=1, dtype=torch.int64,
                               shape=(8,))
        self.assertIsNone(layout.claim(said, free))
        said.dtype = torch.float32
        self.assertEqual(layout.claim(said, free), "f32[8]")


class Plain(unittest.TestCase):
    def test_sets_of_axes(self):
        axes = ("d", "b", "c", "a")  # in no order of letters
        table = {
            "none": [], "all": [s for n in (2, 3, 4) for s in itertools.combinations(axes, n)],
            "contiguous": [("d", "b"), ("d", "b", "c"), axes, ("b", "c"), ("b", "c", "a"), ("c", "a")],
            "a.c/b.a.d": [("c", "a"), ("d", "b", "a")], "d.q": [("d", "q")], "q.d/c.b": [("d", "q"), ("b", "c")],
        }
        for text, want in table.items():
            with self.subTest(text):
                self.assertEqual(layout.flattened_sets(axes, text), want)
        case = SimpleNamespace(world=(("a", 2), ("b", 2), ("c", 1)))
        self.assertEqual(layout.names(case), ("a", "b", "c"))
        self.assertEqual(layout.groups(case, "none"), [["a"], ["b"], ["c"]])
        self.assertEqual(layout.groups(case, "all"),
                         [["a"], ["b"], ["c"], ["a", "b"], ["a", "c"], ["b", "c"], ["a", "b", "c"]])

    def test_ranges(self):
        table = {(): [(9, 9)], (0,): [(0, 1)], (0, 1, 4): [(0, 2), (4, 5)], (3, 4, 5): [(3, 6)],
                 (1, 3, 4): [(1, 2), (3, 5)], (0, 2, 4): [(0, 1), (2, 3), (4, 5)]}
        for numbers, want in table.items():
            self.assertEqual(layout.ranges(numbers, 9), want)

    def test_every_dtype_there_and_back(self):
        for name, dtype in layout.DTYPES.items():
            raw = bytes(range(8 * dtype.itemsize))
            tensor = layout.tensor_of(memoryview(bytearray(raw)), (2, 4), name)
            self.assertEqual((tensor.dtype, tuple(tensor.shape), layout.bytes_of(tensor)), (dtype, (2, 4), raw))
            self.assertEqual(layout.NAMES[dtype], name)
            empty = layout.tensor_of(memoryview(b""), (0, 3), name)
            self.assertEqual((empty.dtype, tuple(empty.shape), layout.bytes_of(empty)), (dtype, (0, 3), b""))


if __name__ == "__main__":
    unittest.main()
