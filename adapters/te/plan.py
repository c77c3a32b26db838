"""style=plan: the rule as data. GEMM's partition() is asked where the operands have to lie and where the result will,
and what it returns is traced for the axes that it sums over; nothing is compiled or moved.

The moves between the given and the wanted layout are then no longer the rule's: they are listed at the least that
any program would move.
"""

import functools
import inspect
import math

import jax
import jax.numpy as jnp

import layout
import kernels
from plumb_worker import Result, spec_text

NOTHING = {"transpose_batch_sequence": False, "use_split_accumulator": False, "fuse_bias": False, "fuse_gelu": False,
           "grad": False, "sequence_dim": -1, "is_outer": True}


class Info:
    """What partition() is told of an argument: shape, dtype and sharding."""

    def __init__(self, shape, dtype, sharding=None):
        self.shape, self.dtype, self.sharding, self.ndim = tuple(shape), dtype, sharding, len(shape)
        self.size = math.prod(shape)


@functools.lru_cache
def names_of(function):
    return tuple(inspect.signature(function).parameters)


def asked(te, case, mesh, dims):
    """The arguments of partition(), by name, in any era."""
    gemm = kernels.module()
    rule = gemm.GemmPrimitive
    dtype = layout.DTYPES[case.operands[0].dtype]
    given = dict(zip(("lhs", "rhs"), case.operands))
    infos = []
    for name in names_of(rule.impl):
        if name == "out_dtype":
            break
        if name in given:
            spec = given[name]
            infos.append(Info(spec.shape, dtype, layout.sharding_of(mesh, spec.split)))
        else:
            factor = name in ("alpha", "beta")
            infos.append(Info((1,) if factor else (0,), jnp.float32 if factor or "scale" in name else dtype,
                              layout.sharding_of(mesh, ((),))))
    words = {**NOTHING, "out_dtype": dtype, "contracting_dims": dims, "mesh": mesh, "arg_infos": infos,
             "result_infos": [], "scaling_mode": te.quantize.ScalingMode.NO_SCALING,
             "collective_op": gemm.CollectiveOp.NONE}
    return infos, {name: words[name] for name in names_of(rule.partition)}


def summed_axes(function, infos, shardings, case):
    """Axes and bytes of each psum in the function that partition() returned, traced on one device's blocks. What it
    closes over and the shapes decide what it does: the same ones are traced once."""
    local = [jax.ShapeDtypeStruct(s.shard_shape(i.shape) if i.size > 1 else i.shape, i.dtype)
             for i, s in zip(infos, shardings)]
    closed = tuple(cell.cell_contents for cell in function.__closure__ or ())
    key = function.__code__, closed, tuple((s.shape, s.dtype) for s in local), case.axes, case.sizes
    if key not in _traced:
        traced = jax.make_jaxpr(function, axis_env=list(zip(case.axes, case.sizes)))(*local)
        sums = [e for e in traced.jaxpr.eqns if "psum" in e.primitive.name]
        _traced[key] = [(list(e.params["axes"]), e.outvars[0].aval.size * e.outvars[0].aval.dtype.itemsize)
                        for e in sums]
    return _traced[key]


_traced = {}


def split_of(sharding, rank):
    entries = list(getattr(sharding.spec, "partitions", None) or sharding.spec)
    return tuple(map(layout.axes_of, entries)) + ((),) * (rank - len(entries))


def answer(te, case, mesh, dims):
    infos, arguments = asked(te, case, mesh, dims)
    _, function, outs, args = kernels.module().GemmPrimitive.partition(**arguments)
    wanted = [split_of(args[i], len(s.shape)) for i, s in ((0, case.operands[0]), (2, case.operands[1]))]
    steps = [move(case, spec, spec.split, split) for spec, split in zip(case.operands, wanted)]
    for axes, size in summed_axes(function, infos, args, case):
        steps.append({"kind": "all-reduce", "axes": axes, "in": size, "out": size, "op": "add"})
    shape, dtype = case.result.shape, case.result.dtype
    made = split_of(outs[0], len(shape))
    if not case.result.free:
        steps.append(move(case, case.result, made, case.result.split))
    meets = [spec_text(s.dtype, s.shape, split) for s, split in zip(case.operands, wanted)]
    claim = spec_text(dtype, shape, made if case.result.free else case.result.split)
    return Result(blocks=[], claims=[claim], trace=[s for s in steps if s],
                  plan={"operands": meets, "result": spec_text(dtype, shape, made)},
                  notes=[f"the rule wants {' and '.join(meets)}, and makes {spec_text(dtype, shape, made)}"])


def coordinates(case):
    """For each position of the mesh, the coordinate on each axis."""
    found = [{}]
    for name, size in zip(case.axes, case.sizes):
        found = [{**at, name: i} for at in found for i in range(size)]
    return found


def cut(case, n, axes, at):
    """[begin, end) of a dimension of n that axes split evenly, at a device's coordinates."""
    size = dict(zip(case.axes, case.sizes))
    index, ways = 0, 1
    for a in axes:
        index, ways = index * size[a] + at[a], ways * size[a]
    return n * index // ways, n * (index + 1) // ways


def move(case, spec, given, wanted):
    """The array of a spec from one layout to another: an all-gather where minor axes are dropped, else what each device lacks, sent among
    those that the axes of both layouts tell apart."""
    given, wanted = tuple(map(tuple, given)), tuple(map(tuple, wanted))
    shape, dtype, width = spec.shape, spec.dtype, layout.DTYPES[spec.dtype].itemsize
    dropped = [g[len(w):] for g, w in zip(given, wanted) if g[: len(w)] == w]
    if len(dropped) == len(shape):
        axes = [a for d in dropped for a in d if case.ways((a,)) > 1]
        if not axes:
            return None
        block = width * math.prod(n // case.ways(g) for n, g in zip(shape, given))
        return {"kind": "all-gather", "axes": axes, "in": block, "out": block * case.ways(axes), "dtype": dtype}
    lacking, most = 0, 0
    for at in coordinates(case):
        have = [cut(case, n, axes, at) for n, axes in zip(shape, given)]
        need = [cut(case, n, axes, at) for n, axes in zip(shape, wanted)]
        both = math.prod(max(0, min(h[1], w[1]) - max(h[0], w[0])) for h, w in zip(have, need))
        lacks = width * (math.prod(w[1] - w[0] for w in need) - both)
        lacking, most = lacking + lacks, max(most, lacks)
    if not lacking:
        return None
    cutting = [a for a in case.axes if case.ways((a,)) > 1 and any(a in axes for axes in given + wanted)]
    return {"kind": "send", "axes": cutting, "in": 0, "out": most, "moved": lacking, "dtype": dtype}
