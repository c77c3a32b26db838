"""hello, limit and run: Transformer Engine's primitives, rules and Shardy partitioning on virtual CPU devices."""

import hashlib
import inspect
import math
import os
import sys
import time
import types

import jax
import jaxlib
import numpy

import data
import dump
import expert
import kernels
import layout
import plan
import probe
import programs
import quantized
import refusals
import resources
import standin
import warned
from plumb_worker import Limit, Result, refuse, trace
from plumb_worker.limits import Table
from plumb_worker.loop import last_lines

LEAST_DEVICES = 16
MOST_DEVICES = 2048  # XLA's limit for one CPU process
CASES_BETWEEN_CLEANUPS = 200


class Backend:
    def __init__(self, options):
        self.options, self.style, self.via = options, options["style"], options["via"]
        names = ("cpp_extensions", "dense", "sharding", "quantize")
        self.te = types.SimpleNamespace(**dict(zip(names, standin.load())))
        kernels.install()
        try:
            self.resources = resources.parsed(options.get("resources"), self.te.sharding.MeshResource)
        except resources.Unknown as e:
            refuse(f"te: {e}")
        self.mesh, self.cases = None, 0
        self.see_the_mesh_from_every_thread()
        self.warnings = warned.Reader()
        self.limits = Table(refusals.rows(self), lambda case: probe.refusal(self, case), "adapters/te/README.md")

    def see_the_mesh_from_every_thread(self):
        """XLA:CPU partitions on a thread of its own, where JAX's mesh of the thread is empty."""
        own = self.te.sharding._PXLA_THREAD_RESOURCES

        class Resources:
            @property
            def physical_mesh(_):
                found = own.env.physical_mesh
                return found if self.mesh is None or not found.empty else self.mesh

        self.te.sharding._PXLA_THREAD_RESOURCES = types.SimpleNamespace(env=Resources())

    def hello(self, mesh):
        if hasattr(jax.config, "jax_use_shardy_partitioner"):
            jax.config.update("jax_use_shardy_partitioner", self.options["partitioner"] == "shardy")
        elif self.options["partitioner"] == "gspmd":
            refuse(f"te: jax {jax.__version__} has no switch to the GSPMD partitioner")
        if self.options["partitioner"] == "gspmd":
            standin.on_raised[:] = [last_words]
        layout.start(max(math.prod(size for _, size in mesh["axes"]), LEAST_DEVICES), "cpu")
        return {
            "name": f"te@{standin.release()}", "versions": versions(self.via),
            "devices": {"count": len(layout.devices()), "kind": "cpu"},
            "capabilities": {
                "ops": ["einsum", "grouped", "quantize"], "schemes": list(quantized.DTYPES),
                "dtypes": ["f32", "bf16", "f16", "f8e4m3", "f8e5m2", "e8m0"], "rules": ["flat"],
                "max_devices": MOST_DEVICES, "acc": ["unspecified"], "wire": ["unspecified"],
                **({"data": "none"} if self.style == "plan" else {})}}

    def limit(self, case):
        missing = resources.missing(self.resources, case.axes)
        if missing:
            return Limit(f"resources name the axis {missing}, which the mesh has not", "adapters/te/README.md")
        found = self.limits.find(case)
        if not found:
            reason = expert.limit(case) if self.via == "shard_map" else None
            return reason and Limit(reason, "adapters/te/README.md")
        return Limit(found[0].reason, found[1] if found[0].probe else "adapters/te/README.md")

    def run(self, case, operands, started):
        self.cases += 1
        if self.cases % CASES_BETWEEN_CLEANUPS == 0:
            jax.clear_caches()
        if case.devices > len(layout.devices()):
            layout.start(case.devices, "cpu")
        self.mesh = mesh = layout.mesh_of(case.axes, case.sizes, case.ids, False)
        guard = self.te.sharding.global_shard_guard(
            resources.of_mesh(self.resources, case.axes, self.te.sharding.MeshResource))
        with mesh, guard:
            if self.style == "plan":
                return plan.answer(self.te, case, mesh, programs.contracted(case))
            return self.compile_and_run(case, mesh, operands, started)

    def program(self, case, mesh):
        if self.via == "shard_map":
            return expert.program(self.te, case, mesh)
        return programs.program(self.te, case, self.via)

    def compile_and_run(self, case, mesh, operands, started):
        self.warnings.skip()
        begin = time.perf_counter()
        with dump.folder(self.options, case) as dumped:
            compiled = self.compile(case, mesh, dumped)
        compile_seconds = time.perf_counter() - begin
        started()
        placed = [data.place(case, mesh, s, o) for s, o in zip(case.operands, operands)]
        begin = time.perf_counter()
        results = compiled(*placed)
        jax.block_until_ready(results)
        wall = time.perf_counter() - begin
        results = results if isinstance(results, tuple) else (results,)
        found, notes = trace.described(compiled.as_text(), case)
        return Result(blocks=[b for i, r in enumerate(results) for b in data.blocks(r, i)],
                      claims=[layout.claim(r, case, s) for r, s in zip(results, results_of(case))],
                      trace=found, compile_seconds=compile_seconds,
                      run_seconds=[wall], notes=self.warnings.notes() + notes)

    def compile(self, case, mesh, dumped):
        where = {"in_shardings": tuple(layout.sharding_of(mesh, s.split) for s in case.operands)}
        out = tuple(None if s.free else layout.sharding_of(mesh, s.split) for s in results_of(case))
        if any(out):
            where["out_shardings"] = out if case.op == "quantize" else out[0]
        abstract = [jax.ShapeDtypeStruct(s.shape, layout.DTYPES[s.dtype]) for s in case.operands]
        lowered = jax.jit(self.program(case, mesh), **where).lower(*abstract)
        try:
            return lowered.compile(compiler_options=dump.options(dumped))
        except Exception as e:
            raise (in_the_rule(e) or e)


def results_of(case):
    return case.chain if case.op == "quantize" else case.chain[-1:]


def last_words(error):
    """With GSPMD an exception in a rule ends the process, under a trace of XLA's own that says nothing of it: what is
    said last is the exception."""
    sys.stderr.write("\n".join(["in the rule, and GSPMD ends the process:", last_lines(error)[0]]) + "\n")
    sys.stderr.flush()
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, sys.stderr.fileno())


class RuleRaised(RuntimeError):
    """The rule raised while XLA asked it."""


def in_the_rule(error):
    """The exception inside the rule, of which XLA gives the traceback as text: its last line is the error's own."""
    head = str(error).split("\nSuspected Python Code Location")[0].strip().splitlines()
    if not head or "custom_partitioner" not in head[0]:
        return None
    last = next(line for line in reversed(head) if line.strip() and not line.startswith(" "))
    return RuleRaised("in the rule: " + last)


# The modules whose rules a case can reach: products, quantizers and what they ask for an amax, alone and grouped.
RULES = ("cpp_extensions.base", "cpp_extensions.gemm", "cpp_extensions.quantization", "cpp_extensions.amax", "dense",
         "quantize", "sharding")


def rule_sources():
    """The installed source of what decides where operands and results lie, by module."""
    names = [f"transformer_engine.jax.{name}" for name in RULES]
    return {name: inspect.getsource(module) for name, module in sorted(sys.modules.items())
            if any(name == own or name.startswith(own + ".") for own in names)}


def digest(*sources):
    return hashlib.sha256("".join(sources).encode()).hexdigest()[:16]


def versions(via):
    release, codes = standin.release(), kernels.quantization()
    amax = sys.modules[codes.AmaxScope.__module__]
    return {"transformer-engine": release, "rules": f"rules of Transformer Engine {release}, kernels ours",
            "rule source": digest(*rule_sources().values()),
            "amax rule source": digest(*map(inspect.getsource, (amax.AmaxScope, amax.AmaxCalculationPrimitive))),
            "codes": "ours, scales of its rules" if via == "dense" else "its own jnp quantizers",
            "jax": jax.__version__, "jaxlib": jaxlib.__version__,
            "numpy": numpy.__version__, "python": sys.version.split()[0]}
