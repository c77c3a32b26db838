"""A product whose sum is left unfinished, then finished, with numpy and JAX's public interface alone.

    partial = einsum("mk,kn->mn", a, b, out_sharding=P(None, "z", unreduced={"y"}))     a: P(None, "y"), b: P("y", None)
    result  = reshard(partial, P(None, None))

Every device must hold numpy's product of small integers, exactly. Prints the wrong devices of every mesh x, y, z,
and for the first wrong one the collectives of the compiled program. Then the first line alone, with b over P("y", ("x", "z")):
for each x the parts of the devices along y are added up by numpy.

    python unreduced_einsum.py [shardy|gspmd]
"""

import os
import re
import sys

os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=16"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec as P


def run(sizes):
    """The wrong devices, and the compiled program's collectives."""
    count = int(np.prod(sizes))
    mesh = Mesh(np.array(jax.devices()[:count]).reshape(sizes), ("x", "y", "z"), axis_types=(AxisType.Explicit,) * 3)
    random = np.random.default_rng(0)
    a = random.integers(-8, 8, (count, count)).astype(np.float32)
    b = random.integers(-8, 8, (count, count)).astype(np.float32)

    def product(a, b):
        partial = jnp.einsum("mk,kn->mn", a, b, out_sharding=P(None, "z", unreduced={"y"}))
        return jax.sharding.reshard(partial, P(None, None))

    where = [NamedSharding(mesh, P(None, "y")), NamedSharding(mesh, P("y", None))]
    placed = [jax.device_put(x, sharding) for x, sharding in zip((a, b), where)]
    with (jax.set_mesh if hasattr(jax, "set_mesh") else jax.sharding.use_mesh)(mesh):  # before 0.7.1
        program = jax.jit(product).lower(*placed).compile()
        got = program(*placed)
    want = a @ b
    wrong = [s.device.id for s in got.addressable_shards if not np.array_equal(np.asarray(s.data), want[s.index])]
    kind = r"(all-reduce|all-gather|all-to-all|collective-permute)\("
    lines = [line for line in program.as_text().splitlines() if re.search(kind, line)]
    return wrong, [line.split(", metadata")[0].strip() for line in lines]


def left_unfinished():
    """On which x the parts, which replicate over it, do not add up to the product."""
    mesh = Mesh(np.array(jax.devices()[:8]).reshape(2, 2, 2), ("x", "y", "z"), axis_types=(AxisType.Explicit,) * 3)
    a, b = (np.random.default_rng(n).integers(-8, 8, (8, 8)).astype(np.float32) for n in (0, 1))
    placed = [jax.device_put(m, NamedSharding(mesh, s)) for m, s in ((a, P(None, "y")), (b, P("y", ("x", "z"))))]
    with (jax.set_mesh if hasattr(jax, "set_mesh") else jax.sharding.use_mesh)(mesh):  # before 0.7.1
        made = jax.jit(lambda a, b: jnp.einsum("mk,kn->mn", a, b, out_sharding=P(None, "z", unreduced={"y"})))(*placed)
    held = {s.device.id: np.asarray(s.data) for s in made.addressable_shards}  # device 4x + 2y + z
    return [x for x in (0, 1) for z in (0, 1)
            if not np.array_equal(held[4 * x + z] + held[4 * x + 2 + z], (a @ b)[:, 4 * z : 4 * z + 4])]


def main():
    partitioner = sys.argv[1] if len(sys.argv) > 1 else "shardy"
    jax.config.update("jax_use_shardy_partitioner", partitioner == "shardy")
    few = (1, 2, 3, 4)
    sizes = [(x, y, z) for x in few for y in few for z in few if x * y * z in (4, 6, 8, 12, 16)]
    bad, shown = 0, False
    for mesh in sizes:
        name = ",".join(f"{a}={n}" for a, n in zip("xyz", mesh))
        try:
            wrong, collectives = run(mesh)
        except Exception as e:
            print(f"{name}: {type(e).__name__}: {str(e).splitlines()[0][:100]}")
            continue
        bad += bool(wrong)
        print(f"{name}: {f'wrong on devices {wrong}' if wrong else 'right'}")
        if wrong and not shown:
            shown = True
            print("".join(f"    {line}\n" for line in collectives), end="")
    try:
        wrong = left_unfinished()
        print(f"left unfinished, x=2,y=2,z=2: {f'wrong sum at x = {wrong}' if wrong else 'right'}")
    except Exception as e:
        print(f"left unfinished: {type(e).__name__}: {str(e).splitlines()[0][:100]}")
    print(f"jax {jax.__version__}, {partitioner}: wrong on {bad} of {len(sizes)} meshes")


if __name__ == "__main__":
    main()
