"""via=shard_map: grouped_dense on each device's own experts and rows, as users of expert parallelism write it.

Rows lie with their experts: split over the axes that split the groups, then over at most one more, over which the
weight may be split too. That one is given to grouped_dense as kernel_fsdp_info; what it then gathers and sums is
Transformer Engine's.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import PartitionSpec as P

import layout
import programs


def weight(case):
    return case.result if case.form == "wgrad" else case.operands[1]


def outer_and_inner(case):
    """The axes that split the groups, and those that split rows of the same groups."""
    rows, groups = case.operands[0].split[0], weight(case).split[0]
    return groups, rows[len(groups):]


def fsdp(case):
    """kernel_fsdp_info: the axis that splits the weight, and the dimension; (None, -1) where none does."""
    split = [(axis, d) for d, axes in enumerate(weight(case).split) if d for axis in axes]
    return split[0] if split else (None, -1)


def rows_lie_with_experts(case):
    rows = [s for s in (*case.operands, case.result) if s is not weight(case)]
    groups, _ = outer_and_inner(case)
    outer = rows[0].split[0][: len(groups)]
    return not any(s.split[1] for s in rows) and len({s.split[0] for s in rows}) == 1 and outer == groups


def weight_lies_over_one(case):
    axis, _ = fsdp(case)
    return sum(len(axes) for axes in weight(case).split[1:]) <= 1 and (not axis or axis in outer_and_inner(case)[1])


def counts(case):
    """For each block of rows, in order, the sizes of the groups that its device holds; None where it holds rows of
    others."""
    groups, inner = outer_and_inner(case)
    outer, blocks = case.ways(groups), case.ways(groups + inner)
    sizes = case.group_sizes[0]
    ends = np.cumsum([0] + list(sizes))
    rows, held = case.operands[0].shape[0] // blocks, len(sizes) // outer
    found = []
    for b in range(blocks):
        first = held * (b // (blocks // outer))
        own = np.clip(np.minimum(ends[1:], (b + 1) * rows) - np.maximum(ends[:-1], b * rows), 0, None)
        if own[first : first + held].sum() != rows:
            return None
        found.append(own[first : first + held])
    return np.array(found, np.int32)


def program(te, case, mesh):
    info = fsdp(case)
    keywords = {} if info[0] is None else {"kernel_fsdp_info": info}
    local = layout.sharding_of(mesh, case.result.split).shard_shape(case.result.shape)
    sizes = counts(case)
    layer = te.dense.grouped_dense

    def block(left, right, own):
        own = own[0]
        if case.form == "fwd":
            return layer(left, right, own, **keywords)
        if case.form == "dgrad":
            return programs.cotangent(lambda x: layer(x, right, own, **keywords), left, local, right.dtype)
        return programs.cotangent(lambda w: layer(left, w, own, **keywords), right, local, left.dtype)

    rows = case.operands[0].split[0]
    inputs = tuple(layout.partition_spec(s.split) for s in case.operands)
    mapped = jax.shard_map(block, mesh=mesh, in_specs=(*inputs, P(rows or None)),
                           out_specs=layout.partition_spec(case.result.split), check_vma=False)
    return lambda left, right: mapped(left, right, jnp.asarray(sizes))
