"""A sum and a product by hand in shard_map, beside axes that stay automatic, with numpy and JAX's public interface alone.

    python by_hand.py [shardy|gspmd]

Rows lie over x, y splits nothing. jax.lax.psum over x of each dtype, with x by hand and y automatic, and with both by hand.
The product is of two batches, bhqd,bhkd->bhqk: of an axis along which nothing moves, y by hand, and in jit alone.
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


def product(partitioner, by_hand):
    """A word or two: right, or on how many of 12 devices it is wrong."""
    import os
    os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=12"
    os.environ["JAX_PLATFORMS"] = "cpu"
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

    jax.config.update("jax_use_shardy_partitioner", partitioner == "shardy")
    mesh = Mesh(np.array(jax.devices()).reshape(2, 2, 3), ("x", "y", "z"))
    multiply = scores = lambda a, b: jnp.einsum("bhqd,bhkd->bhqk", a, b)
    if by_hand:
        rows = P(None, None, by_hand)
        multiply = jax.shard_map(scores, mesh=mesh, in_specs=(rows, P()), out_specs=rows, axis_names={by_hand})
    place = [NamedSharding(mesh, P("x", None, "y")), NamedSharding(mesh, P("x", None, None, "z"))]
    operands = [np.random.default_rng(0).integers(-8, 8, (6, 1, 2, 3)).astype(np.float32) for _ in place]
    made = jax.jit(multiply, in_shardings=place, out_shardings=NamedSharding(mesh, P("z", None, "y", "x")))(*map(jax.device_put, operands, place))
    want = np.einsum("bhqd,bhkd->bhqk", *operands)
    wrong = sum(not np.array_equal(np.asarray(shard.data), want[shard.index]) for shard in made.addressable_shards)
    return f"wrong on {wrong} devices" if wrong else "right"


def main():
    if len(sys.argv) == 4 and sys.argv[1] == "--product":
        print(product(sys.argv[2], sys.argv[3]))
        return 0
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
    for by_hand in ("y", ""):
        ran = subprocess.run([sys.executable, "-I", __file__, "--product", partitioner, by_hand], capture_output=True, text=True)
        said = ran.stdout.strip() or f"refused: {ran.stderr.strip()[-200:]}"
        failed |= said != "right"
        print(f"{partitioner}: bhqd,bhkd->bhqk, {f'{by_hand} by hand' if by_hand else 'jit alone'}: {said}", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
