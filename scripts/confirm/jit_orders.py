"""Which order of axes makes a sharded matmul wrong, with numpy and JAX's public interface alone.

jit of jnp.matmul on eight devices, automatic axes, small integers. The contracted dimension lies over x and so do the rows of
the result, whose columns lie over the other two axes, in either order; the other operand's columns lie over none, one or both
of them. Prints which products are wrong, and of each device that is wrong the devices whose right block it has.

    python jit_orders.py [shardy|gspmd]
"""

import os
import sys

os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=8"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P


def whose(shards, want, wrong):
    """The devices whose right block a device has."""
    return [s.device.id for s in shards if s.index != wrong.index and np.array_equal(want[s.index], np.asarray(wrong.data))]


def main():
    partitioner = sys.argv[1] if len(sys.argv) > 1 else "shardy"
    if partitioner == "shardy" or hasattr(jax.config, "jax_use_shardy_partitioner"):  # older releases have GSPMD alone
        jax.config.update("jax_use_shardy_partitioner", partitioner == "shardy")
    mesh = Mesh(np.array(jax.devices()[:8]).reshape(2, 2, 2), ("x", "y", "z"))
    random = np.random.default_rng(0)
    a, b = (random.integers(-8, 8, (8, 8)).astype(np.float32) for _ in range(2))
    want = a @ b
    wrong = 0
    for columns in (None, "y", "z", ("y", "z"), ("z", "y")):
        for order in (("y", "z"), ("z", "y")):
            place = [NamedSharding(mesh, spec) for spec in (P(None, "x"), P("x", columns))]
            product = jax.jit(jnp.matmul, in_shardings=place, out_shardings=NamedSharding(mesh, P("x", order)))
            shards = product(jax.device_put(a, place[0]), jax.device_put(b, place[1])).addressable_shards
            bad = {s.device.id: whose(shards, want, s) for s in shards if not np.array_equal(np.asarray(s.data), want[s.index])}
            wrong += bool(bad)
            said = "right" if not bad else "wrong; " + ", ".join(f"device {d} has the block of {of or 'nobody'}" for d, of in bad.items())
            print(f"columns over {columns}, of the result over {order}: {said}")
    print(f"jax {jax.__version__}, {partitioner}: {wrong} of 10 programs are wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
