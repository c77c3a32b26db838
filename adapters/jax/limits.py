"""What JAX does not do. A case that a row covers is `unsupported`, decided before JAX sees the case.

A row holds only where this release refuses the row's probe, a small case of its kind, in the words that the row
expects: a limit that a release lifts is gone by itself. `python worker.py --probe` shows every refusal.
"""

import dataclasses

import ml_dtypes

import by_hand
import collective
import layout
from plumb_worker import limits


EVERY = ("auto", "explicit", "shard_map")
ROUTES = ("out", "inside", "uncommitted", "donate", "shard_map")  # the first is that of every style


@dataclasses.dataclass
class Row(limits.Row):
    styles: tuple = EVERY
    partitioners: tuple = ("shardy", "gspmd")
    routes: tuple = ROUTES
    grad: str = ""  # the row is only for products that are gradients, by any operand ("any") or by this one


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


def narrowed(case, fed):
    """Whether the gradient is formed in a type that lacks bits or range of the wanted one: `_dot_general_transpose_lhs`
    asks for the type of the product's result, which is that of the operand that is fed, and converts what it got."""
    formed, wanted = (ml_dtypes.finfo(layout.DTYPES[spec.dtype]) for spec in (case.operands[fed], case.chain[0]))
    return formed.nmant < wanted.nmant or formed.maxexp < wanted.maxexp


def nothing_by_hand(case):
    return case.op != "einsum" or case.chain[0].free or not any(by_hand.axes(case).values())


def _reshard(*specs):
    return {"mesh": {"axes": [["x", 2], ["y", 2]]}, "op": "reshard", "operands": specs[:1], "chain": specs[1:]}


def _product(left, right, *chain):
    return {"mesh": {"axes": [["x", 2], ["y", 2]]}, "op": "einsum", "lhs": "mk", "rhs": "kn", "out": "mn",
            "operands": [left, right], "chain": chain}


def _grouped(x, w, y, sizes, form="fwd"):
    return {"mesh": {"axes": [["x", 2], ["y", 2]]}, "op": "grouped", "form": form, "sizes": sizes,
            "operands": [x, w], "chain": [y]}


ROWS = [
    Row("route of another style", "route= is for automatic axes", lambda c: True, styles=("explicit", "shard_map"),
        routes=ROUTES[1:]),
    Row("no gradient of a reshard", "grad= is for products", lambda c: c.op == "reshard", grad="any"),
    Row("no gradient of a block", "style=shard_map takes single collectives", lambda c: True, styles=("shard_map",),
        grad="any"),
    Row("no gradient of integers", "integers have no gradient",
        lambda c: any(s.dtype in ("s8", "s32") for s in c.operands), styles=("auto", "explicit"), grad="any"),
    Row("narrowed gradient of the left", "a gradient is formed in the narrower type of its cotangent",
        lambda c: narrowed(c, 0), styles=("auto", "explicit"), grad="lhs"),
    Row("narrowed gradient of the right", "a gradient is formed in the narrower type of its cotangent",
        lambda c: narrowed(c, 1), styles=("auto", "explicit"), grad="rhs"),
    Row("not a single collective", "style=shard_map takes single collectives", lambda c: not collective.find(c),
        styles=("shard_map",)),
    Row("unfinished sum on automatic axes", "an unfinished sum needs explicit axes",
        lambda c: any(s.unfinished for s in c.specs),
        r"Unreduced axes can only refer to mesh axes", _reshard("f32[4]+x", "f32[4]"), ("auto",)),
    Row("nothing by hand", "route=shard_map is for products with an axis of which nothing but a sum moves", nothing_by_hand,
        styles=("auto",), routes=("shard_map",)),
    Row("uneven argument", "uneven split of an argument", lambda c: c.uneven(c.operands),
        r"evenly divi|be divisible", _reshard("f32[5@x]", "f32[5]")),
    Row("uneven result", "uneven split of a result", lambda c: c.uneven(c.chain[-1:]),
        r"evenly divi|be divisible", _reshard("f32[5]", "f32[5@x]"), ("auto", "explicit")),
    Row("uneven result of a constraint", "an uneven result of a constraint comes out whole",  # with_sharding_constraint says so
        lambda c: c.uneven(c.chain[-1:]), styles=("auto",), routes=("inside", "uncommitted")),
    Row("uneven scatter", "uneven split of a result", lambda c: c.uneven(c.chain[-1:]),
        r"divisible", _reshard("f32[5]+x", "f32[5@x]"), ("shard_map",)),
    Row("uneven type", "uneven split between explicit axes", lambda c: c.uneven(c.chain),
        r"evenly divide", _reshard("f32[5]", "f32[5@x]", "f32[5]"), ("explicit",)),
    Row("unfinished operand of a product", "a product of an unfinished sum",
        lambda c: c.op != "reshard" and any(s.unfinished for s in c.operands),
        r"unreduced", _product("f32[4,4]+x", "f32[4,4]", "f32[4,4]"), ("explicit",)),
    Row("grouped product on explicit axes", "no sharding rule for ragged_dot on explicit axes",
        lambda c: c.op == "grouped",
        r"out_sharding", _grouped("f32[4,4]", "f32[2,4,4]", "f32[4,4]", [[1, 3]]), ("explicit",)),
    Row("operands split differently", "an unfinished product whose operands split the contracted dimension differently",
        split_differently, r"contracting dims should be sharded identically",
        _product("f32[4,4@x]", "f32[4,4]", "f32[4,4]+x"), ("explicit",)),
    Row("unfinished over other axes", "a product unfinished over other axes than the contracted dimension's",
        other_axes, r"unreduced axes should be equal to the contracting specs",
        _product("f32[4,4@x.y]", "f32[4@x.y,4]", "f32[4,4]+x"), ("explicit",)),
    Row("free result of a split contraction",
        "explicit axes leave no layout free where the contracted dimension is split",
        lambda c: c.op == "einsum" and c.chain[0].free and any(a or b for a, b in contracted(c)),
        r"ambiguous how the output should be sharded", _product("f32[4,4@x]", "f32[4@x,4]", "f32[4,4]?"),
        ("explicit",)),
    Row("free result of a grouped product", "explicit axes leave no layout of ragged_dot free",
        lambda c: c.op == "grouped" and c.chain[0].free,
        r"Please specify out_sharding|sharding rule for ragged_dot_general is not implemented",
        _grouped("f32[4@x,4]", "f32[2,4,4]", "f32[4,4]?", [[1, 3]]), ("explicit",)),
    Row("unreduced needs Shardy", "an unfinished value inside a program needs Shardy", unfinished_type,
        r"Expected last op to be sdy", _reshard("f32[4]", "f32[4]+x"), ("explicit",), partitioners=("gspmd",)),
    Row("gradient of a ragged contraction",
        "ragged_dot_general has no gradient of a product that contracts ragged rows",
        lambda c: c.op == "grouped" and c.form != "wgrad", r"Unimplemented grad_._dims for ragged dot general",
        _grouped("f32[4,4]", "f32[2,4,4]", "f32[4,4]", [[1, 3]]), ("auto",), grad="rhs"),
    Row("sizes by row block", "ragged_dot takes one list of sizes",
        lambda c: c.op == "grouped" and len(c.group_sizes) > 1, r"group_sizes|out_sharding",
        _grouped("f32[4,4]", "f32[2,4,4]", "f32[4,4]", [[1, 1], [1, 1]]), ("auto", "explicit"),
        routes=tuple(route for route in ROUTES if route != "shard_map")),  # nothing is by hand there
]


def rows(options):
    style, partitioner, grad = options["style"], options["partitioner"], options.get("grad")
    if options["route"] != "out" and style != "auto":
        return ROWS[:1]
    return [r for r in ROWS if style in r.styles and partitioner in r.partitioners and
            options["route"] in r.routes and r.grad in ("", grad and "any", grad)]
