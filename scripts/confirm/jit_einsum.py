"""Sharded products and reshards under jit, automatic axes, with numpy and JAX's public interface alone.

    python jit_einsum.py [shardy|gspmd] [out|inside|uncommitted|donate]      the programs of the table below
    python jit_einsum.py PARTITIONER ROUTE MESH LETTERS LAYOUT...            one: a layout of each operand and result

A program is jnp.einsum of small integers; LETTERS such as mk,kn->mn, or mk->mk for a reshard. LAYOUT has the axes of each
dimension, as x,yz, for the first, two axes for the second, and none; further layouts are constraints on the way. The size
of each dimension is 8, or 12 where the mesh has a 3. Routes: in_shardings and out_shardings of jit; constraints inside
alone; the same with operands on one device; donated operands. Every shard must equal numpy's product, exactly.
"""

import math
import os
import subprocess
import sys

# mesh x, y, z; letters; layouts of the operands, then of what the program passes, the result last
PROGRAMS = [
    ("2,2,2", "bsk,bsn->kn", "x,,", ",z,", "yx,z"),
    ("2,2,2", "bsk,bsn->kn", "z,xy,", "z,y,x", ",z"),
    ("3,2,2", "bsk,bsn->kn", "x,yz,", "x,y,z", "x,y"),
    ("2,2,2", "mab,ban->mn", "x,,y", "y,,z", "xz,y"),
    ("2,2,2", "bsk,kn->bsn", "yx,,z", "z,", "z,xy,"),
    ("3,2,2", "bmk,bkn->bmn", "zy,,x", ",x,yz", "zy,x,"),
    ("2,2,3", "bmk,bkn->bmn", "y,x,z", ",yxz,", "z,,"),
    ("2,2,2", "bhqd,bhkd->bhqk", "z,y,,x", "y,,,x", "x,,zy,"),
    ("2,2,3", "bhqd,bhkd->bhqk", "zy,,,", "z,y,,", "y,,z,x"),
    ("2,2,2", "mk,kn->mn", "yx,z", "z,x", "z,yx", ",z"),
    ("2,2,2", "bqd,bkd->bqk", "zy,,x", ",,y", ",y,zx"),  # the same by other letters
    ("2,2,2", "bsd,dhk->bshk", ",y,z", "z,yx,", "z,,xy,"),
    ("2,2,2", "bshk,hkd->bsd", "zx,,,y", ",y,", "y,,xz"),
    ("2,2,3", "mk,kn->mn", "x,", "y,x", ",y"),  # beside an axis of another size
    ("2,2,3", "mk,kn->mn", "y,x", "y,x", "z,"),
    ("2,3", "mk,kn->mn", ",", ",", "x,y", "yx,"),  # between axes of unlike sizes, as reshard_aborts.py
    ("2,2,3", "mk,kn->mn", ",", ",", "x,", "yz,"),
    ("3,2,2", "mk,kn->mn", ",", ",", ",xy", "zx,y"),
    ("2,3", "bmk,bkn->bmn", "yx,,", ",,", "x,y,"),
    ("2,2,2", "bmk,bkn->bmn", "x,y,", "x,,z", "x,y,z"),  # right, to show that the check can pass
]


def run(partitioner, route, mesh, letters, layouts):
    """One sentence: right, or on which devices it is wrong and by how much."""
    sizes = [int(n) for n in mesh.split(",")]
    os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + f" --xla_force_host_platform_device_count={math.prod(sizes)}"
    os.environ["JAX_PLATFORMS"] = "cpu"
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

    if partitioner == "shardy" or hasattr(jax.config, "jax_use_shardy_partitioner"):  # older releases have GSPMD alone
        jax.config.update("jax_use_shardy_partitioner", partitioner == "shardy")
    devices = Mesh(np.array(jax.devices()).reshape(sizes), tuple("xyz"[: len(sizes)]))
    laid = [NamedSharding(devices, P(*[tuple(axes) or None for axes in one.split(",")])) for one in layouts]
    terms, n = letters.split("->")[0].split(","), 12 if 3 in sizes else 8
    random = np.random.default_rng(0)
    operands = [random.integers(-8, 8, (n,) * len(term)).astype(np.float32) for term in terms]
    first, rest = laid[: len(terms)], laid[len(terms):]
    say = jax.lax.with_sharding_constraint

    def program(*arrays):
        if route in ("inside", "uncommitted"):
            arrays = [say(a, s) for a, s in zip(arrays, first)]
        y = arrays[0] if len(terms) == 1 else jnp.einsum(letters, *arrays)
        for s in rest if route in ("inside", "uncommitted") else rest[:-1]:
            y = say(y, s)
        return y

    told = {} if route in ("inside", "uncommitted") else {"in_shardings": tuple(first), "out_shardings": rest[-1]}
    if route == "donate":
        told["donate_argnums"] = tuple(range(len(terms)))
    placed = [jax.device_put(a) if route == "uncommitted" else jax.device_put(a, s) for a, s in zip(operands, first)]
    got, want = jax.jit(program, **told)(*placed), np.einsum(letters, *operands)
    shards = [(s.device.id, np.asarray(s.data), want[s.index]) for s in got.addressable_shards]
    for device, held, due in shards:
        if held.shape != due.shape:
            return f"wrong: device {device} holds {held.shape}, its index is of {due.shape}"
    bad = [device for device, held, due in shards if not np.array_equal(held, due)]
    error = max(np.abs(held - due).max(initial=0) for _, held, due in shards)
    return f"wrong on devices {bad}, by up to {error:g}" if bad else "right"


def main():
    partitioner = sys.argv[1] if len(sys.argv) > 1 else "shardy"
    route = sys.argv[2] if len(sys.argv) > 2 else "out"
    if len(sys.argv) > 3:
        said = run(partitioner, route, *sys.argv[3:5], sys.argv[5:])
        print(said)
        return 0 if said == "right" else 1
    astray = 0
    for program in PROGRAMS:  # each in a process of its own, since some abort
        child = subprocess.run([sys.executable, __file__, partitioner, route, *program], capture_output=True, text=True)
        fatal = [line.split("] ")[-1] for line in child.stderr.splitlines() if "Check failed" in line or "Error" in line]
        said = child.stdout.strip() or f"ended with {child.returncode}: {(fatal or ['?'])[-1]}"
        astray += said != "right"
        print(" ".join(program) + ": " + said, flush=True)
    return 1 if astray else 0


if __name__ == "__main__":
    sys.exit(main())
