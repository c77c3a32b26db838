"""A product as a gradient that torch itself takes: grad=lhs|rhs.

The operand that the option names is fed as the cotangent of the product that maps (wanted result, other operand) to
it, so that the gradient for the wanted result's place is the product of the case:

    case mk,kn->mn    grad=lhs    forward mn,kn->mk, cotangent lhs    gradient for mn: lhs rhs
                      grad=rhs    forward mk,mn->kn, cotangent rhs    gradient for mn: lhs rhs
    case fwd          grad=lhs    forward dgrad, cotangent x          gradient for y: x w

The forward product runs before the program that is judged; its collectives are none of the gradient's.
"""

import torch
from torch.distributed.tensor import distribute_tensor

import grouped
import layout


def nodes(start):
    """The nodes of an autograd graph that compute something."""
    seen, waiting = [], [start]
    while waiting:
        node = waiting.pop()
        if node is not None and node not in seen:
            seen.append(node)
            waiting += [n for n, _ in node.next_functions]
    return [n for n in seen if "AccumulateGrad" not in n.name()]


def prepared(case, mesh, fed, operands):
    """A function without arguments that runs the backward. It raises where no node of the graph ran."""
    wanted, (left, right) = case.chain[0], operands
    zeros = torch.zeros(wanted.shape, dtype=layout.DTYPES[wanted.dtype], device=mesh.device_type)
    place = distribute_tensor(zeros, mesh, layout.finished(mesh, wanted), src_data_rank=None).requires_grad_()
    if case.op == "grouped":
        ahead = grouped.ahead(case, mesh, fed, {"place": place, "other": right if fed == "lhs" else left})
    elif fed == "lhs":
        ahead = torch.einsum(f"{case.out},{case.rhs}->{case.lhs}", place, right)
    else:
        ahead = torch.einsum(f"{case.lhs},{case.out}->{case.rhs}", left, place)
    ran = []
    for node in nodes(ahead.grad_fn):
        node.register_hook(lambda *_, name=node.name(): ran.append(name))

    def backward():
        (found,) = torch.autograd.grad(ahead, place, grad_outputs=left if fed == "lhs" else right,
                                       retain_graph=case.timing is not None)
        if not ran:
            raise RuntimeError("no node of the graph ran: the product was not computed as a gradient")
        return found

    return backward
