"""What JAX does not do. A case that a row covers is `unsupported`, decided before JAX sees the case.

A row holds only where this release refuses the row's probe, a small case of its kind, in the words that the row
expects: a limit that a release lifts is gone by itself. `python worker.py --probe` shows every refusal.
"""

import dataclasses
from typing import Callable

import collective


@dataclasses.dataclass
class Row:
    name: str
    reason: str
    holds: Callable  # case -> bool
    styles: tuple
    says: str  # what the framework answers to the probe: a regular expression; "" where the limit is our own
    probe: dict | None = None
    partitioners: tuple = ("shardy", "gspmd")
    grad: str = ""  # the row is only for products that are gradients, by any operand ("any") or by this one


def uneven(case, specs):
    return any(n % case.ways(axes) for s in specs if not s.free for n, axes in zip(s.shape, s.split))


def contracted(case):
    """The splits of the contracted dimensions, in each operand."""
    left, right = case.operands
    letters = [c for c in case.lhs if c in case.rhs and c not in case.out]
    return [(left.split[case.lhs.index(c)], right.split[case.rhs.index(c)]) for c in letters]


def sums_into_unfinished(case):
    return case.op == "einsum" and bool(case.chain[0].unfinished)


def split_differently(case):
    return sums_into_unfinished(case) and any(a != b for a, b in contracted(case))


def other_axes(case):
    if not sums_into_unfinished(case) or split_differently(case):
        return False
    return {axis for a, _ in contracted(case) for axis in a} != set(case.chain[0].unfinished)


def unfinished_type(case):
    """Whether a value inside the program, not an argument of it, is unfinished."""
    return any(s.unfinished for s in case.chain)


def _reshard(*specs):
    return {"mesh": {"axes": [["x", 2], ["y", 2]]}, "op": "reshard", "operands": specs[:1], "chain": specs[1:]}


def _product(left, right, *chain):
    return {"mesh": {"axes": [["x", 2], ["y", 2]]}, "op": "einsum", "lhs": "mk", "rhs": "kn", "out": "mn",
            "operands": [left, right], "chain": chain}


def _grouped(x, w, y, sizes, form="fwd"):
    return {"mesh": {"axes": [["x", 2], ["y", 2]]}, "op": "grouped", "form": form, "sizes": sizes,
            "operands": [x, w], "chain": [y]}


EVERY = ("auto", "explicit", "shard_map")

ROWS = [
    Row("no gradient of a reshard", "grad= is for products", lambda c: c.op == "reshard", EVERY, "", grad="any"),
    Row("no gradient of a block", "style=shard_map takes single collectives", lambda c: True, ("shard_map",), "",
        grad="any"),
    Row("no gradient of integers", "integers have no gradient",
        lambda c: any(s.dtype in ("s8", "s32") for s in c.operands), ("auto", "explicit"), "", grad="any"),
    Row("not a single collective", "style=shard_map takes single collectives", lambda c: not collective.find(c),
        ("shard_map",), ""),
    Row("unfinished sum on automatic axes", "an unfinished sum needs explicit axes",
        lambda c: any(s.unfinished for s in c.specs), ("auto",),
        r"Unreduced axes can only refer to mesh axes", _reshard("f32[4]+x", "f32[4]")),
    Row("uneven argument", "uneven split of an argument", lambda c: uneven(c, c.operands), EVERY,
        r"evenly divi|be divisible", _reshard("f32[5@x]", "f32[5]")),
    Row("uneven result", "uneven split of a result", lambda c: uneven(c, c.chain[-1:]), ("auto", "explicit"),
        r"evenly divi|be divisible", _reshard("f32[5]", "f32[5@x]")),
    Row("uneven scatter", "uneven split of a result", lambda c: uneven(c, c.chain[-1:]), ("shard_map",),
        r"divisible", _reshard("f32[5]+x", "f32[5@x]")),
    Row("uneven type", "uneven split between explicit axes", lambda c: uneven(c, c.chain), ("explicit",),
        r"evenly divide", _reshard("f32[5]", "f32[5@x]", "f32[5]")),
    Row("unfinished operand of a product", "a product of an unfinished sum",
        lambda c: c.op != "reshard" and any(s.unfinished for s in c.operands), ("explicit",),
        r"unreduced", _product("f32[4,4]+x", "f32[4,4]", "f32[4,4]")),
    Row("grouped product on explicit axes", "no sharding rule for ragged_dot on explicit axes",
        lambda c: c.op == "grouped", ("explicit",),
        r"out_sharding", _grouped("f32[4,4]", "f32[2,4,4]", "f32[4,4]", [[1, 3]])),
    Row("operands split differently", "an unfinished product whose operands split the contracted dimension differently",
        split_differently, ("explicit",), r"contracting dims should be sharded identically",
        _product("f32[4,4@x]", "f32[4,4]", "f32[4,4]+x")),
    Row("unfinished over other axes", "a product unfinished over other axes than the contracted dimension's",
        other_axes, ("explicit",), r"unreduced axes should be equal to the contracting specs",
        _product("f32[4,4@x.y]", "f32[4@x.y,4]", "f32[4,4]+x")),
    Row("free result of a split contraction",
        "explicit axes leave no layout free where the contracted dimension is split",
        lambda c: c.op == "einsum" and c.chain[0].free and any(a or b for a, b in contracted(c)), ("explicit",),
        r"ambiguous how the output should be sharded", _product("f32[4,4@x]", "f32[4@x,4]", "f32[4,4]?")),
    Row("free result of a grouped product", "explicit axes leave no layout of ragged_dot free",
        lambda c: c.op == "grouped" and c.chain[0].free, ("explicit",),
        r"Please specify out_sharding|sharding rule for ragged_dot_general is not implemented",
        _grouped("f32[4@x,4]", "f32[2,4,4]", "f32[4,4]?", [[1, 3]])),
    Row("unreduced needs Shardy", "an unfinished value inside a program needs Shardy", unfinished_type, ("explicit",),
        r"Expected last op to be sdy", _reshard("f32[4]", "f32[4]+x"), partitioners=("gspmd",)),
    Row("gradient of a ragged contraction",
        "ragged_dot_general has no gradient of a product that contracts ragged rows",
        lambda c: c.op == "grouped" and c.form != "wgrad", ("auto",),
        r"Unimplemented grad_._dims for ragged dot general",
        _grouped("f32[4,4]", "f32[2,4,4]", "f32[4,4]", [[1, 3]]), grad="rhs"),
    Row("sizes by row block", "ragged_dot takes one list of sizes",
        lambda c: c.op == "grouped" and len(c.group_sizes) > 1, ("auto", "explicit"), r"group_sizes|out_sharding",
        _grouped("f32[4,4]", "f32[2,4,4]", "f32[4,4]", [[1, 1], [1, 1]])),
]


def rows(style, partitioner, grad=None):
    return [r for r in ROWS if style in r.styles and partitioner in r.partitioners and
            r.grad in ("", grad and "any", grad)]
