"""What a rank times: the program that a user's loop runs, without the watch for its collectives."""

import time

import torch
import torch.distributed as dist
from torch.distributed._functional_collectives import AsyncCollectiveTensor
from torch.distributed.tensor import DTensor

import layout
import program
from plumb_worker import Stages, timed

# Nanoseconds: until a window begins, what it has beside twice a run, and for how long before it nobody sleeps.
TO_HEAR_OF_IT, LEAST, AWAKE = 20_000_000, 200_000, 1_000_000


def local_of(y):
    return y.to_local() if isinstance(y, DTensor) else y


def ready(y, device):
    local = local_of(y)
    if isinstance(local, AsyncCollectiveTensor):
        local.wait()
    if device == "cuda":
        torch.cuda.synchronize()
    return y


def kept(y, case):
    """(bytes, slices, claim) of this rank's block."""
    local, slices, claim = program.described(y, case)
    return layout.bytes_of(local), slices and slices(lambda own: own), claim


def wiped(y, operands):
    """Overwrites a result, unless it is an operand."""
    storage = local_of(y).untyped_storage()
    if storage.data_ptr() not in [local_of(x).untyped_storage().data_ptr() for x in operands]:
        storage.fill_(255)


def met(iteration):
    dist.barrier()
    return True


def windows(longest, device):
    """Rank 0 says when the first begins and how long each is."""
    said = torch.tensor([time.monotonic_ns() + TO_HEAR_OF_IT, 2 * longest + LEAST], device=device)
    dist.broadcast(said, 0)
    begin, width = said.tolist()

    def early(iteration):
        start = begin + iteration * width
        at = time.monotonic_ns()
        came = at < start
        if start - at > AWAKE:  # who has spun for long is the first to lose its core
            time.sleep((start - at - AWAKE) / 1e9)
        while at < start:
            at = time.monotonic_ns()
        return came and at - start <= width // 50  # who lost its core while it waited is late, too

    return early


def run(case, device, operands, step):
    """timed() of one rank."""

    def agreed(timing, longest):
        if timing.sync == "window":
            return windows(longest, device)
        return met if timing.sync == "barrier" else lambda iteration: True

    return timed(Stages(once=lambda: ready(step(), device), keep=lambda y: kept(y, case),
                        wipe=lambda y: wiped(y, operands), agreed=agreed), case.timing)
