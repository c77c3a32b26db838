"""via=fsdp: what FSDP2 moves, over a weight that other axes have split already or not.

    reshard f32[8@tp.dp,4] -> f32[8@tp,4]            a weight is gathered for a forward pass
    reshard f32[8@tp,4]+avg(dp) -> f32[8@tp.dp,4]    its gradient is scattered; FSDP2 divides by the ranks
    reshard f32[8@tp,4]+dp -> f32[8@tp.dp,4]         the same, told to divide by 1
    reshard f32[8]+avg(rep.dp) -> f32[8@dp]          HSDP: scattered over dp, all-reduced over rep

Over dp, the last axis of a dimension, `fully_shard` splits the parameter; over the axes that are not its own, tp, the
parameter is a DTensor beforehand, as tensor parallelism leaves it.
"""

from typing import NamedTuple

import torch
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import Shard, distribute_tensor

import layout


class Step(NamedTuple):
    gathers: bool
    dim: int
    own: tuple  # the axes of fully_shard, in the order of the mesh: those that replicate, then the one that splits


def step_of(case):
    """What FSDP2 would do here, or None where it has no such step."""
    if case.op != "reshard" or len(case.chain) != 1 or case.result.free or case.result.unfinished:
        return None
    before, after = case.operands[0], case.result
    gathers = not before.unfinished
    most, least = (before, after) if gathers else (after, before)
    unlike = [d for d, (m, l) in enumerate(zip(most.split, least.split)) if m != l]
    if len(unlike) != 1 or most.split[unlike[0]][:-1] != least.split[unlike[0]]:
        return None
    axis = most.split[unlike[0]][-1]
    adds_up = before.reduction == "sum" and set(before.averaged) in (set(), set(before.unfinished))
    if not gathers and (axis not in before.unfinished or len(before.unfinished) > 2 or not adds_up):
        return None
    replicates = tuple(a for a in before.unfinished if a != axis)
    return Step(gathers, unlike[0], replicates + (axis,))


def uneven_columns(case):
    """Whether a dimension that is not the first would be cut into uneven pieces."""
    step = step_of(case)
    if not step or not step.dim:
        return False
    most = case.operands[0] if step.gathers else case.result
    return most.shape[step.dim] % case.ways(most.split[step.dim]) != 0


class Weight(torch.nn.Module):
    """A parameter; the loss is the sum of its products with `parts`, which are its gradient."""

    def __init__(self, weight, has_gradient):
        super().__init__()
        self.weight = torch.nn.Parameter(weight, requires_grad=has_gradient)

    def forward(self, parts):
        return (self.weight * parts).sum()


def of_others(mesh, own, spec, value):
    """A tensor as a DTensor over the axes that are not FSDP2's; itself where there are none."""
    others = tuple(a for a in mesh.mesh_dim_names if a not in own)
    if not others:
        return value
    placed = dict(zip(mesh.mesh_dim_names, layout.finished(mesh, spec)))
    return distribute_tensor(value, mesh[others], [placed[a] for a in others], src_data_rank=None)


def sharded(case, mesh, step, value):
    """The module; it raises where fully_shard lays the weight out otherwise than the case says."""
    spec = case.operands[0] if step.gathers else case.result
    least = case.result if step.gathers else case.operands[0]
    module = Weight(of_others(mesh, step.own, least, value), not step.gathers)
    fully_shard(module, mesh=mesh[step.own], shard_placement_fn=lambda _: Shard(step.dim))
    found = layout.claim(module.weight, spec)
    if found != spec.text:
        raise RuntimeError(f"fully_shard lays the weight out as {found}, not {spec.text}")
    return module


def prepared(case, mesh, own):
    """A function without arguments, of this rank's part of the operand or of all of it."""
    step = step_of(case)
    if step.gathers:
        module = sharded(case, mesh, step, own)

        def gathered():
            module.reshard()
            module.unshard()
            return module.weight.detach()

        return gathered
    module = sharded(case, mesh, step, torch.zeros_like(own))
    if not case.operands[0].averaged:
        module.set_gradient_divide_factor(1.0)
        module.set_force_sum_reduction_for_comms(True)  # gloo has no sum that divides
    parts = of_others(mesh, step.own, case.operands[0], own)

    ahead = [module(parts)]  # which gathers the weight

    def scattered():
        loss = ahead.pop() if ahead else module(parts)
        module.weight.grad = None
        loss.backward()
        return module.weight.grad

    return scattered
