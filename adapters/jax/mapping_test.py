"""What a case is mapped to, by tables written by hand: one collective, and the places that JAX says of a spec."""

import json
import os
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, os.pardir, "python")]
os.environ["JAX_PLATFORMS"] = "cpu"

import collective
from plumb_worker.case import Case, parse_spec

XYZ = {"axes": [["x", 2], ["y", 2], ["z", 2]]}


def reshard(source, *chain, op="reshard"):
    return Case({"mesh": XYZ, "op": op, "operands": [parse_spec(source)], "chain": [parse_spec(s) for s in chain]})


class OneCollective(unittest.TestCase):
    def test_by_hand(self):
        table = [
            ("f32[8]+x", "f32[8]", ("psum", ("x",), ())),
            ("f32[8,4@z]+y.x", "f32[8,4@z]", ("psum", ("y", "x"), ())),
            ("f32[8,4]+x", "f32[8@x,4]", ("psum_scatter", ("x",), (0,))),
            ("f32[8,4]+x", "f32[8,4@x]", ("psum_scatter", ("x",), (1,))),
            ("f32[8@y,4]+x.z", "f32[8@y.x.z,4]", ("psum_scatter", ("x", "z"), (0,))),
            ("f32[8@y,4]+x", "f32[8@x.y,4]", None),
            ("f32[8,4]+x.y", "f32[8@x,4@y]", None),
            ("f32[8,4]+x.y", "f32[8@x,4]", None),
            ("f32[8@y,4]+x", "f32[8,4]", None),
            ("f32[8@x]", "f32[8]", ("all_gather", ("x",), (0,))),
            ("f32[4,8@x.y]", "f32[4,8@x]", ("all_gather", ("y",), (1,))),
            ("f32[8@x.y.z]", "f32[8@x]", ("all_gather", ("y", "z"), (0,))),
            ("f32[8@x.y]", "f32[8@y]", None),
            ("f32[8@x]", "f32[8@y]", None),
            ("f32[8]", "f32[8@x]", None),
            ("f32[8@x]", "f32[8@x]", None),
            ("f32[8@x,4]", "f32[8,4@x]", ("all_to_all", ("x",), (0, 1))),
            ("f32[8,4@x]", "f32[8@x,4]", ("all_to_all", ("x",), (1, 0))),
            ("f32[8@y.x,4@z]", "f32[8@y,4@z.x]", ("all_to_all", ("x",), (0, 1))),
            ("f32[8@x.y,2,4]", "f32[8,2,4@x.y]", ("all_to_all", ("x", "y"), (0, 2))),
            ("f32[8@x,4@z]", "f32[8,4@x.z]", None),
            ("f32[8@x,4]", "f32[8,4@y]", None),
            ("f32[8@y.x,4]", "f32[8@x,4@y]", None),
            ("f32[8@x,4@y,2]", "f32[8,4,2@x.y]", None),
            ("f32[8@x,4@y]", "f32[8,4]", None),
            ("f32[8]+x", "f32[8]+x", None),
            ("f32[8]+x.y", "f32[8]+x", None),
            ("f32[8@x]", "f32[8]+y", None),
            ("f32[8@x]", "f32[8]?", None),
        ]
        for source, target, want in table:
            with self.subTest(f"{source} -> {target}"):
                self.assertEqual(collective.find(reshard(source, target)), want)

    def test_no_chain_and_no_other_op_is_one(self):
        self.assertIsNone(collective.find(reshard("f32[8@x]", "f32[8]", "f32[8]")))
        self.assertIsNone(collective.find(reshard("f32[8@x]", "f32[8]", op="quantize")))


class Places(unittest.TestCase):
    def test_specs_as_text_and_as_objects_on_every_line_but_empty_ones(self):
        mesh = {"axes": [["x", 2], ["y", 2]], "ids": [3, 1, 0, 2]}
        asked = [json.dumps({"mesh": mesh, "specs": specs}) for specs in (["f32[4@x]"], [parse_spec("f32[4@y]")])]
        script = os.path.join(HERE, "index_maps.py")
        done = subprocess.run([sys.executable, "-I", "-B", script], input=f"{asked[0]}\n\n{asked[1]}\n", text=True,
                              stdout=subprocess.PIPE, check=True)
        by_x, by_y = [json.loads(line) for line in done.stdout.splitlines()]
        low, high = [[0, 2]], [[2, 4]]  # devices 3 and 1 have x=0, 3 and 0 have y=0
        self.assertEqual(by_x, [{"text": "f32[4@x]", "slices": [high, low, high, low]}])
        self.assertEqual(by_y, [{"text": "f32[4@y]", "slices": [low, high, high, low]}])


if __name__ == "__main__":
    unittest.main()
