"""A sum and a largest so far of one array that is sharded along the same axis, in one jit, with numpy and JAX's
public interface alone. The partitioner fills what lies before the first element with the sum's zero, for both: where
all numbers are below zero the largest is 0. Each by itself is right.

    python cumulative_max.py [shardy|gspmd]

Prints a line for each program, and which of its results numpy contradicts."""

import os
import sys

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

jax.config.update("jax_use_shardy_partitioner", "gspmd" not in sys.argv[1:])
mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("a", "b"))
x = -1 - np.arange(128, dtype=np.float32).reshape(16, 8) % 7
PROGRAMS = {
    "cumsum and cummax": (lambda x: (jnp.cumsum(x, 0), lax.cummax(x, 0)), (np.cumsum(x, 0), np.maximum.accumulate(x, 0))),
    "cumsum": (lambda x: (jnp.cumsum(x, 0),), (np.cumsum(x, 0),)),
    "cummax": (lambda x: (lax.cummax(x, 0),), (np.maximum.accumulate(x, 0),)),
}

for name, (program, want) in PROGRAMS.items():
    got = jax.jit(program, in_shardings=NamedSharding(mesh, P("a", "b")))(x)
    wrong = [f"result {n}: {np.sum(np.asarray(g) != w)} of {w.size} elements, {np.asarray(g).flat[0]} for {w.flat[0]}"
             for n, (g, w) in enumerate(zip(got, want)) if not np.array_equal(np.asarray(g), w)]
    print(f"{name}: {'WRONG, ' + '; '.join(wrong) if wrong else 'right'}")
