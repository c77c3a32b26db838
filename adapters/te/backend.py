"""hello, limit and run: Transformer Engine's primitives, rules and Shardy partitioning on virtual CPU devices."""

import hashlib
import inspect
import os
import sys
import types

import jax
import jaxlib
import numpy

import compiled
import data
import expert
import kernels
import layout
import limits
import plan
import programs
import quantized
import resources
import standin
from plumb_worker import refuse
from plumb_worker.limits import Table
from plumb_worker.loop import last_lines

LEAST_DEVICES = 16


class Backend(compiled.Backend):
    def __init__(self, options):
        super().__init__("te", options)
        self.style, self.via, self.mesh = options["style"], options["via"], None
        names = ("cpp_extensions", "dense", "sharding", "quantize")
        self.te = types.SimpleNamespace(**dict(zip(names, standin.load())))
        kernels.install()
        if self.via in ("module", "mlp"):
            self.te.module = standin.modules()
        try:
            self.resources = resources.parsed(options.get("resources"), self.te.sharding.MeshResource)
        except resources.Unknown as e:
            refuse(f"te: {e}")
        self.see_the_mesh_from_every_thread()
        self.limits = Table(limits.rows(self), self.refusal, "adapters/te/README.md")

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
        self.start(mesh, LEAST_DEVICES)
        if self.options["partitioner"] == "gspmd":
            standin.on_raised[:] = [last_words]
        return {
            "name": f"te@{standin.release()}", "versions": versions(self.via),
            "devices": {"count": len(layout.devices()), "kind": "cpu"},
            "capabilities": {
                "ops": ["einsum", "grouped", "quantize"], "schemes": list(quantized.DTYPES),
                "dtypes": ["f32", "bf16", "f16", "f8e4m3", "f8e5m2", "e8m0"], "rules": ["flat"],
                "max_devices": compiled.MOST_DEVICES, "acc": ["unspecified"], "wire": ["unspecified"],
                **({"data": "none"} if self.style == "plan" else {})}}

    def run(self, case, operands, started):
        self.make_room(case)
        self.mesh = mesh = layout.mesh_of(case.axes, case.sizes, case.ids, False)
        guard = self.te.sharding.global_shard_guard(
            resources.of_mesh(self.resources, case.axes, self.te.sharding.MeshResource))
        with mesh, guard:
            if self.style == "plan":
                return plan.answer(self.te, case, mesh, programs.contracted(case))
            place = lambda: [data.place(case, mesh, s, o) for s, o in zip(case.operands, operands)]
            return self.compile_and_run(case, mesh, place, started)

    def program(self, case, mesh):
        if self.via == "shard_map":
            return expert.program(self.te, case, mesh)
        return programs.program(self.te, case, self)

    def lowered(self, case, mesh):
        results = case.chain if case.op == "quantize" else case.chain[-1:]
        where = {"in_shardings": tuple(layout.sharding_of(mesh, s.split) for s in case.operands)}
        out = tuple(None if s.free else layout.sharding_of(mesh, s.split) for s in results)
        if any(out):
            where["out_shardings"] = out if case.op == "quantize" else out[0]
        abstract = [jax.ShapeDtypeStruct(s.shape, layout.DTYPES[s.dtype]) for s in case.operands]
        return jax.jit(self.program(case, mesh), **where).lower(*abstract)

    def compile_and_run(self, case, mesh, operands, started):
        try:
            return super().compile_and_run(case, mesh, operands, started)
        except Exception as e:
            raise (in_the_rule(e) or e)


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
