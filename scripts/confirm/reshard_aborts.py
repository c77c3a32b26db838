"""Plain reshards on twelve devices, with numpy and JAX's public interface alone.

jit of the identity with in_shardings and out_shardings on a 3x2x2 mesh, automatic axes: every shard must be its slice
of the array. JAX 0.9.1 aborts on some while it compiles, so each program runs in a process of its own.

    python reshard_aborts.py [shardy|gspmd]
"""

import os
import subprocess
import sys

PROGRAMS = [
    ((("z", "x"), None), ("x", "z")),
    ((("x", "z"), "y"), ("z", "x")),
    (("x", None), ("z", "x")),  # right, to show that the check can pass
]


def reshard(number):
    os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=12"
    os.environ["JAX_PLATFORMS"] = "cpu"
    import jax
    import numpy as np
    from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

    if sys.argv[1] == "shardy" or hasattr(jax.config, "jax_use_shardy_partitioner"):  # older releases have GSPMD alone
        jax.config.update("jax_use_shardy_partitioner", sys.argv[1] == "shardy")
    mesh = Mesh(np.array(jax.devices()[:12]).reshape(3, 2, 2), ("x", "y", "z"))
    source, target = (NamedSharding(mesh, P(*axes)) for axes in PROGRAMS[number])
    whole = np.arange(144, dtype=np.float32).reshape(12, 12)
    moved = jax.jit(lambda a: a, in_shardings=source, out_shardings=target)(jax.device_put(whole, source))
    right = all(np.array_equal(shard.data, whole[shard.index]) for shard in moved.addressable_shards)
    print("right" if right else "wrong", flush=True)


def main():
    partitioner = sys.argv[1] if len(sys.argv) > 1 else "shardy"
    bad = 0
    for number, (source, target) in enumerate(PROGRAMS):
        child = subprocess.run([sys.executable, __file__, partitioner, str(number)], capture_output=True, text=True)
        said = child.stdout.strip() or f"ended with {child.returncode}: " + next(
            (line for line in child.stderr.splitlines() if "Check failed" in line), "")
        bad += said != "right"
        print(f"{source} -> {target}: {said}")
    return 1 if bad else 0


if __name__ == "__main__":
    if len(sys.argv) == 3:
        reshard(int(sys.argv[2]))
    else:
        sys.exit(main())
