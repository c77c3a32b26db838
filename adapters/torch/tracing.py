"""The collectives that a rank issues, as a dispatch mode sees them: functional collectives with their groups.

What the transport does below differs: gloo's reduce-scatter is an all-reduce, and DTensor composes the
all-to-all of a move from one sharded dimension to another of all-gather and chunk on a CPU. Recorded is what
DTensor asks for; the all-to-all counts as the one that it is.
"""

import logging
from typing import NamedTuple

import torch
import torch.distributed as dist
from torch.distributed.tensor import DTensor
from torch.utils._python_dispatch import TorchDispatchMode

import layout

KINDS = {"all_reduce": "all-reduce", "all_gather_into_tensor": "all-gather", "reduce_scatter_tensor": "reduce-scatter",
         "all_to_all_single": "all-to-all", "shard_dim_alltoall": "all-to-all", "broadcast": "collective-broadcast",
         "allreduce": "all-reduce", "allgather": "all-gather", "_allgather_base": "all-gather",
         "_reduce_scatter_base": "reduce-scatter", "alltoall": "all-to-all", "alltoall_base": "all-to-all"}
INTO = ("_allgather_base", "_reduce_scatter_base", "allgather", "reduce_scatter", "alltoall", "alltoall_base")  # the first is made
TYPES = {**layout.NAMES, torch.bool: "pred", torch.uint8: "u8", torch.int16: "s16", torch.int64: "s64",
         torch.complex64: "c64", torch.complex128: "c128"}
SPACES = ("_c10d_functional", "c10d", "_dtensor", "_c10d_functional_autograd")
QUIET = ("wait_tensor", "_wrap_tensor_autograd", "barrier", "mesh_get_process_group")


def tensors(value):
    if isinstance(value, torch.Tensor):
        return [value]
    return [t for v in value for t in tensors(v)] if isinstance(value, (list, tuple)) else []


def nbytes(value):
    return sum(t.numel() * t.element_size() for t in tensors(value))


def ranks_of(arguments):
    """The ranks of the group among a collective's arguments."""
    for a in arguments:
        if isinstance(a, str):
            try:
                a = dist.distributed_c10d._resolve_process_group(a)
            except (LookupError, RuntimeError, ValueError):
                continue  # the name of a reduction
        if isinstance(a, torch.ScriptObject):
            a = dist.ProcessGroup.unbox(a)
        if isinstance(a, dist.ProcessGroup):
            return list(dist.get_process_group_ranks(a))
    return []


def reduction(arguments):
    for a in arguments:
        if isinstance(a, str) and a.lower() in ("sum", "avg", "max", "min", "product"):
            return a.lower()
    return ""


class Call(NamedTuple):
    """A collective as it was called: the tensors it was given and gave back, op where it reduces."""

    kind: str
    ranks: list
    given: object
    out: object
    op: str
    name: str


class Trace(TorchDispatchMode):
    """Records while it is entered; `events` are the rank's own, in order."""

    def __init__(self):
        super().__init__()
        self.events, self.hidden = [], 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        if any(issubclass(t, DTensor) for t in types):
            return NotImplemented  # DTensor takes it apart
        out = function(*args, **(kwargs or {}))
        space, name = function.namespace, function._opname.rstrip("_").removesuffix("_coalesced")
        if space in SPACES and name not in QUIET and not self.hidden:
            arguments = list(args) + list((kwargs or {}).values())
            given = args[1:] if space == "c10d" and name in INTO else args
            self.add(Call(KINDS.get(name, "send"), ranks_of(arguments), given, out, reduction(arguments), name))
        return out

    def add(self, call):
        first = tensors(call.given)
        event = {"kind": call.kind, "group": call.ranks, "in": nbytes(call.given), "out": nbytes(call.out),
                 **({"dtype": TYPES[first[0].dtype]} if first and first[0].dtype in TYPES else {})}
        if call.op:
            event["op"] = call.op
        if call.kind == "send":
            event["note"] = call.name
        self.events.append(event)


def hush():
    """DTensor warns where it does not merge: the trace says so, and last words should be words of a death."""
    logging.getLogger("torch.distributed.tensor._redistribute").setLevel(logging.ERROR)


_ACTIVE = []


def record(trace, function):
    """What the function returns; its collectives go to the trace."""
    _ACTIVE.append(trace)
    try:
        with trace:
            return function()
    finally:
        _ACTIVE.pop()


def watch_alltoall():
    """Counts DTensor's move between sharded dimensions as one all-to-all, whatever it is composed of."""
    from torch.distributed.tensor import _collective_utils, placement_types

    real = _collective_utils.shard_dim_alltoall

    def watched(tensor, gather_dim, shard_dim, mesh, mesh_dim):
        if not _ACTIVE:
            return real(tensor, gather_dim, shard_dim, mesh, mesh_dim)
        trace = _ACTIVE[-1]
        trace.hidden += 1
        try:
            out = real(tensor, gather_dim, shard_dim, mesh, mesh_dim)
        finally:
            trace.hidden -= 1
        ranks = list(dist.get_process_group_ranks(mesh.get_group(mesh_dim)))
        trace.add(Call("all-to-all", ranks, tensor, out, "", "shard_dim_alltoall"))
        return out

    _collective_utils.shard_dim_alltoall = placement_types.shard_dim_alltoall = watched
