"""Plain reshards between layouts of a mesh whose axes are of unlike sizes, with numpy and JAX's public interface alone.

jit of the identity with in_shardings and out_shardings, automatic axes: every shard must be its slice of the array. Some
releases abort on some while they compile, so each program runs in a process of its own.

    python reshard_aborts.py [shardy|gspmd]
"""

import math
import os
import subprocess
import sys

# mesh x, y, z; size of each dimension; layouts: the axes of each dimension
PROGRAMS = [
    ("3,2,2", 12, "zx,", "x,z"),
    ("3,2,2", 12, "xz,y", "z,x"),
    ("2,3", 6, ",x", "xy,"),  # two axes: 2 and 3
    ("3,8", 24, ",x", "xy,"),  # three hosts of eight devices
    ("2,2,3", 6, "x", "yz"),  # one dimension
    ("3,2,2", 12, ",xy", "zx,y"),
    ("2,3", 6, "yx,", "x,y"),
    ("2,4", 8, ",x", "xy,"),  # right: each size divides the other
    ("3,2,2", 12, "x,", "z,x"),  # right, to show that the check can pass
]


def reshard(partitioner, program):
    sizes, n, *layouts = program
    sizes = [int(size) for size in sizes.split(",")]
    count = math.prod(sizes)
    os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + f" --xla_force_host_platform_device_count={count}"
    os.environ["JAX_PLATFORMS"] = "cpu"
    import jax
    import numpy as np
    from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

    if partitioner == "shardy" or hasattr(jax.config, "jax_use_shardy_partitioner"):  # older releases have GSPMD alone
        jax.config.update("jax_use_shardy_partitioner", partitioner == "shardy")
    mesh = Mesh(np.array(jax.devices()).reshape(sizes), tuple("xyz"[: len(sizes)]))
    source, target = (NamedSharding(mesh, P(*[tuple(axes) or None for axes in one.split(",")])) for one in layouts)
    rank = layouts[0].count(",") + 1
    whole = np.arange(n**rank, dtype=np.float32).reshape((n,) * rank)
    moved = jax.jit(lambda a: a, in_shardings=source, out_shardings=target)(jax.device_put(whole, source))
    right = all(np.array_equal(shard.data, whole[shard.index]) for shard in moved.addressable_shards)
    print("right" if right else "wrong", flush=True)


def main():
    partitioner = sys.argv[1] if len(sys.argv) > 1 else "shardy"
    bad = 0
    for number, (sizes, n, source, target) in enumerate(PROGRAMS):
        child = subprocess.run([sys.executable, __file__, partitioner, str(number)], capture_output=True, text=True)
        said = child.stdout.strip() or f"ended with {child.returncode}: " + next(
            (line.split("] ")[-1] for line in child.stderr.splitlines() if "Check failed" in line), "?")
        bad += said != "right"
        print(f"{sizes} of {n}: {source} -> {target}: {said}", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    if len(sys.argv) == 3:
        reshard(sys.argv[1], PROGRAMS[int(sys.argv[2])])
    else:
        sys.exit(main())
