"""The MaxText worker. Needs the Python of an environment made by scripts/environment."""

import os
import sys
import unittest
from importlib.metadata import version

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, os.pardir, "flax")]

from resolving_test import Worker, ask

BEFORE = tuple(map(int, version("maxtext").split("."))) < (0, 2, 4)  # the change of MaxText #4205


class MaxText(Worker):
    WORKER = os.path.join(HERE, "worker.py")

    def test_every_resolver_answers_the_plain_question(self):
        for resolver in ("nnx", "logical_to_mesh_axes", "create_sharding", "logical_to_mesh_sharding"):
            for given in ("context", "argument"):
                with self.subTest(f"{resolver} {given}"):
                    driver = self.start(resolver=resolver, rules=given)
                    reply = driver.run(ask(["a", None, "b"], ("a", "x"), ("b", ["y"])))
                    self.assertEqual(reply["claims"], ["f32[8@x,8,8@y]"], reply)
                    self.assertEqual(reply["blocks"][1]["slices"], [[[0, 4]], [[0, 8]], [[4, 8]]])

    def test_hello_says_what_is_called_and_stood_in_for(self):
        versions = self.start().first["versions"]
        self.assertEqual(versions["called"].rsplit(".", 1)[1], "get_nnx_named_sharding_with_scan_axis" if BEFORE else
                         "get_nnx_var_named_sharding_with_scan_axis")
        self.assertIn("maxtext.utils.max_logging", versions["stood in for"])
        self.assertNotIn("maxtext.utils.sharding", versions["stood in for"])
        self.assertEqual(self.start(resolver="create_sharding").first["versions"]["called"],
                         "maxtext.utils.sharding.create_sharding")

    def test_before_and_after_4205(self):
        driver = self.start()
        self.assertEqual(self.claim(driver, ["a"], ("a", ("x", "y")), ("a", "x")),
                         "f32[8@x]" if BEFORE else "f32[8@x.y]")
        self.assertEqual(self.claim(driver, ["a", "b"], ("a", "x"), ("b", "x")),
                         "DuplicateSpecError" if BEFORE else "f32[8@x,8]")

    def test_rules_arrive_as_they_were_written(self):
        tamper = ("import flax.linen\n"
                  "def told(names, rules=None): raise ValueError(repr((names, rules)))\n"
                  "flax.linen.logical_to_mesh_axes = told")
        driver = self.start(tamper, resolver="logical_to_mesh_axes", rules="argument")
        reply = driver.run(ask(["a", None], ("a", ()), ("a", []), ("a", None), ("a", ["x"])))
        self.assertEqual(reply["message"],
                         "ValueError: (('a', None), (('a', ()), ('a', []), ('a', None), ('a', ['x'])))")

    def test_an_edited_maxtext_answers_otherwise(self):
        """The installed function is what is called."""
        tamper = ("import flax.linen, flax.core.spmd as s\n"
                  "flax.linen.logical_to_mesh_axes = lambda names, rules=None: __import__('jax').P('y')\n"
                  "s.from_sharding_rules = lambda names, rules: ('y',)")
        self.assertEqual(self.claim(self.start(tamper), ["a"], ("a", "x")), "f32[8@y]")


if __name__ == "__main__":
    unittest.main()
