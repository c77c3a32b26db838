"""Cases from JSON, parts of unfinished sums, and specs as text."""

import json
import unittest

from plumb_worker import Case, Spec, parts_text, spec_text
from plumb_worker.case import parse_spec


def case(axes, **more):
    return Case({"mesh": {"axes": axes, **more}, "op": "reshard", "operands": [], "chain": []})


class Parts(unittest.TestCase):
    def test_the_first_axis_is_most_significant_in_the_order_written(self):
        c = case([["x", 2], ["y", 3]])  # device 3x + y
        self.assertEqual(c.parts(("x",)), [0, 0, 0, 1, 1, 1])
        self.assertEqual(c.parts(("y",)), [0, 1, 2, 0, 1, 2])
        self.assertEqual(c.parts(("x", "y")), [0, 1, 2, 3, 4, 5])
        self.assertEqual(c.parts(("y", "x")), [0, 2, 4, 1, 3, 5])
        self.assertEqual(c.parts(()), [0] * 6)

    def test_ids_say_who_stands_where(self):
        self.assertEqual(case([["x", 2], ["y", 2]], ids=[3, 1, 0, 2]).parts(("x", "y")), [2, 1, 3, 0])

    def test_ways(self):
        c = case([["x", 2], ["y", 3]])
        self.assertEqual((c.ways(()), c.ways(("y",)), c.ways(("y", "x")), c.devices), (1, 3, 6, 6))


class Words(unittest.TestCase):
    def test_the_seed_has_all_its_64_bits(self):
        j = {"mesh": {"axes": [["x", 2]]}, "op": "reshard", "operands": [], "chain": [], "seed": 2**64 - 1}
        self.assertEqual(Case(json.loads(json.dumps(j))).seed, 2**64 - 1)


class Submesh(unittest.TestCase):
    def test_slices_and_parts_are_about_the_devices_of_the_whole_mesh(self):
        c = Case({"mesh": {"axes": [["tp", 2], ["dp", 2]]}, "parent": {"axes": [["dp", 2], ["pp", 2], ["tp", 2]]},
                  "op": "reshard", "operands": [], "chain": []})
        self.assertEqual((c.devices, c.axes, c.sizes), (8, ("tp", "dp"), (2, 2)))
        self.assertEqual(c.slices, [[0, 4, 1, 5], [2, 6, 3, 7]])
        self.assertEqual(c.parts(("tp", "dp")), [0, 2, 0, 2, 1, 3, 1, 3])

    def test_a_whole_mesh_is_one_slice(self):
        self.assertEqual(case([["x", 2], ["y", 2]], ids=[3, 1, 0, 2]).slices, [[3, 1, 0, 2]])


class Text(unittest.TestCase):
    def test_text_and_object_agree(self):
        for text in ("f32[]", "f32[8]", "bf16[8@x.y,4]", "s8[0@x]+y.z", "f8e4m3[3,5@z]+x", "f32[8]+max(x.y)",
                     "f32[8@x]+min(y)", "f32[8]+avg(x.y)+z", "f32[8]+x+avg(y)+z", "f32[8]+max.avg"):
            s = Spec(parse_spec(text))
            parts = parts_text(s.unfinished, s.reduction, s.averaged)
            self.assertEqual(spec_text(s.dtype, s.shape, s.split, parts), text)

    def test_reductions(self):
        s = Spec(parse_spec("f32[8]+avg(x.y)+z"))
        self.assertEqual((s.unfinished, s.averaged, s.reduction), (("x", "y", "z"), ("x", "y"), "sum"))
        s = Spec(parse_spec("f32[8]+max(y)"))
        self.assertEqual((s.unfinished, s.averaged, s.reduction), (("y",), (), "max"))

    def test_a_scheme(self):
        s = Spec(parse_spec("bf16[8@x,4]~mxfp8"))
        self.assertEqual((s.scheme, s.split, Spec(parse_spec("f32[8]+x")).scheme), ("mxfp8", (("x",), ()), None))

    def test_a_free_layout(self):
        self.assertTrue(Spec(parse_spec("f32[8,4]?")).free)
        self.assertFalse(Spec(parse_spec("f32[8,4]")).free)


if __name__ == "__main__":
    unittest.main()
