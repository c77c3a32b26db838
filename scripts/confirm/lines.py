"""Lines of Plumbline on automatic axes of JAX, with numpy and JAX's public interface alone: which are wrong, and as if what.

    grep einsum FILE | python lines.py [shardy|gspmd]
    python lines.py shardy suites/smallest.cases      the lines of a file of this repository

A line is a reshard, an einsum or a grouped product, its operands small integers; jit is told where operands and result lie, and
with_sharding_constraint what a chain passes. Every shard must equal numpy's, exactly. Of a product that is wrong each dimension of an
operand is tried over other axes than those that the product was formed by: where that is what every device has, exactly, it is said.
"""

import collections
import functools
import itertools
import math
import os
import pathlib
import re
import subprocess
import sys

os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=20"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

DTYPES = {"s8": jnp.int8, "s32": jnp.int32, "f16": jnp.float16, "bf16": jnp.bfloat16, "f32": jnp.float32}
FORMS = {"dgrad": ((([1], [2]), ([], [])), [0], [0]), "wgrad": ((([0], [0]), ([], [])), [0], [])}
# A grouped product as an einsum of its operands and, between them, of which rows are in which group
LETTERS = {"fwd": "tk,tg,gkn->tn", "dgrad": "tn,tg,gkn->tk", "wgrad": "tk,tg,tn->gkn"}
SAID = "judged: "  # a process may print besides
NAMES = {1: ["whole"], 2: ["left", "right"], 3: ["left", "groups", "right"]}


def array(word, mesh):
    """f32[8,8@x.y] as its shape, its dtype and its sharding."""
    dtype, dims = re.fullmatch(r"(\w+)\[(.*)\]", word).groups()
    sizes, _, axes = zip(*(dim.partition("@") for dim in dims.split(",")))
    return tuple(map(int, sizes)), DTYPES[dtype], NamedSharding(mesh, P(*(tuple(a.split(".")) if a else None for a in axes)))


def product(words, wanted):
    """(the function of JAX; letters of an einsum and what makes its operands, by numpy; the words left over)."""
    if words[0] == "reshard":
        return lambda x: x, "", lambda x: [x], words[1:]
    if words[0] == "einsum":
        return lambda x, y: jnp.einsum(words[1], x, y, preferred_element_type=wanted), words[1], lambda x, y: [x, y], words[2:]
    form = words[1]
    sizes = [int(n) for n in next(word for word in words if word.startswith("sizes="))[6:].split(",")]
    groups = np.repeat(np.eye(len(sizes)), sizes, axis=0)
    apart = lambda x, y: [x, groups, y]
    sizes = np.array(sizes, np.int32)

    def by_jax(x, y):
        if form == "fwd":
            return jax.lax.ragged_dot(x, y, sizes, preferred_element_type=wanted)
        return jax.lax.ragged_dot_general(x, y, sizes, jax.lax.RaggedDotDimensionNumbers(*FORMS[form]), preferred_element_type=wanted)

    return by_jax, LETTERS[form], apart, [word for word in words[2:] if not word.startswith("sizes=")]


class Laid:
    """A mesh and the blocks of its devices, in its order; over which axes each operand of the line has its letters."""

    def __init__(self, axes, extents, operands):
        self.axes, self.extents, self.operands, self.n = axes, extents, operands, math.prod(axes.values())
        self.at = [dict(zip(axes, at)) for at in itertools.product(*map(range, axes.values()))]

    def parts(self, over):
        return math.prod(self.axes[axis] for axis in over)

    @functools.lru_cache(None)
    def block(self, letter, over, device):
        """(begin, end) of a device's block of a dimension that lies over some axes."""
        size, at = self.extents[letter] // self.parts(over), 0
        for axis in over:
            at = at * self.axes[axis] + self.at[device][axis]
        return at * size, at * size + size

    def claims(self):
        """Each way to lay a product's letters over axes, the fewest axes first."""
        ways = []
        for where in itertools.product(["", *self.extents], repeat=len(self.axes)):
            over = [list(itertools.permutations(a for a, w in zip(self.axes, where) if w == letter)) for letter in self.extents]
            ways += [dict(zip(self.extents, orders)) for orders in itertools.product(*over)]
        return sorted((w for w in ways if all(n % self.parts(w[l]) == 0 for l, n in self.extents.items())), key=lambda w: sum(map(len, w.values())))


def formed(laid, letters, operands, claim, astray):
    """What the devices make of a product formed by a claim, where the operands `astray[0]` have dimension `astray[1]` over the axes
    `astray[2]`: a function of the device."""
    terms, result = letters.split("->")[0].split(","), letters.split("->")[1]
    summed = {axis for letter in claim if letter not in result for axis in claim[letter]}
    over = lambda side, letter: astray[2] if letter == astray[1] and side in astray[0] else claim[letter]

    def part(device):
        held = [x[tuple(slice(*laid.block(l, over(side, l), device)) for l in term)] for side, (x, term) in enumerate(zip(operands, terms))]
        return np.einsum(letters, *held, optimize=True)

    @functools.lru_cache(None)
    def finished(at):
        return sum(part(d) for d in range(laid.n) if all(axis in summed or laid.at[d][axis] == i for axis, i in at))

    return lambda device: finished(tuple((axis, i) for axis, i in laid.at[device].items() if axis not in summed))


def explains(laid, letters, operands, claim, astray, shards):
    """Whether each device has what such a product leaves, gathered from the devices that lie as it does along all other axes."""
    result = letters.split("->")[1]
    made, claimed = formed(laid, letters, operands, claim, astray), {axis for over in claim.values() for axis in over}
    for device, (region, held) in enumerate(shards):
        for other in range(laid.n):
            if any(laid.at[other][axis] != i for axis, i in laid.at[device].items() if axis not in claimed):
                continue
            block = [laid.block(l, claim[l], other) for l in result]
            cut = [(max(a, c), min(b, d)) for (a, b), (c, d) in zip(region, block)]
            within = lambda of: tuple(slice(a - begin, b - begin) for (a, b), (begin, _) in zip(cut, of))
            if all(a < b for a, b in cut) and not np.array_equal(held[within(region)], made(other)[within(block)]):
                return False
    return True


def as_if(laid, letters, operands, shards):
    """What explains every device of a wrong product, in words."""
    terms, orders = letters.split("->")[0].split(","), [p for n in range(1, 1 + len(laid.axes)) for p in itertools.permutations(laid.axes, n)]
    for same, own in ((True, False), (False, True), (False, False)):  # the same axes in another order, then those that the line says
        for claim, letter, over in itertools.product(laid.claims(), laid.extents, orders):
            if over == claim[letter] or laid.parts(over) != laid.parts(claim[letter]) or same != (set(over) == set(claim[letter])):
                continue
            sides = [side for side, term in enumerate(terms) if letter in term]
            kept = letter in letters.split("->")[1]
            for some in (some for n in range(1, len(sides) + kept) for some in itertools.combinations(sides, n)):
                said = any(laid.operands[side].get(letter) == over for side in some)
                if (said or not own) and explains(laid, letters, operands, claim, (some, letter, over), shards):
                    of = " and ".join(NAMES[len(terms)][side] for side in some)
                    name = f"{letter} of {of}, over {'.'.join(over)}, as if over {'.'.join(claim[letter])}"
                    return f"{'axes in another order' if same else 'another axis, kept' if kept else 'another axis, contracted'} ({name})"
    return "unexplained"


def judge(line, random):
    """What a line is in a few words."""
    axes, rest = re.fullmatch(r"on (\S+): (.*)", line).groups()
    axes = {name: int(size) for name, size in (axis.split("=") for axis in axes.split(","))}
    mesh = Mesh(np.array(jax.devices()[:math.prod(axes.values())]).reshape(tuple(axes.values())), tuple(axes))
    before, *chain = rest.split(" -> ")
    chain = [array(word, mesh) for word in chain]
    by_jax, letters, apart, operands = product(before.split(), chain[0][1])
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
    values = [v.astype(np.float64) for v in apart(*values)]
    want = np.einsum(letters, *values) if letters else values[0]
    of = {s.device: ([part.indices(n)[:2] for part, n in zip(s.index, want.shape)], np.asarray(s.data).astype(np.float64)) for s in got.addressable_shards}
    shards = [of[device] for device in mesh.devices.flat]
    wrong = sum(not np.array_equal(held, want[tuple(slice(*part) for part in region)]) for region, held in shards)
    if not wrong or not letters:
        return f"wrong on {wrong} devices" if wrong else "right"
    terms, layouts = letters.split("->")[0].split(","), [[tuple(dim or ()) for dim in s.spec] for _, _, s in operands]
    laid = Laid(axes, {l: n for term, v in zip(terms, values) for l, n in zip(term, v.shape)},
                [dict(zip(term, of)) for term, of in zip(terms, [layouts[0], *[[]] * (len(terms) - 2), layouts[-1]])])
    return f"wrong on {wrong} devices: {as_if(laid, letters, values, shards)}"


def judged(partitioner):
    """Each line of standard input, in this process."""
    if partitioner == "shardy" or hasattr(jax.config, "jax_use_shardy_partitioner"):  # older releases have GSPMD alone
        jax.config.update("jax_use_shardy_partitioner", partitioner == "shardy")
    random = np.random.default_rng(0)
    for line in sys.stdin.read().splitlines():
        print(SAID + judge(line, random), flush=True)


def main():
    partitioner = sys.argv[1] if len(sys.argv) > 1 else "shardy"
    if sys.argv[2:] == ["-"]:
        return judged(partitioner)
    text = (pathlib.Path(__file__).parents[2] / sys.argv[2]).read_text() if len(sys.argv) > 2 else sys.stdin.read()
    lines, counted = [line for line in text.splitlines() if line.startswith("on ")], collections.Counter()
    while lines:  # a process for as many as it bears: some abort it
        ran = subprocess.run([sys.executable, "-I", __file__, partitioner, "-"], input="\n".join(lines), capture_output=True, text=True)
        told = [line.removeprefix(SAID) for line in ran.stdout.splitlines() if line.startswith(SAID)]
        if len(told) < len(lines):
            fatal = [line.split("] ")[-1] for line in ran.stderr.splitlines() if "Check failed" in line or "Error" in line]
            told.append(f"ended with {ran.returncode}: {(fatal or ['?'])[-1]}")
        for line, said in zip(lines, told):
            counted[re.sub(r" on \d+ devices| \(.*|(?<=ended) with.*", "", said)] += 1
            print(f"{line}: {said}", flush=True)
        lines = lines[len(told):]
    print(f"jax {jax.__version__}, {partitioner}: " + "; ".join(f"{n} {kind}" for kind, n in sorted(counted.items())))
    return 1 if set(counted) - {"right"} else 0


if __name__ == "__main__":
    sys.exit(main())
