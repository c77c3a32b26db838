"""A resolver as a backend: logical names and rules in, a layout or a refusal out. Shared with adapters/maxtext.

A resolver is a function of (names, rules, how, array): how.mesh is a JAX mesh, how.given says how the rules reach the
framework. It returns a PartitionSpec, a sharding, or None where the framework says nothing; whatever the framework
raises in it is its answer that there is no layout.
"""

import contextlib
import dataclasses
import math
import os
import sys

import jax
import numpy
from flax.core import spmd
from jax.sharding import AbstractMesh, NamedSharding, PartitionSpec

import layout
import limits
from limits import MOST_DEVICES
from plumb_worker import Limit, Refusal, Result, spec_text
from plumb_worker.loop import last_lines

ADAPTERS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LEAST_DEVICES = 64


@dataclasses.dataclass
class How:
    mesh: object
    given: str

    def argument(self, rules):
        """The rules as an argument: None, the framework's word for none given, where the context has them."""
        return None if self.given == "context" else rules

    def context(self, rules):
        return spmd.logical_axis_rules(rules) if self.given != "argument" else contextlib.nullcontext()


class Backend:
    """`resolvers` by name; `needs_data` are those that lay out an array that is there, `needs_rules` those that do
    nothing without rules."""

    def __init__(self, options, resolvers, needs_data=(), needs_rules=()):
        self.options, self.resolver = options, resolvers[options["resolver"]]
        self.limits = limits.table(options["resolver"] in needs_data, options["resolver"] in needs_rules)

    def hello(self, mesh):
        layout.start(max(min(ways(mesh["axes"]), MOST_DEVICES), LEAST_DEVICES), "cpu")
        return {"devices": {"count": len(layout.devices()), "kind": "none"},
                "capabilities": {"ops": ["resolve"], "dtypes": list(layout.DTYPES), "rules": ["flat"],
                                 "data": "none"}}

    def limit(self, case):
        found = self.limits.find(case)
        return Limit(found[0].why(case), found[1]) if found else None

    def run(self, case, operands, started):
        mesh = mesh_of(case)
        names = (list if self.options["names"] == "list" else tuple)(name or None for name in case.names)
        rules = tuple(case.rules)
        how = How(mesh, self.options["rules"])
        try:
            with how.context(rules):
                answer = self.resolver(names, rules, how, case.result)
            if not isinstance(answer, (NamedSharding, PartitionSpec)):
                return Result(blocks=[], claims=[None])
            sharding = answer if isinstance(answer, NamedSharding) else NamedSharding(mesh, answer)
            blocks = slices(sharding, case)
        except Exception as e:
            if ours(e):
                raise
            return Refusal(*last_lines(e))
        return Result(blocks=blocks, claims=[claim(sharding.spec, case)])


def ways(axes):
    return math.prod(size for _, size in axes)


def mesh_of(case):
    if case.devices > MOST_DEVICES:
        return AbstractMesh(case.sizes, case.axes)
    if case.devices > len(layout.devices()):
        layout.start(case.devices, "cpu")
    return layout.mesh_of(case.axes, case.sizes, case.ids, False)


def ours(error):
    """Whether an error comes of our own lines, a stand-in's among them, and not of the framework's."""
    frame = error.__traceback__
    while frame.tb_next:
        frame = frame.tb_next
    return os.path.abspath(frame.tb_frame.f_code.co_filename).startswith(ADAPTERS + os.sep)


def claim(spec, case):
    """The layout as a spec's text. None where it names what is no axis: JAX would have refused it."""
    split = [layout.axes_of(entry) for entry in spec]
    shape = case.result.shape
    split += [()] * (len(shape) - len(split))
    return spec_text(case.result.dtype, shape, split)


def slices(sharding, case):
    """Each device's slice as the sharding has it, without data; none for a mesh without devices, nor where an axis
    does not divide its size, which JAX refuses to say."""
    shape = case.result.shape
    if isinstance(sharding.mesh, AbstractMesh):
        return []
    for n, entry in zip(shape, sharding.spec):
        if n % ways([(a, sharding.mesh.shape[a]) for a in layout.axes_of(entry)]):
            return []
    number = layout.place_of()
    return [(number[device], 0, b"", layout.slices_of(index, shape))
            for device, index in sharding.devices_indices_map(shape).items()]


def versions(**more):
    return {**more, "jax": jax.__version__, "numpy": numpy.__version__, "python": sys.version.split()[0]}
