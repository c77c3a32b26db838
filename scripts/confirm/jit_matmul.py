"""A plain sharded matmul on eight devices, with numpy and JAX's public interface alone.

jit of jnp.matmul with in_shardings and out_shardings on a 2x2x2 mesh, automatic axes, small integers: every
shard must equal numpy's product, exactly. Prints the devices that do not, and the greatest error.

    python jit_matmul.py [shardy|gspmd]
"""

import os
import sys

os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=8"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

PROGRAMS = [
    (P("y", "z"), P("x", None), P(("z", "y"), "x")),
    (P("y", "z"), P("x", ("z", "y")), P(("x", "y"), None)),
    (P("y", "z"), P("z", ("x", "y")), P("z", "x")),
    (P(None, "y"), P("x", "z"), P("y", ("z", "x"))),
    (P(("y", "x"), "z"), P("y", "z"), P(None, ("x", "z"))),
    (P("x", "y"), P("y", "z"), P("x", "z")),  # right, to show that the check can pass
]


def main():
    partitioner = sys.argv[1] if len(sys.argv) > 1 else "shardy"
    if partitioner == "shardy" or hasattr(jax.config, "jax_use_shardy_partitioner"):  # older releases have GSPMD alone
        jax.config.update("jax_use_shardy_partitioner", partitioner == "shardy")
    mesh = Mesh(np.array(jax.devices()[:8]).reshape(2, 2, 2), ("x", "y", "z"))
    random = np.random.default_rng(0)
    a = random.integers(-8, 8, (8, 8)).astype(np.float32)
    b = random.integers(-8, 8, (8, 8)).astype(np.float32)
    want = a @ b
    wrong = 0
    for lhs, rhs, out in PROGRAMS:
        place = [NamedSharding(mesh, spec) for spec in (lhs, rhs)]
        product = jax.jit(jnp.matmul, in_shardings=place, out_shardings=NamedSharding(mesh, out))
        got = product(jax.device_put(a, place[0]), jax.device_put(b, place[1]))
        bad = [s.device.id for s in got.addressable_shards if not np.array_equal(np.asarray(s.data), want[s.index])]
        error = max(np.abs(np.asarray(s.data) - want[s.index]).max() for s in got.addressable_shards)
        wrong += bool(bad)
        print(f"{lhs} @ {rhs} -> {out}: " + (f"wrong on devices {bad}, by up to {error:g}" if bad else "right"))
    print(f"jax {jax.__version__}, {partitioner}: {wrong} of {len(PROGRAMS)} programs are wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
