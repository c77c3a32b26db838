"""The hash of a record covers every rule that a case can reach, in the release in whose environment this runs."""

import inspect
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, os.pardir, "jax"), os.path.join(HERE, os.pardir, "python")]
os.environ["JAX_PLATFORMS"] = "cpu"

import backend
import standin

PLACES = {"partition", "shardy_sharding_rule", "infer_sharding_from_operands", "_parse_operand_output_specs"}


def rules(module):
    """(name, function) of each rule of the primitives that the module has of its own."""
    for cls in vars(module).values():
        if inspect.isclass(cls) and cls.__module__ == module.__name__:
            for name in PLACES & set(vars(cls)):
                yield f"{cls.__name__}.{name}", getattr(cls, name)


class Source(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        standin.load()
        cls.sources = backend.rule_sources()

    def test_editing_any_rule_changes_the_hash(self):
        was, found = backend.digest(*self.sources.values()), set()
        names = (f"transformer_engine.jax.cpp_extensions.{name}" for name in ("gemm", "quantization", "amax"))
        for module in (sys.modules[name] for name in names if name in sys.modules):
            for name, function in rules(module):
                found.add(name)
                with self.subTest(name):
                    text = inspect.getsource(function)
                    self.assertIn(text, self.sources[module.__name__])
                    edited = {**self.sources, module.__name__: self.sources[module.__name__].replace(text, text + "#")}
                    self.assertNotEqual(backend.digest(*edited.values()), was)
        self.assertLessEqual({f"GemmPrimitive.{name}" for name in PLACES}, found)
        name = "BaseDBiasQuantizePrimitive"
        self.assertLessEqual({name + ".partition", name + ".shardy_sharding_rule"}, found)

    def test_what_the_grouped_and_the_amax_lean_on_is_covered(self):
        jax = "transformer_engine.jax."
        for primitive in ("GroupedGemmPrimitive", "GroupedQuantizePrimitive", "AmaxCalculationPrimitive"):
            self.assertTrue(any(f"class {primitive}(" in text for text in self.sources.values()), primitive)
        self.assertIn("def grouped_dense(", self.sources[jax + "dense"])
        self.assertIn("def global_mesh_resource(", self.sources[jax + "sharding"])


if __name__ == "__main__":
    unittest.main()
