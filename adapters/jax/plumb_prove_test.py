"""prove(jitted, *args): right programs are proven, a known wrong one is refuted, on devices that are not there."""

import os
import pathlib
import sys
import tempfile
import unittest
import unittest.mock

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE]
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
from jax.sharding import AbstractMesh, AxisType, NamedSharding, PartitionSpec as P

from plumb_prove import dump, prove, tool


def mesh_of(sizes, names):
    return AbstractMesh(sizes, names, axis_types=(AxisType.Auto,) * len(sizes))


def product(mesh, lhs, rhs, out):
    place = lambda *spec: NamedSharding(mesh, P(*spec))
    return jax.jit(jnp.matmul, in_shardings=(place(*lhs), place(*rhs)), out_shardings=place(*out))


ARRAYS = [jax.ShapeDtypeStruct((64, 64), jnp.float32)] * 2


class Prove(unittest.TestCase):
    def test_a_right_program_on_64_devices(self):
        self.assertEqual(len(jax.devices()), 1)
        mesh = mesh_of((16, 4), ("dp", "tp"))
        answer = prove(product(mesh, ("dp", "tp"), ("tp", None), ("dp", None)), *ARRAYS)
        self.assertTrue(answer, answer)
        self.assertEqual(answer.found["devices"], 64)
        self.assertEqual(answer.folder, "")
        self.assertTrue(answer.text.startswith("proven  module_"), answer.text)

    def test_a_wrong_one_is_refuted_and_says_where(self):
        mesh = mesh_of((2, 2, 2), ("x", "y", "z"))
        wrong = product(mesh, ("y", "z"), ("x", None), (("z", "y"), "x"))
        with tempfile.TemporaryDirectory() as folder:
            answer = prove(wrong, *ARRAYS, folder=folder, passes=True)
            self.assertFalse(answer)
            self.assertEqual(answer.found["finding"], "refuted")
            self.assertIn("spmd", answer.found["pass"])
            self.assertIn(f"\nrefuted     {answer.found['pass']}\n", answer.text)
            self.assertIn("plumb_prove_test.py:", answer.text)
            self.assertEqual(answer.folder, folder)
            self.assertGreater(len(os.listdir(folder)), 10)
            with self.assertRaises(FileExistsError):
                prove(wrong, *ARRAYS, folder=folder)

    def test_a_largest_so_far_beside_a_sum_so_far(self):
        """Wrong up to 0.11.2 (scripts/confirm/cumulative_max.py); each by itself is right."""
        place = NamedSharding(mesh_of((4, 2), ("a", "b")), P("a", "b"))
        sums, largest = lambda x: jnp.cumsum(x, 0), lambda x: jax.lax.cummax(x, 0)
        of = lambda f: prove(jax.jit(f, in_shardings=place), jax.ShapeDtypeStruct((16, 8), jnp.float32))
        self.assertTrue(of(sums))
        self.assertTrue(of(largest))
        wrong = jax.__version_info__ < (0, 12)
        answer = of(lambda x: (sums(x), largest(x)))
        self.assertEqual(answer.found["finding"], "refuted" if wrong else "proven", answer)
        self.assertEqual("reduce_window_max" in answer.text, wrong, answer)

    def test_a_mesh_that_stands_within_the_program_alone(self):
        mesh = mesh_of((4, 2), ("dp", "tp"))
        region = jax.shard_map(lambda x, w: jax.lax.psum(x @ w, "tp"), mesh=mesh, in_specs=(P("dp", "tp"), P("tp", None)),
                               out_specs=P("dp", None))
        laid = lambda x, w: jax.lax.with_sharding_constraint(x @ w, NamedSharding(mesh, P("dp", "tp")))
        if by_calls := jax.__version_info__ >= (0, 11, 2):  # what is by hand is a call there, whose layouts stand elsewhere
            with self.assertRaisesRegex(ValueError, "no xla.sdy.in_shardings"):
                prove(jax.jit(region), *ARRAYS)
        for program in (laid,) if by_calls else (region, laid):
            answer = prove(jax.jit(program), *ARRAYS)
            self.assertTrue(answer, answer)
            self.assertEqual(answer.found["devices"], 8)

    def test_what_is_not_partitioned_is_said_to_be_so(self):
        with self.assertRaisesRegex(ValueError, "one device"):
            prove(jax.jit(jnp.matmul), *ARRAYS)

    def test_more_devices_than_xla_makes_are_said_to_be_so_and_what_to_do(self):
        mesh = mesh_of((64, 64), ("dp", "tp"))
        with self.assertRaisesRegex(ValueError, "4,096 devices, and XLA makes 2,048 .* compile it for a TPU .*README.md"):
            prove(product(mesh, ("dp", "tp"), ("tp", None), ("dp", None)), *ARRAYS)

    def test_a_tool_that_is_not_there_is_named(self):
        with unittest.mock.patch.dict(os.environ, PLUMB="/nowhere/plumb"):
            with self.assertRaisesRegex(FileNotFoundError, r"\$PLUMB names no program: /nowhere/plumb"):
                tool()

    def test_gradients_of_donated_weights_whose_layout_is_left_open(self):
        mesh = mesh_of((4, 2), ("dp", "tp"))
        place = lambda *spec: NamedSharding(mesh, P(*spec))
        step = jax.jit(lambda w, x: w - jax.grad(lambda w: jnp.sum(jnp.tanh(x @ w)))(w),
                       in_shardings=(place(None, "tp"), place("dp", None)), donate_argnums=0)
        with tempfile.TemporaryDirectory() as folder:
            answer = prove(step, *ARRAYS, folder=folder)
            self.assertTrue(answer, answer)
            before = next(pathlib.Path(folder).glob("*before_optimizations.txt")).read_text()
        self.assertIn("as propagated", answer.text)
        self.assertIn("buffer_donor", before)
        self.assertIn("allow_spmd_sharding_propagation_to_parameters={false,false}", before)
        self.assertIn("allow_spmd_sharding_propagation_to_output={true}", before)

    def test_what_is_not_jitted_and_what_xla_refuses_is_said_to_be_so(self):
        with self.assertRaisesRegex(TypeError, "expected a function of jax.jit, got function"):
            prove(lambda x: x, *ARRAYS)
        with tempfile.TemporaryDirectory() as folder, self.assertRaisesRegex(RuntimeError, "XLA did not compile it .exit code 1"):
            dump("module @nothing {", folder, False)


if __name__ == "__main__":
    unittest.main()
