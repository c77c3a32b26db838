"""One rank: a process of a world. It joins, then answers requests of the peer until the pipe ends."""

import datetime
import os
import signal
import sys
import time
from typing import NamedTuple

import torch
import torch.distributed as dist

import layout
import program
import tracing
import under_clock
from plumb_worker.loop import last_lines

JOIN = 60  # seconds


def join(number, size, backend, pipe):
    """Rank 0 opens the store and tells its port to the others, by way of the peer."""
    port = pipe.recv()
    wait = datetime.timedelta(seconds=2 * JOIN)  # the peer's patience ends before
    store = dist.TCPStore("127.0.0.1", port or 0, size, number == 0, wait, wait_for_workers=False)
    pipe.send((True, store.port))
    if backend == "nccl":
        torch.cuda.set_device(number)
    dist.init_process_group(backend, store=store, rank=number, world_size=size)
    dist.barrier()


class Answer(NamedTuple):
    """What a rank has to say of a case. Blocks are (bytes, slices, claim)."""

    block: tuple
    events: list
    seconds: float
    first: tuple | None = None  # of a case that was timed: the block of the first iteration, and the clock
    row: list | None = None


def run(request, backend):
    case, options = request["case"], request["options"]
    device = "cuda" if backend == "nccl" else "cpu"
    mesh = layout.mesh_of(device, case, options["flatten"])
    number = dist.get_rank()
    operands = []
    for spec, (raw, shape) in zip(case.operands, request["operands"]):
        own = layout.tensor_of(raw, shape, spec.dtype).to(device)
        if spec.unfinished:
            own = own[case.parts(spec.unfinished)[number]]
        operands.append(program.place(mesh, spec, own, options))
    begin = time.perf_counter()
    trace = tracing.Trace()
    step = program.steps(case, mesh, options, operands)
    y = program.watched(trace, step, options)
    seconds = time.perf_counter() - begin
    if not case.timing:
        return Answer(under_clock.kept(y, case), trace.events, seconds)
    first, last, row = under_clock.run(case, device, operands, step)
    return Answer(last, trace.events, seconds, first, row)


def main(number, size, backend, pipe):
    """Never returns."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.dup2(2, 1)  # gloo of 2.10 prints who is connected
    torch.set_num_threads(1)
    tracing.watch_alltoall()
    tracing.hush()
    task = lambda _: join(number, size, backend, pipe)
    try:
        request = None
        while True:
            try:
                answer = True, task(request)
            except Exception as e:
                answer = False, last_lines(e)
            pipe.send(answer)
            request = pipe.recv()
            task = lambda request: run(request, backend)
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass
    finally:
        sys.stderr.flush()
        os._exit(0)
