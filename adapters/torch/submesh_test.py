"""Programs over some axes of a larger mesh, mesh["dp", "tp"]: every slice runs them, with the same data."""

import os
import sys
import unittest

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from worker_test import Worker, issued, reshard

WHOLE = {"axes": [["dp", 2], ["pp", 2], ["tp", 2]]}
FIRST, LAST = [[0, 4], [1, 5], [2, 6], [3, 7]], [[0, 1], [2, 3], [4, 5], [6, 7]]
BOTH = [[0, 1, 4, 5], [2, 3, 6, 7]]  # no group of neighbours: the devices between are the other slice's

# The flattened group of a run is looked up by the places of its axes in the slice, as if they were those of the mesh.
BY_PLACE = """
import torch.distributed.tensor._redistribute as r
real = r._get_flattened_mesh_by_layout
r._get_flattened_mesh_by_layout = lambda mesh, dims: real(mesh._get_root_mesh(), dims)
"""


def over(*specs, axes=("dp", "tp"), **mesh):
    return {**reshard(*specs, mesh={"axes": [[a, 2] for a in axes]}), "parent": {**WHOLE, **mesh}}


class Submesh(Worker):
    def test_every_slice_runs_the_program(self):
        a, parts = np.arange(16.0).reshape(4, 4), np.arange(16.0).reshape(4, 4) ** 2
        for driver in self.both():
            reply = driver.run(over("f32[4@dp,4]", "f32[4,4@tp]"), [a.ravel()])
            self.check(reply, a)
            self.assertEqual(reply["claims"], ["f32[4,4@tp]"])
            self.assertEqual([b["slices"][1] for b in reply["blocks"]], [[[0, 2]], [[2, 4]]] * 4)
            self.assertEqual(issued(reply), [("all-gather", FIRST)])
            reply = driver.run(over("f32[4]+tp.dp", "f32[4@dp]"), [parts.ravel()])
            self.check(reply, parts.sum(0))
            self.assertEqual(sorted(issued(reply)), [("all-reduce", LAST), ("reduce-scatter", FIRST)])

    def test_devices_are_those_of_the_whole_mesh(self):
        ids = [5, 1, 4, 0, 7, 3, 6, 2]
        reply = self.start().run(over("f32[4]+tp", "f32[4]", axes=("tp",), ids=ids))
        self.assertEqual(sorted(sorted(g) for g in reply["trace"][0]["groups"]), [[0, 4], [1, 5], [2, 6], [3, 7]])
        self.check(reply, np.array([4.0, 6.0, 8.0, 3.0]))

    def test_only_the_group_of_these_axes_is_taken(self):
        case = over("f32[4]+dp.tp", "f32[4]")
        total = np.arange(16.0).reshape(4, 4)
        for flatten, apart in {"contiguous": True, "dp.pp/pp.tp": True, "all": False}.items():
            with self.subTest(flatten):
                reply = self.start(flatten=flatten).run(case, [total.ravel()])
                self.check(reply, total.sum(0))
                self.assertIn(["dp", "pp"], reply["groups"])
                if apart or len(reply["trace"]) > 1:  # what is older than 2.11 never merges
                    self.assertEqual(issued(reply), [("all-reduce", FIRST), ("all-reduce", LAST)])
                else:
                    self.assertEqual(issued(reply), [("all-reduce", BOTH)])

    def test_a_group_that_is_looked_up_by_place_is_seen(self):
        import torch.distributed.tensor._redistribute as redistribute

        if not hasattr(redistribute, "_get_flattened_mesh_by_layout"):
            self.skipTest("this release merges nothing")
        reply = self.start(BY_PLACE, flatten="contiguous").run(over("f32[4]+dp.tp", "f32[4]"))
        self.assertEqual(issued(reply), [("all-reduce", [[0, 2, 4, 6], [1, 3, 5, 7]])])

    def test_an_order_against_the_mesh_is_unsupported(self):
        reply = self.start().run(over("f32[4]+dp", "f32[4]", axes=("tp", "dp")))
        self.assertEqual((reply["type"], reply["reason"][:19]), ("unsupported", "a slice of the mesh"))
        self.assertIn("ascending order", reply["source"])


if __name__ == "__main__":
    unittest.main()
