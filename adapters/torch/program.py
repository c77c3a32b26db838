"""What a case is in torch: operands placed, one program, its result. One rank's view, or LocalTensorMode's of all."""

import torch
import torch.nn.functional as F
from torch.distributed.tensor import DTensor, distribute_tensor

import checkpoint
import compiled
import fsdp
import gradient
import grouped
import layout
import tracing


def place(mesh, spec, own, options):
    """One operand, without communication: of the whole array, of an unfinished one of this rank's part, what its placements
    leave to this rank. torch cuts, one axis after the other in the order of the spec, as users of FSDP over tensor
    parallelism cut; `operands=distribute` is one call with all placements. FSDP2 cuts by itself."""
    if options["via"] == "fsdp":
        return own
    placed, finished = layout.placements(mesh, spec), layout.finished(mesh, spec)
    if options["operands"] == "distribute":
        local = distribute_tensor(own, mesh, finished, src_data_rank=None).to_local()
    else:
        local = layout.cut(own, mesh, spec)
    return DTensor.from_local(local, mesh, placed, run_check=False, shape=torch.Size(spec.shape),
                              stride=torch.empty(spec.shape, device="meta").stride())


def product(case, op):
    """The function of two operands that an einsum case is."""
    if op in ("mm", "bmm"):
        return getattr(torch, op)
    if op == "linear":
        return F.linear
    equation = f"{case.lhs},{case.rhs}->{case.out}"
    return lambda a, b: torch.einsum(equation, a, b)


def first_step(case, mesh, options, operands):
    """A function of the operands."""
    if case.op == "reshard":
        return lambda x: x
    if options.get("grad"):
        backward = gradient.prepared(case, mesh, options["grad"], operands)
        return lambda *_: backward()
    if case.op == "grouped":
        return grouped.product(case.form, case.group_sizes[0], mesh)
    return product(case, options["op"])


def next_step(case, mesh, options, i):
    """The function of a result that brings it to the i-th layout of the chain."""
    via, spec = options["via"], case.chain[i]
    if spec.free:  # a layout that is left to torch is that of its own rule, the sums finished
        return lambda y: y.redistribute(placements=layout.without_sums(y.placements))
    wanted, always = layout.placements(mesh, spec), case.op == "reshard"
    if via == "full_tensor" and i == len(case.chain) - 1:
        return lambda y: y.full_tensor()
    if via == "distribute" and i == 0:
        return lambda y: distribute_tensor(y.to_local(), mesh, wanted)
    if via == "checkpoint":
        into = place(mesh, spec, checkpoint.blank(mesh, spec), options)
        return lambda y: checkpoint.loaded(y, into)
    return lambda y: y.redistribute(placements=wanted) if always or y.placements != wanted else y


def steps(case, mesh, options, operands):
    """The case as a function without arguments."""
    if options["via"] == "fsdp":
        return fsdp.prepared(case, mesh, *operands)
    first = first_step(case, mesh, options, operands)
    others = [next_step(case, mesh, options, i) for i in range(len(case.chain))]

    def run(*operands):
        y = first(*operands)
        for step in others:
            y = step(y)
        return y

    made = compiled.compiled(run, options.get("compile"))
    return lambda: made(*operands)


def is_watched(options):
    """Whether the collectives that are seen are those that move the data: a checkpoint moves them through files, and a
    compiled program is not run under a watch."""
    return options["via"] != "checkpoint" and not options.get("compile")


def watched(trace, step, options):
    """What a step returns; its collectives go to the trace, where they are seen."""
    return tracing.record(trace, step) if is_watched(options) else step()


def described(y, case):
    """(local tensor, slices of a rank or None, claim) of a result, as torch says them."""
    if not isinstance(y, DTensor):  # full_tensor() returns the whole array
        claim = layout.spec_text(layout.NAMES[y.dtype], y.shape, [()] * y.ndim)
        return y, lambda own: [[(0, n)] for n in own(y).shape], claim
    local = y.to_local()
    left = any(p.is_partial() for p in y.placements)
    return local, None if left else layout.slices(y, local), layout.claim(y, case.result)
