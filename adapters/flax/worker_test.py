"""The Flax worker. Needs the Python of an environment made by scripts/environment."""

import os
import sys
import unittest

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__))]

from resolving_test import HERE, Worker, ask

EVERY = ("logical_to_mesh_axes", "logical_to_mesh_sharding", "with_logical_constraint", "from_sharding_rules",
         "get_pspec", "get_var_pspec", "get_named_sharding", "get_abstract_model", "Param")
IN_ORDER = EVERY[:3]


class Flax(Worker):
    WORKER = os.path.join(HERE, "worker.py")

    def test_every_resolver_answers_the_plain_question(self):
        for resolver in EVERY:
            with self.subTest(resolver):
                driver = self.start(resolver=resolver)
                reply = driver.run(ask(["a", None, "b"], ("a", "x"), ("b", ("y", "u"))))
                self.assertEqual(reply["claims"], ["f32[8@x,8,8@y.u]"], reply)
                self.assertEqual([b["slices"] for b in reply["blocks"]],
                                 [[[[4 * i, 4 * i + 4]], [[0, 8]], [[4 * j, 4 * j + 4]]]
                                  for i in (0, 1) for j in (0, 1)])
                self.assertEqual(self.claim(driver, ["a"], ("a", "nope")), "ValueError")
                ordered = resolver in IN_ORDER  # the one family, else the other
                self.assertEqual(self.claim(driver, ["a"], ("a", ("x", "y")), ("a", "x")),
                                 "f32[8@x.y]" if ordered else "f32[8@x]")
                self.assertEqual(self.claim(driver, ["a", "b"], ("a", "x"), ("b", "x")),
                                 "f32[8@x,8]" if ordered else "DuplicateSpecError")
                self.assertEqual(self.claim(driver, ["x", "b"], ("b", "y")),
                                 "f32[8,8@y]" if ordered else "f32[8@x,8@y]")

    def test_rules_arrive_as_they_were_written(self):
        """What Flax is given, as Python shows it."""
        tamper = ("import flax.linen\n"
                  "def told(names, rules=None): raise ValueError(repr((names, rules)))\n"
                  "flax.linen.logical_to_mesh_axes = told")
        question = ask(["a", None], ("a", ()), ("a", []), ("a", None), ("a", "x"), ("a", ("x",)), ("b", ["x", "y"]))
        rules = "(('a', ()), ('a', []), ('a', None), ('a', 'x'), ('a', ('x',)), ('b', ['x', 'y']))"
        self.assertEqual(self.start(tamper).run(question)["message"], f"ValueError: (('a', None), {rules})")
        said = lambda **options: self.start(tamper, **options).run(question)["message"]
        self.assertEqual(said(names="list"), f"ValueError: (['a', None], {rules})")
        self.assertEqual(said(rules="context"), "ValueError: (('a', None), None)")

    def test_rules_from_the_context_are_the_same_rules(self):
        for resolver in ("logical_to_mesh_axes", "from_sharding_rules", "get_pspec", "get_var_pspec"):
            driver = self.start(resolver=resolver, rules="context")
            self.assertEqual(self.claim(driver, ["a", "b"], ("a", "x"), ("b", ["y"])), "f32[8@x,8@y]", resolver)

    def test_sizes_that_are_not_divided_have_no_slices(self):
        reply = self.start().run(ask(["a"], ("a", "x"), sizes=(5,)))
        self.assertEqual((reply["claims"], reply["blocks"]), (["f32[5@x]"], []))

    def test_a_mesh_beyond_all_devices(self):
        wide = {"axes": [["x", 4096], ["y", 2]]}
        reply = self.start().run(ask(["a", "b"], ("a", "x"), ("b", "y"), sizes=(4096, 2), mesh=wide))
        self.assertEqual((reply["claims"], reply["blocks"]), (["f32[4096@x,2@y]"], []))

    def test_device_ids_are_those_of_the_case(self):
        reply = self.start().run(ask(["a"], ("a", "x"), mesh={"axes": [["x", 2]], "ids": [1, 0]}))
        self.assertEqual({b["device"]: b["slices"] for b in reply["blocks"]}, {1: [[[0, 4]]], 0: [[[4, 8]]]})

    def test_nothing_said_and_limits(self):
        driver = self.start(resolver="with_logical_constraint")
        self.assertEqual(driver.run(ask(["a"]))["type"], "unsupported")
        self.assertEqual(driver.run(ask(["a"], ("a", "x"), sizes=(5,)))["type"], "unsupported")
        self.assertEqual(driver.run(ask(["a"], ("a", "x"), sizes=(1 << 30,)))["type"], "unsupported")

    def test_another_answer_shows(self):
        tamper = ("import flax.linen, jax\n"
                  "flax.linen.logical_to_mesh_axes = lambda names, rules=None: jax.sharding.PartitionSpec('y')")
        reply = self.start(tamper).run(ask(["a"], ("a", "x")))
        self.assertEqual(reply["claims"], ["f32[8@y]"])
        self.assertEqual(reply["blocks"][1]["slices"], [[[4, 8]]])

    def test_our_own_mistake_is_no_refusal(self):
        tamper = "import flax.linen\nflax.linen.logical_to_mesh_axes = lambda: None"
        self.assertEqual(self.start(tamper).run(ask(["a"], ("a", "x")))["type"], "reneged")

    def test_an_abort_ends_the_process_alone(self):
        tamper = "import flax.linen, os\nflax.linen.logical_to_mesh_axes = lambda *a: os.abort()"
        self.assertEqual(self.start(tamper).run(ask(["a"], ("a", "x"))), {"type": "died", "code": -6})

    def test_what_flax_prints_does_not_disturb(self):
        tamper = ("import flax.linen\nreal = flax.linen.logical_to_mesh_axes\n"
                  "flax.linen.logical_to_mesh_axes = lambda *a: print('x' * 9) or real(*a)")
        self.assertEqual(self.claim(self.start(tamper), ["a"], ("a", "x")), "f32[8@x]")

    def test_unknown_options_are_refused(self):
        for options in ({"resolver": "no"}, {"nope": "1"}):
            self.assertEqual(self.start(**options).first["type"], "died")


if __name__ == "__main__":
    unittest.main()
