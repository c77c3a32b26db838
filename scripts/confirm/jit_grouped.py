"""Grouped products under jit, automatic axes, with numpy and JAX's public interface alone.

    python jit_grouped.py [shardy|gspmd]

Rows lie in groups. fwd: rows of a[t,k] by the weight of their group, b[g,k,n], with jax.lax.ragged_dot. dgrad, its gradient by
the left operand: rows of a[t,n] by b[g,k,n] transposed. wgrad, that by the right: for each group the rows of a[t,k]
transposed by those of b[t,n]. Gradients are jax.lax.ragged_dot_general, as jax.vjp calls it. in_shardings and out_shardings of
jit; every shard must equal numpy's, exactly.
"""

import math
import os
import subprocess
import sys

# form; mesh x, y, z; layouts of a, b and the result; sizes of the groups; t, k, n
PROGRAMS = [
    ("dgrad", "2,2,2", "xzy,", "z,y,", "xy,z", [11, 1, 0, 4], (16, 8, 8)),
    ("dgrad", "3,2,2", "y,z", "y,z,", "xz,y", [0, 24, 0, 0], (24, 12, 12)),
    ("fwd", "2,2,2", "zy,x", ",x,y", ",x", [2, 2, 2, 2], (8, 8, 8)),
    ("fwd", "2,2,2", ",zx", "x,,z", "yz,x", [2, 2], (4, 4, 4)),
    ("wgrad", "2,2,3", "y,x", "x,y", ",,", [12, 12], (24, 12, 12)),
    ("dgrad", "2,2,2", "x,", "z,,", "x,", [11, 1, 0, 4], (16, 8, 8)),  # right, to show that the check can pass
]


def run(partitioner, form, mesh, layouts, groups, extents):
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
    shapes = {"fwd": ((t, k), (len(groups), k, n)), "dgrad": ((t, n), (len(groups), k, n)), "wgrad": ((t, k), (t, n))}
    operands = [random.integers(-8, 8, shape).astype(np.float32) for shape in shapes[form]]
    bounds = np.cumsum([0, *groups])
    slices = [slice(*pair) for pair in zip(bounds, bounds[1:])]
    a, b = operands
    if form == "wgrad":
        want = np.stack([a[of].T @ b[of] for of in slices])
    else:
        want = np.concatenate([a[of] @ (w if form == "fwd" else w.T) for of, w in zip(slices, b)])
    ragged = {"dgrad": ((((1,), (2,)), ((), ())), [0], [0]), "wgrad": ((((0,), (0,)), ((), ())), [0], [])}
    sizes_of = np.array(groups, np.int32)

    def multiply(a, b):
        if form == "fwd":
            return jax.lax.ragged_dot(a, b, sizes_of)
        return jax.lax.ragged_dot_general(a, b, sizes_of, jax.lax.RaggedDotDimensionNumbers(*ragged[form]))

    product = jax.jit(multiply, in_shardings=tuple(laid[:2]), out_shardings=laid[2])
    made = product(*[jax.device_put(a, s) for a, s in zip(operands, laid)])
    off = [s.device.id for s in made.addressable_shards if not np.array_equal(np.asarray(s.data), want[s.index])]
    return f"wrong on devices {off}" if off else "right"


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "--one":
        partitioner, at = sys.argv[2].split(":")
        form, mesh, *layouts, groups, extents = PROGRAMS[int(at)]
        print(run(partitioner, form, mesh, layouts, groups, extents))
        return 0
    partitioner = sys.argv[1] if len(sys.argv) > 1 else "shardy"
    failed = False
    for at, (form, mesh, *layouts, groups, _) in enumerate(PROGRAMS):
        # a process for each: the number of devices is that of its mesh
        ran = subprocess.run([sys.executable, "-I", __file__, "--one", f"{partitioner}:{at}"], capture_output=True, text=True)
        said = ran.stdout.strip() or "failed: " + ran.stderr.strip().splitlines()[-1]
        failed |= said != "right"
        print(f"{partitioner} on {mesh}: grouped {form} {' '.join(layouts)} sizes {groups}: {said}", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
