"""prove(jitted, *args): right programs are proven, a known wrong one is refuted, on devices that are not there."""

import os
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE]
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=64"

import jax
import jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P

from plumb_prove import prove


def product(mesh, lhs, rhs, out):
    place = lambda *spec: NamedSharding(mesh, P(*spec))
    return jax.jit(jnp.matmul, in_shardings=(place(*lhs), place(*rhs)), out_shardings=place(*out))


ARRAYS = [jax.ShapeDtypeStruct((64, 64), jnp.float32)] * 2


class Prove(unittest.TestCase):
    def test_a_right_program_on_64_devices(self):
        mesh = jax.make_mesh((16, 4), ("dp", "tp"))
        answer = prove(product(mesh, ("dp", "tp"), ("tp", None), ("dp", None)), *ARRAYS)
        self.assertTrue(answer, answer)
        self.assertEqual(answer.found["devices"], 64)
        self.assertEqual(answer.folder, "")

    def test_a_wrong_one_is_refuted_and_says_where(self):
        mesh = jax.make_mesh((2, 2, 2), ("x", "y", "z"))
        wrong = product(mesh, ("y", "z"), ("x", None), (("z", "y"), "x"))
        with tempfile.TemporaryDirectory() as folder:
            answer = prove(wrong, *ARRAYS, folder=folder, passes=True)
            self.assertFalse(answer)
            self.assertEqual(answer.found["finding"], "refuted")
            self.assertIn("spmd", answer.found["pass"])
            self.assertTrue(answer.found["place"]["instruction"])
            self.assertEqual(answer.folder, folder)
            self.assertGreater(len(os.listdir(folder)), 10)
            with self.assertRaises(FileExistsError):
                prove(wrong, *ARRAYS, folder=folder)

    def test_what_is_not_partitioned_is_said_to_be_so(self):
        with self.assertRaisesRegex(ValueError, "after the partitioner"):
            prove(jax.jit(jnp.matmul), *ARRAYS)


if __name__ == "__main__":
    unittest.main()
