"""Traces of HLO text: modules written by hand, each collective and mode with the groups and bytes that are meant."""

import unittest

from plumb_worker import hlo, trace

ADD = """
%add (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %s = f32[] add(%a, %b)
}
"""


def module(body, others=ADD, header="num_partitions=4"):
    return (f"HloModule m, entry_computation_layout={{(f32[4])->f32[4]}}, {header}\n{others}\n"
            f"ENTRY %main (p: f32[4]) -> f32[4] {{\n{body}\n}}\n")


def one(line, **more):
    found = trace.of_text(module("  %p = f32[4]{0} parameter(0)\n" + line, **more))
    assert len(found) == 1, found
    return found[0]


class Collectives(unittest.TestCase):
    def test_each_kind_with_its_bytes(self):
        e = one("  ROOT %r = f32[4]{0} all-reduce(%p), channel_id=1, replica_groups={{0,1},{2,3}}, "
                "use_global_device_ids=true, to_apply=%add")
        self.assertEqual(e, {"kind": "all-reduce", "groups": [[0, 1], [2, 3]], "in": 16, "out": 16,
                             "dtype": "f32", "op": "add"})
        e = one("  ROOT %r = f32[8]{0} all-gather(%p), channel_id=1, replica_groups=[2,2]<=[4], dimensions={0}, "
                "use_global_device_ids=true")
        self.assertEqual((e["kind"], e["groups"], e["in"], e["out"]), ("all-gather", [[0, 1], [2, 3]], 16, 32))
        e = one("  ROOT %r = f32[2]{0} reduce-scatter(%p), channel_id=1, replica_groups=[2,2]<=[2,2]T(1,0), "
                "dimensions={0}, use_global_device_ids=true, to_apply=%add")
        self.assertEqual((e["kind"], e["groups"], e["in"], e["out"], e["op"]),
                         ("reduce-scatter", [[0, 2], [1, 3]], 16, 8, "add"))
        e = one("  ROOT %r = (f32[4]{0}, /*index=1*/f32[4]{0}) all-to-all(%p, /*index=1*/%p), channel_id=1, "
                "replica_groups=mesh['a'=2,'b'=2], device_ids=([2,2]T(1,0)) {'b'}, metadata={op_name=\"a, b\"}")
        self.assertEqual((e["kind"], e["groups"], e["in"], e["out"]), ("all-to-all", [[0, 2], [1, 3]], 32, 32))
        e = one("  ROOT %r = f32[4]{0} collective-permute(%p), channel_id=1, source_target_pairs={{0,1},{1,0}}")
        self.assertEqual((e["kind"], e["pairs"], e["in"]), ("collective-permute", [[0, 1], [1, 0]], 16))
        e = one("  ROOT %r = f32[4]{0} collective-broadcast(%p), channel_id=1, replica_groups={{0,1,2,3}}")
        self.assertEqual((e["kind"], e["groups"]), ("collective-broadcast", [[0, 1, 2, 3]]))

    def test_everyone_where_groups_are_empty(self):
        line = "  ROOT %r = f32[4]{0} all-reduce(%p), channel_id=1, replica_groups={}, to_apply=%add"
        self.assertEqual(one(line + ", use_global_device_ids=true")["groups"], [[0, 1, 2, 3]])
        self.assertEqual(one(line)["groups"], [[0, 1, 2, 3]])

    def test_modes(self):
        reduce = "  ROOT %r = f32[4]{0} all-reduce(%p), replica_groups={{0,1}}, to_apply=%add"
        both = {"header": "replica_count=2, num_partitions=2"}
        self.assertEqual(one(reduce, **both)["groups"], [[0, 2], [1, 3]])  # replicas, within each partition
        self.assertEqual(one(reduce + ", channel_id=1", **both)["groups"], [[0, 1, 2, 3]])  # with all partitions
        self.assertEqual(one(reduce + ", channel_id=1, use_global_device_ids=true", **both)["groups"], [[0, 1]])
        shift = "  ROOT %r = f32[4]{0} collective-permute(%p), source_target_pairs={{0,1}}"
        self.assertEqual(one(shift, **both)["pairs"], [[0, 2], [1, 3]])  # replicas, within each partition
        self.assertEqual(one(shift + ", channel_id=1", **both)["pairs"], [[0, 1], [2, 3]])  # partitions
        one_replica = "  ROOT %r = f32[4]{0} all-reduce(%p), channel_id=1, replica_groups={{0}}, to_apply=%add"
        self.assertEqual(one(one_replica)["groups"], [[0, 1, 2, 3]])  # {{0}} without global ids: everyone

    def test_ids_are_partitions_and_the_assignment_names_devices(self):
        text = module("  %p = f32[4]{0} parameter(0)\n  ROOT %r = f32[4]{0} all-reduce(%p), channel_id=1, "
                      "replica_groups={{0,1},{2,3}}, use_global_device_ids=true, to_apply=%add")
        self.assertEqual(trace.of_text(text, [3, 1, 0, 2])[0]["groups"], [[3, 1], [0, 2]])

    def test_what_the_protocol_has_no_word_for_is_noted(self):
        other = ADD.replace("add(%a, %b)", "atan2(%a, %b)")
        sum_of = lambda dtype, **more: one(f"  %q = {dtype}[4]{{0}} bitcast-convert(%p)\n  ROOT %r = {dtype}[4]{{0}} all-reduce(%q), "
                                           "replica_groups={{0,1}}, use_global_device_ids=true, channel_id=1, to_apply=%add", **more)
        e = sum_of("f32", others=other)
        self.assertEqual((e.get("op"), e["dtype"], e["note"]), (None, "f32", "op atan2"))
        e = sum_of("f8e3m4")
        self.assertEqual((e["op"], e.get("dtype"), e["note"]), ("add", None, "dtype f8e3m4"))
        self.assertEqual(sum_of("u32")["dtype"], "u32")

    def test_a_promoted_sum_is_still_a_sum(self):
        others = ADD.replace("ROOT %s = f32[] add(%a, %b)",
                             "%c = bf16[] convert(%a)\n  %t = f32[] add(%a, %b)\n  ROOT %s = f32[] convert(%t)")
        e = one("  ROOT %r = f32[4]{0} all-reduce(%p), channel_id=1, replica_groups={{0,1,2,3}}, "
                "use_global_device_ids=true, to_apply=%add", others=others)
        self.assertEqual(e["op"], "add")


class Asynchronous(unittest.TestCase):
    def test_start_and_done_count_once(self):
        text = module("""  %p = f32[4]{0} parameter(0)
  %s = (f32[4]{0}, f32[8]{0}) all-gather-start(%p), channel_id=1, replica_groups=[2,2]<=[4], \
dimensions={0}, use_global_device_ids=true
  %d = f32[8]{0} all-gather-done(%s)
  %q = (f32[4]{0}, f32[4]{0}, u32[], u32[]) collective-permute-start(%p), channel_id=2, source_target_pairs={{0,1}}
  ROOT %e = f32[4]{0} collective-permute-done(%q)""")
        found = trace.of_text(text)
        self.assertEqual([(e["kind"], e["in"], e["out"]) for e in found],
                         [("all-gather", 16, 32), ("collective-permute", 16, 16)])

    def test_a_wrapped_collective_counts_once(self):
        wrapped = """
%w (x: f32[4]) -> f32[2] {
  %x = f32[4]{0} parameter(0)
  ROOT %rs = f32[2]{0} reduce-scatter(%x), channel_id=1, replica_groups=[2,2]<=[4], \
dimensions={0}, use_global_device_ids=true, to_apply=%add
}
"""
        text = module("""  %p = f32[4]{0} parameter(0)
  %s = ((f32[4]{0}), f32[2]{0}) async-start(%p), calls=%w
  %u = ((f32[4]{0}), f32[2]{0}) async-update(%s)
  ROOT %d = f32[2]{0} async-done(%u)""", others=ADD + wrapped)
        self.assertEqual([(e["kind"], e["in"], e["out"]) for e in trace.of_text(text)], [("reduce-scatter", 16, 8)])


class Control(unittest.TestCase):
    LOOP = ADD + """
%body (t: (s32[], f32[4])) -> (s32[], f32[4]) {
  %t = (s32[], f32[4]{0}) parameter(0)
  %i = s32[] get-tuple-element(%t), index=0
  %v = f32[4]{0} get-tuple-element(%t), index=1
  %r = f32[4]{0} all-reduce(%v), channel_id=1, replica_groups={{0,1,2,3}}, use_global_device_ids=true, to_apply=%add
  ROOT %o = (s32[], f32[4]{0}) tuple(%i, %r)
}

%cond (t.1: (s32[], f32[4])) -> pred[] {
  %t.1 = (s32[], f32[4]{0}) parameter(0)
  ROOT %c = pred[] constant(true)
}
"""

    def loop(self, attributes):
        return trace.of_text(module("  %p = (s32[], f32[4]{0}) parameter(0)\n  ROOT %w = (s32[], f32[4]{0}) while(%p), "
                                    "condition=%cond, body=%body" + attributes, others=self.LOOP))

    def test_a_loop_multiplies(self):
        e, = self.loop(', backend_config={"known_trip_count":{"n":"5"}}')
        self.assertEqual(e["times"], 5)
        self.assertEqual(self.loop(', backend_config={"known_trip_count":{"n":"0"}}'), [])

    def test_a_loop_of_unknown_length_says_so(self):
        e, = self.loop("")
        self.assertNotIn("times", e)
        self.assertEqual(e["moved"], -1, "nobody knows how much")
        self.assertEqual(e["note"], "in a loop of unknown length")

    def test_every_branch_counts_and_says_so(self):
        branch = """
%{0} (q: f32[4]) -> f32[4] {{
  %q = f32[4]{{0}} parameter(0)
  ROOT %a = f32[4]{{0}} all-reduce(%q), channel_id=1, replica_groups={1}, use_global_device_ids=true, to_apply=%add
}}
"""
        both = ADD + branch.format("one", "{{0,1},{2,3}}") + branch.format("two", "{{0,1,2,3}}")
        body = ("  %p = f32[4]{0} parameter(0)\n  %i = s32[] constant(0)\n"
                "  ROOT %c = f32[4]{0} conditional(%i, %p, %p), ")
        for attributes in ("branch_computations={%one, %two}", "true_computation=%one, false_computation=%two"):
            found = trace.of_text(module(body + attributes, others=both))
            self.assertEqual([e["moved"] for e in found], [-1, -1])
            self.assertEqual([(e["groups"], e["note"]) for e in found],
                             [([[0, 1], [2, 3]], "in a branch"), ([[0, 1, 2, 3]], "in a branch")])

    def test_a_computation_that_is_not_reached_does_not_count(self):
        text = module("  ROOT %p = f32[4]{0} parameter(0)", others=self.LOOP)
        self.assertEqual(trace.of_text(text), [])


class NotFormed(unittest.TestCase):
    REDUCE = ("  %p = f32[4]{0} parameter(0)\n  %z = s32[] constant(0)\n  %r = f32[4]{0} all-reduce(%p), channel_id=1, "
              "replica_groups={{0,1,2,3}}, use_global_device_ids=true, to_apply=%add\n")
    FUSED = ADD + """
%fused (x: s32[], y: f32[4]) -> f32[1] {
  %x = s32[] parameter(0)
  %y = f32[4]{0} parameter(1)
  %b = f32[4,1]{1,0} bitcast(%y)
  ROOT %s = f32[1,1]{1,0} dynamic-slice(%b, %x, %x), dynamic_slice_sizes={1,1}
}
"""

    def note(self, rest, others=ADD):
        return trace.of_text(module(self.REDUCE + rest, others=others))[0].get("note")

    def test_an_all_reduce_that_is_only_sliced(self):
        want = "reduce-scatter not formed"
        self.assertEqual(self.note("  ROOT %s = f32[1]{0} dynamic-slice(%r, %z), dynamic_slice_sizes={1}"), want)
        self.assertEqual(self.note("  ROOT %f = f32[1]{0} fusion(%z, %r), kind=kLoop, calls=%fused", self.FUSED), want)

    def test_an_all_reduce_that_is_used_whole(self):
        self.assertIsNone(self.note("  ROOT %n = f32[4]{0} negate(%r)"))
        self.assertIsNone(self.note("  %s = f32[1]{0} slice(%r), slice={[0:1]}\n"
                                    "  ROOT %t = (f32[1]{0}, f32[4]{0}) tuple(%s, %r)"))
        root = self.REDUCE.replace("%r =", "ROOT %r =") + "  %s = f32[1]{0} slice(%r), slice={[0:1]}"
        self.assertIsNone(trace.of_text(module(root))[0].get("note"))


class Sizes(unittest.TestCase):
    def test_bytes_of_shapes(self):
        for shape, want in [("f32[2,3]{1,0}", 24), ("bf16[5]{0:T(8,128)}", 10), ("pred[]", 1), ("f8e4m3fn[7]", 7),
                            ("s4[3]", 2), ("(f32[2], s32[1])", 12), ("token[]", 0), ("f32[<=8]", 32), ("f32[0,3]", 0),
                            ("c64[2]", 16), ("u64[]", 8), ("u4[4]", 2), ("s4[4]", 2), ("u2[8]", 2), ("s2[8]", 2),
                            ("f4e2m1fn[4]", 2), ("c128[2]", 32), ("bf16[4]", 8), ("pred[9]", 9), ("opaque[]", 0)]:
            with self.subTest(shape):
                self.assertEqual(hlo.size(shape), want)

    def test_an_attribute_that_is_not_there(self):
        line = hlo.instruction("  %a = f32[4]{0} all-reduce(%p), channel_id=1, replica_groups={{0,1}}, to_apply=%add")
        self.assertEqual(line.attribute("replica_groups"), "{{0,1}}")
        self.assertEqual(line.attribute("channel_id"), "1")
        self.assertIsNone(line.attribute("groups"))
        self.assertIsNone(line.attribute("dimensions"))

    def test_text_that_is_no_module(self):
        with self.assertRaises(ValueError):
            trace.of_text("hello")


if __name__ == "__main__":
    unittest.main()
