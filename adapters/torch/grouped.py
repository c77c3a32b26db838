"""A grouped product as torch.nn.functional.grouped_mm, which takes where each group ends.

    fwd      x[t,k]  w[g,k,n]   grouped_mm(x, w)
    dgrad    y[t,n]  w[g,k,n]   grouped_mm(y, w transposed)
    wgrad    x[t,k]  y[t,n]     grouped_mm(x transposed, y)
"""

import itertools

import torch
import torch.nn.functional as F
from torch.distributed.tensor import DTensor, Replicate

# Which dimension of each operand is contracted.
CONTRACTED = {"fwd": (1, 1), "dgrad": (1, 2), "wgrad": (0, 0)}

# The form of which a form is the gradient, where this operand is the cotangent; and the order in which that takes the
# place of the gradient and the other operand.
GRADIENT_OF = {
    ("fwd", "lhs"): ("dgrad", ("place", "other")), ("fwd", "rhs"): ("wgrad", ("other", "place")),
    ("dgrad", "lhs"): ("fwd", ("place", "other")), ("dgrad", "rhs"): ("wgrad", ("place", "other")),
    ("wgrad", "lhs"): ("dgrad", ("other", "place")), ("wgrad", "rhs"): ("fwd", ("other", "place")),
}


def product(form, sizes, mesh):
    """The function of two operands that a form over groups of these sizes is."""
    ends = torch.tensor(list(itertools.accumulate(sizes)), dtype=torch.int32, device=mesh.device_type)
    offs = DTensor.from_local(ends, mesh, [Replicate()] * mesh.ndim, run_check=False)
    if form == "wgrad":
        return lambda x, y: F.grouped_mm(x.transpose(0, 1), y, offs=offs)
    if form == "dgrad":
        return lambda y, w: F.grouped_mm(y, w.transpose(1, 2), offs=offs)
    return lambda x, w: F.grouped_mm(x, w, offs=offs)


def ahead(case, mesh, fed, given):
    """The product whose gradient the case is, of its place and the other operand."""
    form, order = GRADIENT_OF[case.form, fed]
    return product(form, case.group_sizes[0], mesh)(*(given[name] for name in order))
