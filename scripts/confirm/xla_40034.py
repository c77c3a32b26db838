"""The program of openxla/xla#40034 with numpy and JAX's public interface alone.

A gradient einsum bsh,bsf->hf is left unreduced over (dp, fsdp, sp), then resharded to P((fsdp, sp), tp), which
replicates over dp. Every shard must equal numpy's sum of small integers, exactly. Prints the devices that do not.

    python xla_40034.py [shardy|gspmd]
"""

import os
import sys

os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=16"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec as P

AXES = ("dp", "fsdp", "sp", "tp")


def meshes(devices):
    """Every way to write `devices` as an ordered product of four sizes."""
    return [(a, b, c, devices // (a * b * c)) for a in range(1, devices + 1) for b in range(1, devices + 1)
            for c in range(1, devices + 1) if devices % (a * b * c) == 0]


def wrong_devices(sizes):
    dp, fsdp, sp, tp = sizes
    grid = np.array(jax.devices()[: dp * fsdp * sp * tp]).reshape(sizes)
    mesh = Mesh(grid, AXES, axis_types=(AxisType.Explicit,) * 4)
    random = np.random.default_rng(0)
    b, s, h, f = 2 * dp * fsdp, 2 * sp, 2 * fsdp * sp, 2 * tp
    x = random.integers(-8, 8, (b, s, h)).astype(np.float32)
    y = random.integers(-8, 8, (b, s, f)).astype(np.float32)
    want = np.einsum("bsh,bsf->hf", x, y)

    @jax.jit
    def gradient(x, y):
        partial = jnp.einsum("bsh,bsf->hf", x, y, out_sharding=P(None, "tp", unreduced={"dp", "fsdp", "sp"}))
        return jax.sharding.reshard(partial, P(("fsdp", "sp"), "tp"))

    with (jax.set_mesh if hasattr(jax, "set_mesh") else jax.sharding.use_mesh)(mesh):  # before 0.7.1
        got = gradient(jax.device_put(x, NamedSharding(mesh, P(("dp", "fsdp"), "sp", None))),
                       jax.device_put(y, NamedSharding(mesh, P(("dp", "fsdp"), "sp", "tp"))))
    return [s.device.id for s in got.addressable_shards if not np.array_equal(np.asarray(s.data), want[s.index])]


def main():
    partitioner = sys.argv[1] if len(sys.argv) > 1 else "shardy"
    jax.config.update("jax_use_shardy_partitioner", partitioner == "shardy")
    wrong = refused = total = 0
    for devices in (4, 8, 16):
        for sizes in meshes(devices):
            total += 1
            name = ",".join(f"{a}={n}" for a, n in zip(AXES, sizes))
            try:
                bad = wrong_devices(sizes)
            except Exception as e:
                refused += 1
                print(f"{name}: {type(e).__name__}: {str(e).splitlines()[0][:100]}")
                continue
            wrong += bool(bad)
            if bad:
                print(f"{name}: wrong on devices {bad}")
    print(f"jax {jax.__version__}, {partitioner}: wrong on {wrong}, refused on {refused} of {total} meshes")


if __name__ == "__main__":
    main()
