"""hello, limit and run over torch's DTensor."""

import copy
import math
import sys

import numpy
import torch
import torch._dynamo  # noqa: F401  what a first collective imports, once for all ranks

import layout
import limits
import merge
import probe
import program
import ranks
from plumb_worker import Limit, Result

MOST_RANKS = 16  # processes on one machine
MOST_LOCAL = 512
KEPT = 24  # ranks of all worlds that are kept


class Backend:
    def __init__(self, options):
        self.options = options
        self.engine = options["engine"]
        self.worlds = {}  # by size, the latest last
        eager = {"compile": None}  # what torch.compile raises does not say what torch refused
        self.limits = limits.table(options, lambda case: probe.refusal(self.with_options(eager), case))

    def with_options(self, others):
        """The same over the same ranks, some options otherwise."""
        same = copy.copy(self)
        same.options = {**self.options, **others}
        return same

    def hello(self, mesh):
        kind = "gpu" if self.engine == "nccl" else "cpu"  # its name would start CUDA, which no fork survives
        return {
            "name": f"torch@{torch.__version__.split('+')[0]}",
            "versions": {"torch": torch.__version__, "numpy": numpy.__version__, "python": sys.version.split()[0]},
            "devices": {"count": math.prod(size for _, size in mesh["axes"]), "kind": kind},
            "alone": self.engine == "nccl",
            "times": self.engine != "local",  # a simulation's time is nobody's
            "capabilities": {
                "ops": ["reshard", "einsum", "grouped"], "dtypes": list(layout.DTYPES), "rules": ["nested"],
                "reductions": ["sum", "avg", "max", "min"], "submesh": True,
                "max_devices": self.most(), "acc": ["unspecified"], "wire": ["unspecified"],
                "tail": "undefined", "clones": self.engine == "local", **({"engine": "matrix"} if kind == "gpu" else {})},
        }

    def most(self):
        if self.engine == "nccl":
            return torch.cuda.device_count()
        return MOST_LOCAL if self.engine == "local" else MOST_RANKS

    def limit(self, case):
        found = self.limits.find(case)
        return Limit(found[0].why(case), found[1]) if found else None

    def run(self, case, operands, started):
        if self.engine == "local":
            import local

            return local.run(case, operands, started, self.options)
        return self.over_ranks(case, operands, started)

    def over_ranks(self, case, operands, started):
        world = self.world(case.devices)
        started()
        request = {"case": case, "options": self.options,
                   "operands": [(bytes(raw), shape) for raw, shape in operands]}
        found = world.ask(request)
        answers = [found[number] for number in sorted(found)]
        made = [block for answer in answers for block in (answer.first, answer.block) if block]
        claims = {claim for _, _, claim in made}
        notes = [] if len(claims) == 1 else [f"ranks claim unlike layouts: {', '.join(sorted(map(str, claims)))}"]
        claim = max(claims, key=lambda c: c != case.result.text)  # where they differ, one that was not asked for
        watched = program.is_watched(self.options)
        blocks = lambda each: [(number, 0, *block[:2]) for number, block in enumerate(each)]
        timed = {}
        if case.timing:
            timed = {"first": blocks(answer.first for answer in answers), "clock": [answer.row for answer in answers]}
        return Result(blocks=blocks(answer.block for answer in answers), claims=[claim],
                      trace=merge.merged([answer.events for answer in answers]) if watched else None,
                      run_seconds=[answers[0].seconds], notes=notes, groups=layout.groups(case, self.options["flatten"]), **timed)

    def close(self):
        for world in self.worlds.values():
            world.end()

    def world(self, size):
        """The ranks for a mesh; the worlds used last are kept."""
        kept = self.worlds.pop(size, None)
        if not kept or not kept.alive:
            kept = ranks.World(size, "nccl" if self.engine == "nccl" else "gloo")
        for old in list(self.worlds):
            if size + sum(self.worlds) > KEPT:
                self.worlds.pop(old).end()
        self.worlds[size] = kept
        return kept
