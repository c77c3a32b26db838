"""Lines of Plumbline on automatic axes of JAX, with numpy and JAX's public interface alone: which are wrong, and whether the devices
that are have the right blocks of others.

    grep einsum FILE | python lines.py [shardy|gspmd]

A line is a reshard, an einsum or a grouped product, its operands small integers; jit is told where operands and result lie, and
with_sharding_constraint what a chain passes. Every shard must equal numpy's, exactly.
"""

import collections
import math
import os
import re
import sys

os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=20"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
from jax.lax import RaggedDotDimensionNumbers as Ragged
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

DTYPES = {"s8": jnp.int8, "s32": jnp.int32, "f16": jnp.float16, "bf16": jnp.bfloat16, "f32": jnp.float32}
FORMS = {"fwd": Ragged((([1], [1]), ([], [])), [0], [0]), "dgrad": Ragged((([1], [2]), ([], [])), [0], [0]),
         "wgrad": Ragged((([0], [0]), ([], [])), [0], [])}


def array(word, mesh):
    """f32[8,8@x.y] as its shape, its dtype and its sharding."""
    dtype, dims = re.fullmatch(r"(\w+)\[(.*)\]", word).groups()
    sizes, _, axes = zip(*(dim.partition("@") for dim in dims.split(",")))
    return tuple(map(int, sizes)), DTYPES[dtype], NamedSharding(mesh, P(*(tuple(a.split(".")) if a else None for a in axes)))


def product(words, wanted):
    """(the function of JAX, that of numpy, the words left over)."""
    if words[0] == "reshard":
        return lambda x: x, lambda x: x, words[1:]
    if words[0] == "einsum":
        return lambda x, y: jnp.einsum(words[1], x, y, preferred_element_type=wanted), lambda x, y: np.einsum(words[1], x, y), words[2:]
    form = words[1]
    sizes = [int(n) for n in next(word for word in words if word.startswith("sizes="))[6:].split(",")]
    ends = np.cumsum(sizes)
    groups = list(enumerate(zip(ends - sizes, ends)))

    def by_numpy(x, y):
        if form == "wgrad":
            return np.stack([x[a:b].T @ y[a:b] for _, (a, b) in groups])
        return np.concatenate([x[a:b] @ (y[g] if form == "fwd" else y[g].T) for g, (a, b) in groups])

    by_jax = lambda x, y: jax.lax.ragged_dot_general(x, y, jnp.array(sizes, jnp.int32), FORMS[form], preferred_element_type=wanted)
    return by_jax, by_numpy, [word for word in words[2:] if not word.startswith("sizes=")]


def judge(line, random):
    """How many devices are wrong, and how many of these have the right block of another."""
    axes, rest = re.fullmatch(r"on (\S+): (.*)", line).groups()
    names, sizes = zip(*(axis.split("=") for axis in axes.split(",")))
    sizes = tuple(map(int, sizes))
    mesh = Mesh(np.array(jax.devices()[:math.prod(sizes)]).reshape(sizes), names)
    before, *chain = rest.split(" -> ")
    chain = [array(word, mesh) for word in chain]
    by_jax, by_numpy, operands = product(before.split(), chain[0][1])
    operands = [array(word, mesh) for word in operands]

    def function(*arrays):
        y = by_jax(*arrays)
        for _, _, sharding in chain[:-1]:
            y = jax.lax.with_sharding_constraint(y, sharding)
        return y

    values = [random.integers(-8, 8, shape) for shape, _, _ in operands]
    place = [sharding for _, _, sharding in operands]
    got = jax.jit(function, in_shardings=place, out_shardings=chain[-1][2])(
        *(jax.device_put(np.asarray(v).astype(dtype), s) for v, (_, dtype, s) in zip(values, operands)))
    want = by_numpy(*values)
    same = lambda s, index: np.array_equal(np.asarray(s.data).astype(np.float64), want[index])
    wrong = [s for s in got.addressable_shards if not same(s, s.index)]
    others = [s for s in wrong if any(same(s, o.index) for o in got.addressable_shards if o.index != s.index)]
    return len(wrong), len(others)


def main():
    partitioner = sys.argv[1] if len(sys.argv) > 1 else "shardy"
    if partitioner == "shardy" or hasattr(jax.config, "jax_use_shardy_partitioner"):  # older releases have GSPMD alone
        jax.config.update("jax_use_shardy_partitioner", partitioner == "shardy")
    random, counted = np.random.default_rng(0), collections.Counter()
    for line in sys.stdin.read().splitlines():
        wrong, others = judge(line, random)
        kind = "right" if not wrong else "wrong, each device with another's right block" if others == wrong else "wrong otherwise"
        counted[kind] += 1
        print(f"{line}: {kind}{f' (devices {wrong}, {others})' * (wrong > 0)}", flush=True)
    print(f"jax {jax.__version__}, {partitioner}: " + "; ".join(f"{n} {kind}" for kind, n in sorted(counted.items())))
    return 1 if set(counted) - {"right"} else 0


if __name__ == "__main__":
    sys.exit(main())
