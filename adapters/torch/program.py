"""What a case is in torch: operands placed, one program, its result. One rank's view, or LocalTensorMode's of all."""

import torch
import torch.nn.functional as F
from torch.distributed.tensor import DTensor, distribute_tensor

import gradient
import layout


def place(mesh, spec, own, options):
    """One operand, without communication: of the whole array, of an unfinished one of this rank's part, what its placements
    leave to this rank. torch cuts, one axis after the other in the order of the spec, as users of FSDP over tensor
    parallelism cut; `operands=distribute` is one call with all placements."""
    placed, finished = layout.placements(mesh, spec), layout.finished(mesh, spec)
    if options["operands"] == "distribute":
        local = distribute_tensor(own, mesh, finished, src_data_rank=None).to_local()
    else:
        local = layout.cut(own, mesh, spec)
    return DTensor.from_local(local, mesh, placed, run_check=False, shape=torch.Size(spec.shape),
                              stride=torch.empty(spec.shape, device="meta").stride())


def product(case, op):
    """The function of two operands that an einsum case is."""
    if op == "mm":
        return torch.mm
    if op == "linear":
        return F.linear
    return lambda a, b: torch.einsum(f"{case.lhs},{case.rhs}->{case.out}", a, b)


def first_step(case, mesh, options, operands):
    if case.op != "einsum":
        return lambda: operands[0]
    if options.get("grad"):
        return gradient.prepared(case, mesh, options["grad"], operands)
    return lambda: product(case, options["op"])(*operands)


def steps(case, mesh, options, operands):
    """The case as a function without arguments."""
    via, first = options["via"], first_step(case, mesh, options, operands)

    def run():
        y = first()
        for i, spec in enumerate(case.chain):
            # a layout that is left to torch is that of its own rule, the sums finished
            wanted = layout.without_sums(y.placements) if spec.free else layout.placements(mesh, spec)
            if via == "full_tensor" and i == len(case.chain) - 1:
                y = y.full_tensor()
            elif via == "distribute" and i == 0:
                y = distribute_tensor(y.to_local(), mesh, wanted)
            elif case.op == "reshard" or y.placements != wanted:
                y = y.redistribute(placements=wanted)
        return y

    return run


def described(y, case):
    """(local tensor, slices of a rank or None, claim) of a result, as torch says them."""
    if not isinstance(y, DTensor):  # full_tensor() returns the whole array
        claim = layout.spec_text(layout.NAMES[y.dtype], y.shape, [()] * y.ndim)
        return y, lambda own: [[(0, n)] for n in own(y).shape], claim
    local = y.to_local()
    left = any(p.is_partial() for p in y.placements)
    return local, None if left else layout.slices(y, local), layout.claim(y, case.result)
