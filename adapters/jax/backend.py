"""hello, limit and run over JAX."""

import contextlib
import gc
import math
import os
import sys
import time

import jax
import jaxlib
import numpy

import data
import dump
import gradient
import layout
import limits
import probe
import programs
import warned
from plumb_worker import Limit, Result, refuse, trace
from plumb_worker.limits import Table

with contextlib.suppress(ImportError):
    import jaxlib.mlir.dialects.mhlo  # noqa: F401  JAX imports it late; here every child has it

LEAST_DEVICES = 64  # virtual devices cost nothing, a restart does
MOST_DEVICES = 2048  # XLA's limit for one CPU process
CASES_BETWEEN_CLEANUPS = 200  # compiled programs are kept until the caches are cleared


class Backend:
    def __init__(self, options):
        self.style, self.partitioner = options["style"], options["partitioner"]
        self.grad, self.options, self.cases = options.get("grad"), options, 0
        self.warnings = warned.Reader()
        self.limits = Table(limits.rows(self.style, self.partitioner, self.grad),
                            lambda case: probe.refusal(self, case), "adapters/jax/README.md")

    def hello(self, mesh):
        if not hasattr(jax.config, "jax_use_shardy_partitioner"):
            if self.partitioner == "gspmd":
                refuse(f"jax: release {jax.__version__} has no switch to the GSPMD partitioner")
        else:
            jax.config.update("jax_use_shardy_partitioner", self.partitioner == "shardy")
        layout.start(max(math.prod(size for _, size in mesh["axes"]), LEAST_DEVICES), self.options.get("platform"))
        devices = layout.devices()
        if self.options.get("platform") == "gpu" and devices[0].platform == "cpu":
            refuse("jax: platform=gpu, and JAX finds no GPU here; "
                   "scripts/environment --gpu makes an environment for GPUs")
        return {
            "name": f"jax@{jax.__version__}",
            "versions": versions(),
            "devices": {"count": len(devices), "kind": devices[0].device_kind},
            "capabilities": {
                "ops": ["reshard", "einsum", "grouped"], "dtypes": list(layout.DTYPES), "rules": ["flat"],
                "max_devices": MOST_DEVICES if devices[0].platform == "cpu" else len(devices),
                "acc": ["unspecified"], "wire": ["unspecified"], "tail": "undefined"},
        }

    def limit(self, case):
        found = self.limits.find(case)
        return Limit(found[0].reason, found[1]) if found else None

    def run(self, case, operands, started):
        self.tidy()
        if case.devices > len(layout.devices()):
            layout.start(case.devices, self.options.get("platform"))
        jax.config.update("jax_enable_x64", any(s.dtype == "f64" for s in case.specs))
        mesh = layout.mesh_of(case.axes, case.sizes, case.ids, self.style == "explicit")
        with programs.ambient(self.style, mesh):
            return self.compile_and_run(case, mesh, operands, started)

    def compile_and_run(self, case, mesh, operands, started):
        self.warnings.skip()
        begin = time.perf_counter()
        with dump.folder(self.options, case) as dumped:
            compiled = self.compile(case, mesh, dumped)
            compile_seconds = time.perf_counter() - begin
            hlo = dump.partitioned(dumped) if self.options.get("trace") == "partitioned" else compiled.as_text()
        started()
        placed = programs.placed(case, mesh, self.style, operands)
        begin = time.perf_counter()
        result = compiled(*placed)
        result.block_until_ready()
        run_seconds = time.perf_counter() - begin
        found, notes = trace.described(hlo, case)
        return Result(blocks=data.blocks(result, 0), claims=[layout.claim(result, case, case.result)],
                      trace=found, compile_seconds=compile_seconds,
                      run_seconds=[run_seconds], notes=self.warnings.notes() + notes)

    def compile(self, case, mesh, dumped):
        function, keywords = programs.STYLES[self.style](case, mesh, self.grad)
        traced = jax.jit(function, **keywords).trace(*programs.abstract(case, mesh, self.style))
        if self.grad:
            gradient.check(traced)
        return traced.lower().compile(compiler_options=dump.options(dumped))

    def tidy(self):
        self.cases += 1
        if self.cases % CASES_BETWEEN_CLEANUPS == 0:
            jax.clear_caches()
            gc.collect()


def versions():
    found = {"jax": jax.__version__, "jaxlib": jaxlib.__version__, "numpy": numpy.__version__,
             "python": sys.version.split()[0]}
    if flags := os.environ.get("XLA_FLAGS", "").strip():
        found["XLA_FLAGS"] = flags  # they change what is judged
    return found
