"""hello, limit and run over JAX."""

import contextlib
import os
import sys

import jax
import jaxlib
import numpy

import compiled
import gradient
import layout
import limits
import programs
from plumb_worker import Limit, refuse
from plumb_worker.limits import Table

with contextlib.suppress(ImportError):
    import jaxlib.mlir.dialects.mhlo  # noqa: F401  JAX imports it late; here every child has it

LEAST_DEVICES = 64


class Backend(compiled.Backend):
    def __init__(self, options):
        super().__init__("jax", {"platform": None, **options})
        self.style, self.grad, self.route = options["style"], options.get("grad"), options["route"]
        self.limits = Table(limits.rows(options), self.refusal, "adapters/jax/README.md")

    def hello(self, mesh):
        self.start(mesh, LEAST_DEVICES)
        if self.options.get("precision") == "highest":
            jax.config.update("jax_default_matmul_precision", "highest")
        devices = layout.devices()
        if self.options["platform"] == "gpu" and devices[0].platform == "cpu":
            refuse("jax: platform=gpu, and JAX finds no GPU here; "
                   "scripts/environment --gpu makes an environment for GPUs")
        return {
            "name": f"jax@{jax.__version__}",
            "versions": versions(),
            "devices": {"count": len(devices), "kind": devices[0].device_kind},
            "alone": devices[0].platform != "cpu",
            "times": True,
            "capabilities": {
                "ops": ["reshard", "einsum", "grouped"], "dtypes": list(layout.DTYPES), "rules": ["flat"],
                "max_devices": compiled.MOST_DEVICES if devices[0].platform == "cpu" else len(devices),
                "acc": ["unspecified"], "wire": ["unspecified"], "tail": "undefined",
                **({} if devices[0].platform == "cpu" else {"engine": "matrix"})},
        }

    def limit(self, case):
        if self.route == "donate" and case.timing and case.timing.batch > 1:
            return Limit("a batch runs again on operands that its first run was given: route=donate is timed with --batch 1",
                         "adapters/jax/README.md")
        return super().limit(case)

    def run(self, case, operands, started):
        self.make_room(case)
        jax.config.update("jax_enable_x64", any(s.dtype == "f64" for s in case.specs))
        mesh = layout.mesh_of(case.axes, case.sizes, case.ids, self.style == "explicit")
        with programs.ambient(self.style, mesh):
            placed = lambda: programs.placed(case, mesh, self.style, operands, self.route)
            return self.compile_and_run(case, mesh, placed, started)

    def lowered(self, case, mesh):
        function, keywords = programs.STYLES[self.style](case, mesh, self.grad, self.route)
        traced = jax.jit(function, **keywords).trace(*programs.abstract(case, mesh, self.style, self.route))
        if self.grad:
            gradient.check(traced)
        return traced.lower()


def versions():
    found = {"jax": jax.__version__, "jaxlib": jaxlib.__version__, "numpy": numpy.__version__,
             "python": sys.version.split()[0]}
    if flags := os.environ.get("XLA_FLAGS", "").strip():
        found["XLA_FLAGS"] = flags  # they change what is judged
    return found
