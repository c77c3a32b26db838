"""What the workers on JAX share: a case is a program, compiled once and run once."""

import contextlib
import gc
import math
import sys
import time

import jax

import dump
import layout
import under_clock
import warned
from plumb_worker import Limit, Result, refuse, trace
from plumb_worker.limits import as_case, zeros

MOST_DEVICES = 2048  # XLA's limit for one CPU process
CASES_BETWEEN_CLEANUPS = 200  # compiled programs are kept until the caches are cleared


class Backend:
    """A worker's own class adds hello(), run(), `limits`, and what a program is: lowered(case, mesh)."""

    def __init__(self, name, options):
        self.name, self.options, self.cases = name, options, 0
        self.warnings = warned.Reader()

    def start(self, mesh, least):
        """JAX with the partitioner of the options, and as many devices as the mesh has; at least so many virtual ones:
        they cost nothing, and a restart does."""
        shardy = self.options["partitioner"] == "shardy"
        if hasattr(jax.config, "jax_use_shardy_partitioner"):
            jax.config.update("jax_use_shardy_partitioner", shardy)
        elif not shardy:
            refuse(f"{self.name}: JAX {jax.__version__} has no switch to the GSPMD partitioner")
        layout.start(max(math.prod(size for _, size in mesh["axes"]), least), self.options.get("platform", "cpu"))

    def limit(self, case):
        found = self.limits.find(case)
        return Limit(found[0].why(case), found[1]) if found else None

    def refusal(self, probe):
        """What the framework raises for the probe of a limit, as one line; None where it does not. Where it was called
        is left out: JAX 0.12 says that in what it raises, and prints it."""
        case = as_case(probe)
        try:
            with contextlib.redirect_stdout(sys.stderr):
                self.run(case, zeros(case, lambda dtype: layout.DTYPES[dtype].itemsize), lambda: None)
        except Exception as e:
            said = " ".join(str(e).split()).partition(" This error occurs at source:")[0]
            return f"jax {jax.__version__}: {type(e).__name__}: {said}"
        return None

    def make_room(self, case):
        self.cases += 1
        if self.cases % CASES_BETWEEN_CLEANUPS == 0:
            jax.clear_caches()
            gc.collect()
        if case.devices > len(layout.devices()):
            layout.start(case.devices, self.options.get("platform", "cpu"))

    def compile_and_run(self, case, mesh, operands, started):
        """`operands` places them on the devices, once the program is compiled."""
        self.warnings.skip()
        begin = time.perf_counter()
        with dump.folder(self.options, case) as dumped:
            compiled = self.lowered(case, mesh).compile(compiler_options=dump.options(dumped))
            compile_seconds = time.perf_counter() - begin
            hlo = dump.partitioned(dumped) if self.options.get("trace") == "partitioned" else compiled.as_text()
        started()
        first = clock = None
        if case.timing:
            begin = time.perf_counter()
            (_, first), (results, last), row = under_clock.run(compiled, operands, case.timing)
            clock = [row]
        else:
            placed = operands()
            begin = time.perf_counter()
            results = under_clock.arrays(jax.block_until_ready(compiled(*placed)))
            last = None
        run_seconds = time.perf_counter() - begin
        last = under_clock.blocks(results) if last is None else last
        specs = case.chain if case.op == "quantize" else case.chain[-1:]
        found, notes = trace.described(hlo, case)
        return Result(blocks=last, first=first, clock=clock,
                      claims=[layout.claim(r, case, s) for r, s in zip(results, specs)],
                      trace=found, compile_seconds=compile_seconds,
                      run_seconds=[run_seconds], notes=self.warnings.notes() + notes)
