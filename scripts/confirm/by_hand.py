"""A sum by hand in shard_map, beside an axis that stays automatic, with numpy and JAX's public interface alone.

    python by_hand.py [shardy|gspmd]

Rows lie over x, y splits nothing. jax.lax.psum over x of each dtype, with x by hand and y automatic, and with both by hand.
"""

import subprocess
import sys

DTYPES = ("bfloat16", "float16", "float32")
BY_HAND = ("x", "xy")


def run(partitioner, by_hand, dtype):
    """One word: right, or wrong. XLA may abort the process."""
    import os
    os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=4"
    os.environ["JAX_PLATFORMS"] = "cpu"
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

    jax.config.update("jax_use_shardy_partitioner", partitioner == "shardy")
    mesh = Mesh(np.array(jax.devices()).reshape(2, 2), ("x", "y"))
    summed = jax.jit(jax.shard_map(lambda part: jax.lax.psum(part, "x"), mesh=mesh, in_specs=P("x"), out_specs=P(),
                                   axis_names=set(by_hand)))
    rows = np.arange(16.0).reshape(4, 4)
    made = summed(jax.device_put(jnp.asarray(rows, dtype), NamedSharding(mesh, P("x"))))
    return "right" if np.array_equal(np.asarray(made, np.float32), rows[:2] + rows[2:]) else "wrong"


def main():
    if len(sys.argv) == 5 and sys.argv[1] == "--one":
        print(run(*sys.argv[2:]))
        return 0
    partitioner = sys.argv[1] if len(sys.argv) > 1 else "shardy"
    failed = False
    for by_hand in BY_HAND:
        for dtype in DTYPES:
            ran = subprocess.run([sys.executable, "-I", __file__, "--one", partitioner, by_hand, dtype], capture_output=True, text=True)
            ended = "aborts" if ran.returncode < 0 else "refused"
            said = ran.stdout.strip() or f"{ended}: {next((l for l in ran.stderr.splitlines() if 'Invalid' in l), ran.stderr.strip()[-200:])}"
            failed |= said != "right"
            print(f"{partitioner}: psum of {dtype} over x, y {'automatic' if by_hand == 'x' else 'by hand'}: {said}", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
