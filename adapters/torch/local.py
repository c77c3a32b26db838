"""engine=local: LocalTensorMode holds every rank's tensors in one process and simulates the collectives. Members of
a group get clones of one result: agreement of replicas proves nothing here."""

import functools
import time

import torch
import torch.distributed as dist
from torch.testing._internal.distributed.fake_pg import FakeStore

import layout
import merge
import program
import tracing
from plumb_worker import Result

try:
    from torch.distributed._local_tensor import LocalTensor, LocalTensorMode, _c10d
except ImportError:
    LocalTensorMode = None


class Trace(tracing.Trace):
    """Each rank's events: torch's own rule says which fibres a collective of rank 0's group stands for."""

    def __init__(self, size):
        super().__init__()
        self.own = [[] for _ in range(size)]

    def add(self, call):
        if not call.ranks:
            raise RuntimeError(f"no group among the arguments of {call.name}")
        members, offsets = _c10d._prepare_collective_groups(group_of(call.ranks))[:2]
        for group in ([o + m for m in members] for o in offsets):
            for r in group:
                pick = lambda ts: [t._local_tensors[r] if isinstance(t, LocalTensor) else t
                                   for t in tracing.tensors(ts)]
                self.events = self.own[r]
                super().add(call._replace(ranks=group, given=pick(call.given), out=pick(call.out)))


def group_of(ranks):
    """The process group of these ranks."""
    for group in dist.distributed_c10d._world.pg_map:
        if list(dist.get_process_group_ranks(group)) == ranks:
            return group
    raise RuntimeError(f"no group of ranks {ranks}")


def start(size):
    """A fake group of that many ranks; meshes are of one world."""
    if dist.is_initialized():
        if dist.get_world_size() == size:
            return
        layout.forget()
        dist.destroy_process_group()
    dist.init_process_group("fake", rank=0, world_size=size, store=FakeStore())


def run(case, operands, started, options):
    start(case.devices)
    started()
    tracing.hush()
    with LocalTensorMode(case.devices):
        mesh = layout.mesh_of("cpu", case, options["flatten"])
        placed = [place(case, mesh, spec, layout.tensor_of(raw, shape, spec.dtype), options)
                  for spec, (raw, shape) in zip(case.operands, operands)]
        trace = Trace(case.devices)
        begin = time.perf_counter()
        y = program.watched(trace, program.steps(case, mesh, options, placed), options)
        seconds = time.perf_counter() - begin
        local, slices, claim = program.described(y, case)
        blocks = []
        for r in range(case.devices):
            own = functools.partial(own_value, r)
            blocks.append((r, 0, layout.bytes_of(own(local)), slices and slices(own)))
    return Result(blocks=blocks, claims=[claim], trace=merge.merged(trace.own) if program.is_watched(options) else None, run_seconds=[seconds],
                  groups=layout.groups(case, options["flatten"]))


def own_value(r, value):
    """Rank r's own of a number or a tensor."""
    if isinstance(value, LocalTensor):
        return value._local_tensors[r]
    node = getattr(value, "node", None)
    return node._local_ints[r] if hasattr(node, "_local_ints") else value


def place(case, mesh, spec, whole, options):
    parts = case.parts(spec.unfinished)
    mine = LocalTensor({r: whole[parts[r]] if spec.unfinished else whole for r in range(case.devices)})
    return program.place(mesh, spec, mine, options)
