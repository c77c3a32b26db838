"""Grouped products under jit, automatic axes, with numpy and JAX's public interface alone.

    python jit_grouped.py [shardy|gspmd]

Rows of dy[t,n] are multiplied by the weight of their group, w[g,k,n] transposed: what a gradient of jax.lax.ragged_dot by its
left operand is, by jax.lax.ragged_dot_general. in_shardings and out_shardings of jit; every shard must equal numpy's, exactly.
"""

import math
import os
import subprocess
import sys

# mesh x, y, z; layouts of dy, w and the result; sizes of the groups; t, k, n
PROGRAMS = [
    ("2,2,2", "xzy,", "z,y,", "xy,z", [11, 1, 0, 4], (16, 8, 8)),
    ("3,2,2", "y,z", "y,z,", "xz,y", [0, 24, 0, 0], (24, 12, 12)),
    ("2,2,2", "x,", "z,,", "x,", [11, 1, 0, 4], (16, 8, 8)),  # right, to show that the check can pass
]


def run(partitioner, mesh, layouts, groups, extents):
    """One sentence: right, or on which devices it is wrong."""
    sizes = [int(n) for n in mesh.split(",")]
    os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + f" --xla_force_host_platform_device_count={math.prod(sizes)}"
    os.environ["JAX_PLATFORMS"] = "cpu"
    import jax
    import numpy as np
    from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

    if partitioner == "shardy" or hasattr(jax.config, "jax_use_shardy_partitioner"):  # older releases have GSPMD alone
        jax.config.update("jax_use_shardy_partitioner", partitioner == "shardy")
    devices = Mesh(np.array(jax.devices()).reshape(sizes), tuple("xyz"[: len(sizes)]))
    laid = [NamedSharding(devices, P(*[tuple(axes) or None for axes in one.split(",")])) for one in layouts]
    t, k, n = extents
    random = np.random.default_rng(0)
    dy = random.integers(-8, 8, (t, n)).astype(np.float32)
    w = random.integers(-8, 8, (len(groups), k, n)).astype(np.float32)
    ends = np.cumsum(groups)
    want = np.concatenate([dy[end - size : end] @ w[g].T for g, (size, end) in enumerate(zip(groups, ends))])
    numbers = jax.lax.RaggedDotDimensionNumbers((((1,), (2,)), ((), ())), [0], [0])
    product = jax.jit(lambda a, b: jax.lax.ragged_dot_general(a, b, np.array(groups, np.int32), numbers),
                      in_shardings=tuple(laid[:2]), out_shardings=laid[2])
    made = product(*[jax.device_put(a, s) for a, s in zip((dy, w), laid)])
    off = [s.device.id for s in made.addressable_shards if not np.array_equal(np.asarray(s.data), want[s.index])]
    return f"wrong on devices {off}" if off else "right"


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "--one":
        partitioner, at = sys.argv[2].split(":")
        mesh, *layouts, groups, extents = PROGRAMS[int(at)]
        print(run(partitioner, mesh, layouts, groups, extents))
        return 0
    partitioner = sys.argv[1] if len(sys.argv) > 1 else "shardy"
    failed = False
    for at, (mesh, *layouts, groups, _) in enumerate(PROGRAMS):
        # a process for each: the number of devices is that of its mesh
        ran = subprocess.run([sys.executable, "-I", __file__, "--one", f"{partitioner}:{at}"], capture_output=True, text=True)
        said = ran.stdout.strip() or "failed: " + ran.stderr.strip().splitlines()[-1]
        failed |= said != "right"
        print(f"{partitioner} on {mesh}: grouped dgrad {' '.join(layouts)} sizes {groups}: {said}", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
