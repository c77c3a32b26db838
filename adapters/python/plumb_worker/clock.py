"""The clock of a worker in Python: what a user's loop would time, the program alone and blocked until it is ready."""

import dataclasses
import pathlib
import time
import uuid
from typing import Any, Callable

WHOLE_PROGRAM = "the time of a whole program, dispatch included"


@dataclasses.dataclass
class Timing:
    """How a case is timed. `sync`: how ranks begin an iteration, which is for those who are several."""

    warmups: int
    iterations: int
    batch: int
    sync: str = "barrier"


def at_once(timing, longest):
    """One process has nobody to meet."""
    return lambda iteration: True


@dataclasses.dataclass
class Stages:
    """What is timed, and what is done around it."""

    once: Callable[[], Any]  # runs the program until its result is ready, and returns it
    keep: Callable[[Any], Any] = lambda made: made  # a result, apart from what is made later
    wipe: Callable[[Any], None] = lambda made: None  # overwrites a result
    ready: Callable[[], None] = lambda: None  # makes what a run uses up, before each batch and off the clock
    # of the timing and the longest warm-up in nanoseconds: a function of the iteration that waits until it may begin,
    # and says whether the rank came in time
    agreed: Callable[[Timing, int], Callable[[int], bool]] = at_once


def this_clock():
    """A number for the clock of this machine since it started: times of one number may be compared."""
    return uuid.UUID(pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip()).int >> 65


def run_batch(stages, batch):
    """(result, when it began, when it was ready)."""
    enter = time.monotonic_ns()
    for _ in range(batch):
        made = stages.once()
    return made, enter, time.monotonic_ns()


def timed(stages, timing):
    """What the first iteration made and the last, and a rank's row: its clock, then when it entered and left each
    iteration, -1 and -1 where it came late. What was made before is overwritten, so that it stands for neither."""
    first = made = None
    longest = 0
    for _ in range(timing.warmups):
        stages.ready()
        made, enter, leave = run_batch(stages, timing.batch)
        longest = max(longest, leave - enter)
    begin = stages.agreed(timing, longest)
    row = [this_clock()]
    for iteration in range(timing.iterations):
        if made is not None and iteration in (0, timing.iterations - 1):
            stages.wipe(made)
        stages.ready()
        in_time = begin(iteration)
        made, enter, leave = run_batch(stages, timing.batch)
        row += [enter, leave] if in_time else [-1, -1]
        if iteration == 0:
            first = stages.keep(made)
    return first, stages.keep(made), row
