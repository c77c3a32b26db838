"""What DTensor does not do. A case that a row covers is `unsupported`, decided before torch sees the case.

A row holds only where this release refuses the row's probe, a small case of its kind, in the words that the row
expects: a limit that a release lifts is gone by itself. Rows without a probe are limits of an option, by what the
option means. `python worker.py --probe` shows every refusal.
"""

import dataclasses
import functools
import itertools
import math

import fsdp
import grouped
import layout
from plumb_worker import limits

XY = {"axes": [["x", 2], ["y", 2]]}
EVERY = ("gloo", "local", "nccl")


@dataclasses.dataclass
class Row(limits.Row):
    """`holds` takes the case and the options."""

    options: dict = dataclasses.field(default_factory=dict)  # the row is of these alone, and its probe runs with them
    engines: tuple = EVERY


def steps(case):
    """(layout before, after) for each step of a chain of reshards."""
    specs = case.operands + case.chain if case.op == "reshard" else case.chain
    return list(zip(specs, specs[1:]))


def turns(case):
    """(how an axis is used before, after) for each step of a chain of reshards and each axis."""
    return [(use(before, axis), use(after, axis))
            for before, after in steps(case) if not after.free for axis in case.axes]


def split_to(case, reduction):
    """Whether an axis that splits comes to leave parts which this reduction makes: sum, avg, max, min."""
    return any(use(before, axis) == "split" and axis in after.unfinished
               and reduction == ("avg" if axis in after.averaged else after.reduction)
               for before, after in steps(case) for axis in case.axes)


def use(spec, axis):
    if axis in spec.unfinished:
        return "unfinished"
    return "split" if any(axis in split for split in spec.split) else "replicated"


def strided(case, spec, axis):
    """Whether an axis splits a dimension after one that comes later in the mesh: torch says so by a split factor."""
    for split in spec.split:
        if axis in split:
            before = split[: split.index(axis)]
            return any(case.axes.index(b) > case.axes.index(axis) and case.ways((b,)) > 1 for b in before)
    return False


def strided_to_unfinished(case):
    return any(strided(case, b, axis) and axis in c.unfinished for b, c in steps(case) for axis in case.axes)


def chunks(items, ways):
    """torch.chunk, with the empty ones."""
    width = -(-len(items) // ways)
    return [items[i * width : (i + 1) * width] for i in range(ways)]


@functools.lru_cache(maxsize=4096)
def says_otherwise(size, ways, order):
    """Whether split factors cut a dimension otherwise than its axes one after the other do. `ways` are the sizes of the
    axes that split it, in the order of the mesh; `order` lists them, major to minor. A factor cuts what is left of the
    dimension into as many chunks as the earlier axes that come later in the mesh have pieces, and each of them in turn:

        5 over 2,2 in the order 1,0    0,1 3 | 2 | 4            as one after the other
        5 over 2,2,2 in the order 1,2,0    4 chunks of 2,2,1,0: the third begins at 4; one after the other at 3
    """
    if size % math.prod(ways) == 0:
        return False
    factor = {a: math.prod(ways[b] for b in order[:i] if b > a) for i, a in enumerate(order)}
    for at in itertools.product(*map(range, ways)):
        wanted = said = range(size)
        for a in order:
            wanted = chunks(wanted, ways[a])[at[a]]
        for a in range(len(ways)):
            said = [i for chunk in chunks(said, factor[a]) for i in chunks(chunk, ways[a])[at[a]]]
        if list(wanted) != list(said):
            return True
    return False


def unsayable(case):
    """Whether some result is uneven over axes in an order that split factors do not give."""
    sizes = dict(zip(case.axes, case.sizes))
    for spec in case.chain:
        for size, split in zip(spec.shape, spec.split):
            place = sorted(split, key=case.axes.index)
            if says_otherwise(size, tuple(sizes[a] for a in place), tuple(place.index(a) for a in split)):
                return True
    return False


def mixed(case):
    return case.op != "reshard" and len({s.dtype for s in case.specs}) > 1


def contracted(case):
    """The contracted dimensions of each operand of a product."""
    if case.op == "grouped":
        return [(d,) for d in grouped.CONTRACTED[case.form]]
    inner = {letter for letter in case.lhs if letter in case.rhs and letter not in case.out}
    return [[d for d, letter in enumerate(letters) if letter in inner] for letters in (case.lhs, case.rhs)]


def left_over(case):
    """The axes over which the first result of a product is to be unfinished, and no operand is."""
    if case.op == "reshard":
        return set()
    return set(case.chain[0].unfinished) - {axis for s in case.operands for axis in s.unfinished}


def other_axes(case):
    """Whether the first result of a product is to be unfinished over axes that split no contracted dimension."""
    return bool(left_over(case)) and not left_over(case) <= {
        axis for dims, s in zip(contracted(case), case.operands) for d in dims for axis in s.split[d]}


def is_wgrad(case):
    return case.op == "grouped" and case.form == "wgrad"


def other_rows(case, options):
    """Whether the rows of a matrix that grouped_mm is to take, or its gradient, are no multiples of 16 bytes."""
    taken = [*case.operands, *(case.chain[:1] if options.get("grad") else ())]
    return case.op == "grouped" and any(s.shape[-1] * layout.DTYPES[s.dtype].itemsize % 16 for s in taken)


def is_mm(case):
    l, r, o = case.lhs, case.rhs, case.out
    return len(l) == len(r) == 2 and l[1] == r[0] and o == l[0] + r[1]


def is_bmm(case):
    l, r, o = case.lhs, case.rhs, case.out
    return len(l) == len(r) == 3 and l[0] == r[0] and l[2] == r[1] and o == l[:2] + r[2]


def is_linear(case):
    l, r, o = case.lhs, case.rhs, case.out
    return len(r) == 2 and len(l) > 1 and l[-1] == r[1] and o == l[:-1] + r[0]


NARROW = ("f8e4m3", "f8e5m2", "e8m0")


def narrow(case):
    return any(s.dtype in NARROW for s in case.specs)


def communicates(case):
    """Whether some axis ceases to split a dimension where it did, after the axes that it did, or to be unfinished."""
    place = lambda s, a: next(((d, split[:split.index(a)]) for d, split in enumerate(s.split) if a in split), use(s, a))
    specs = case.operands + case.chain
    return any(place(b, a) != place(c, a) and use(b, a) != "replicated"
               for b, c in zip(specs, specs[1:]) for a in case.axes)


def turned(case):
    """Whether a program's axes stand in another order than those of the mesh of which they are."""
    return case.axes != tuple(a for a in layout.names(case) if a in case.axes)


def whole(spec):
    return not spec.unfinished and not any(spec.split)


def _reshard(*specs, **more):
    return {"mesh": XY, "op": "reshard", "operands": specs[:1], "chain": specs[1:], **more}


def _product(left, right, *chain):
    return {"mesh": XY, "op": "einsum", "lhs": "mk", "rhs": "kn", "out": "mn",
            "operands": [left, right], "chain": chain}


def _grouped(form, left, right, out):
    return {"mesh": XY, "op": "grouped", "form": form, "sizes": [[3, 1]], "operands": [left, right], "chain": [out]}


UNFINISHED = [("sum", "sum", "f32[4]+x"), ("avg", "mean", "f32[4]+avg(x)"), ("max", "maximum", "f32[4]+max(x)"),
              ("min", "minimum", "f32[4]+min(x)")]

ROWS = [
    Row("flatten names another axis", "a flattened submesh of axes that the mesh lacks",
        lambda c, o: {a for s in layout.flattened_sets(layout.names(c), o["flatten"]) for a in s} - {*layout.names(c)}),
    Row("turned slice", "a slice of the mesh with its axes in another order", lambda c, o: turned(c), "ascending order",
        _reshard("f32[4@x]", "f32[4]", mesh={"axes": XY["axes"][::-1]}, parent=XY)),
    Row("uneven in another order", "an uneven dimension in an order of axes that split factors do not give",
        lambda c, o: unsayable(c)),
    Row("op=mm", "op=mm takes mk,kn->mn", lambda c, o: c.op == "einsum" and not is_mm(c), options={"op": "mm"}),
    Row("op=bmm", "op=bmm takes bmk,bkn->bmn", lambda c, o: c.op == "einsum" and not is_bmm(c), options={"op": "bmm"}),
    Row("op=linear", "op=linear takes ...k,nk->...n", lambda c, o: c.op == "einsum" and not is_linear(c),
        options={"op": "linear"}),
    Row("grad needs einsum", "grad= takes the gradient of an einsum",
        lambda c, o: c.op == "einsum" and bool(o.get("grad")) and o["op"] != "einsum"),
    Row("grad of a reshard", "grad= takes the gradient of a product",
        lambda c, o: bool(o.get("grad")) and c.op == "reshard"),
    Row("op of a grouped product", "op= says how an einsum is written",
        lambda c, o: c.op == "grouped" and o["op"] != "einsum"),
    Row("sizes by row block", "grouped_mm takes one list of sizes",
        lambda c, o: c.op == "grouped" and len(c.group_sizes) > 1),
    Row("grouped product of another dtype", "a grouped product of other dtypes than f32, bf16 and f16",
        lambda c, o: c.op == "grouped" and any(s.dtype not in ("f32", "bf16", "f16") for s in c.operands),
        "Expected mat_a to be|Expected inputs of BF16", _grouped("fwd", "f64[4,8]", "f64[2,8,8]", "f64[4,8]")),
    *[Row(f"grouped product of {dtype}", f"a grouped product of {dtype}",
          lambda c, o, dtype=dtype: c.op == "grouped" and any(s.dtype == dtype for s in c.operands),
          "Expected inputs of BF16", _grouped("fwd", f"{dtype}[4,8]", f"{dtype}[2,8,8]", f"{dtype}[4,8]"))
      for dtype in ("f32", "f16")],
    Row("grouped product of other rows", "a grouped product of rows that are no multiple of 16 bytes",
        lambda c, o: other_rows(c, o), "multiple of 16 bytes", _grouped("fwd", "bf16[4,8]", "bf16[2,8,4]", "bf16[4,4]")),
    Row("unfinished grouped wgrad", "a grouped wgrad left unfinished: torch gathers the rows",
        lambda c, o: is_wgrad(c) and bool(left_over(c)),
        "Can ?not redistribute", _grouped("wgrad", "bf16[16@x,8]", "bf16[16@x,8]", "bf16[2,8,8]+x")),
    Row("compile of a gradient", "compile= takes a program without autograd, in redistribute's words",
        lambda c, o: bool(o.get("compile")) and (bool(o.get("grad")) or o["via"] in ("checkpoint", "fsdp"))),
    Row("via=full_tensor", "full_tensor() gives whole, finished results",
        lambda c, o: not whole(c.result) or c.result.free, options={"via": "full_tensor"}),
    Row("via=distribute", "distribute_tensor() takes a whole array and splits it",
        lambda c, o: c.op != "reshard" or not whole(c.operands[0]), options={"via": "distribute"}),
    Row("via=checkpoint", "a checkpoint holds finished arrays of known layouts",
        lambda c, o: c.op != "reshard" or any(s.unfinished or s.free for s in c.specs), options={"via": "checkpoint"}),
    Row("via=fsdp", "FSDP2 gathers a weight, or scatters its gradient, over the last axis of a dimension",
        lambda c, o: fsdp.step_of(c) is None, options={"via": "fsdp"}),
    Row("via=fsdp of floats", "weights are floats of 16 bits or more",
        lambda c, o: any(s.dtype not in ("f16", "bf16", "f32", "f64") for s in c.specs), options={"via": "fsdp"}),
    Row("via=fsdp of uneven columns", "FSDP2 cuts no other dimension than the first into uneven pieces",
        lambda c, o: fsdp.uneven_columns(c), "does not support uneven sharding", _reshard("f32[4,3@x]", "f32[4,3]"),
        options={"via": "fsdp"}),
    *[Row(f"via={via} on simulated ranks", f"via={via} needs a process for each rank", lambda c, o: True,
          options={"via": via, "engine": "local"}) for via in ("checkpoint", "fsdp")],
    Row("another dtype of the result", "a product has the dtype of its operands",
        lambda c, o: mixed(c) and c.operands[0].dtype == c.operands[1].dtype),
    Row("two dtypes", "a product of two dtypes", lambda c, o: mixed(c) and c.operands[0].dtype != c.operands[1].dtype,
        "same dtype|expected scalar type", _product("f32[4,4]", "bf16[4,4]", "f32[4,4]")),
    Row("replicated to unfinished", "a sum left unfinished of what is replicated",
        lambda c, o: ("replicated", "unfinished") in turns(c),
        "Can ?not redistribute", _reshard("f32[4]", "f32[4]+x")),
    *[Row(f"split to unfinished {reduction}", f"a {word} left unfinished of what is split",
          lambda c, o, reduction=reduction: split_to(c, reduction), "Can ?not redistribute", _reshard("f32[4@x]", left))
      for reduction, word, left in UNFINISHED],
    Row("strided to unfinished", "a sum left unfinished of what is split against the order of the mesh",
        lambda c, o: strided_to_unfinished(c),
        "Can ?not redistribute", _reshard("f32[4@y.x]", "f32[4@y]+x")),
    Row("unfinished over other axes", "a product unfinished over other axes than the contracted dimension's",
        lambda c, o: other_axes(c), "Can ?not redistribute", _product("f32[4,4]", "f32[4,4]", "f32[4,4]+x")),
    Row("narrow floats move", "a collective of 8-bit floats",
        lambda c, o: c.op == "reshard" and narrow(c) and communicates(c) and not any(s.unfinished for s in c.specs),
        "Invalid scalar type", _reshard("f8e4m3[4@x]", "f8e4m3[4]"), engines=("gloo",)),
    Row("narrow floats add up", "a sum of 8-bit floats",
        lambda c, o: c.op == "reshard" and narrow(c) and communicates(c) and any(s.unfinished for s in c.specs),
        "Invalid scalar type|not implemented for 'Float8", _reshard("f8e4m3[4]+x", "f8e4m3[4]")),
    Row("narrow floats multiply", "a product of 8-bit floats", lambda c, o: c.op == "einsum" and narrow(c),
        "not implemented for 'Float8", _product("f8e4m3[4,4]", "f8e4m3[4,4]", "f8e4m3[4,4]")),
]


def table(options, refusal):
    """The rows of a backend's options, as a table of cases."""
    rows = [r for r in ROWS if options["engine"] in r.engines and r.options.items() <= options.items()]
    bound = [dataclasses.replace(r, holds=lambda case, r=r: r.holds(case, options)) for r in rows]
    return limits.Table(bound, refusal, "adapters/torch/README.md")
