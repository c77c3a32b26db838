"""Logical axis rules resolved by Flax, and by MaxText where it is installed, with their public interfaces alone.

Each question names an array's dimensions, rules in order, and the layout that first match, fall through and each axis
once give, written by hand. Printed is what each function answers on eight virtual CPU devices; layouts are compared
by the slice that each device holds. Exit code 1 where one differs.

    ENV/bin/python axis_rules.py         ENV: made by scripts/environment flax@0.12.8 or maxtext@0.2.5
"""

import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
import types
import unittest.mock
from importlib.metadata import version

os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=8"
os.environ["JAX_PLATFORMS"] = "cpu"

import flax
import jax
import numpy as np
from flax import linen, nnx
from flax.core.spmd import from_sharding_rules, logical_axis_rules
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

# what, sizes of the mesh, names, rules, the layout that is right (None: there is none)
QUESTIONS = [
    ("a name with two rules", dict(fsdp=2, tp=2, u=2), ("embed",), [("embed", ("fsdp", "tp")), ("embed", "fsdp")],
     P(("fsdp", "tp"))),
    ("two names want one axis", dict(fsdp=4, tp=2), ("embed", "mlp"), [("embed", "fsdp"), ("mlp", "fsdp")], P("fsdp")),
    ("a rule that says None, then another", dict(fsdp=4, tp=2), ("a",), [("a", None), ("a", "tp")], P()),
    ("a rule, then others that are none", dict(fsdp=4, tp=2), ("a", "b"),
     [("b", "tp"), ("b", ()), ("b", "nope"), ("a", "tp")], P(None, "tp")),
    ("a name without a rule", dict(fsdp=4, tp=2), ("norm", "embed"), [("embed", "fsdp")], P(None, "fsdp")),
    ("a name that is also an axis", dict(fsdp=4, tp=2), ("fsdp", "embed"), [("embed", "tp")], P(None, "tp")),
    ("an axis of size 1 in between", dict(fsdp=8, ft=1), ("embed", "mlp"), [("mlp", "ft"), ("embed", ("fsdp", "ft"))],
     P("fsdp")),
    ("the same without that axis", dict(fsdp=8), ("embed", "mlp"), [("mlp", ()), ("embed", ("fsdp",))], P("fsdp")),
    ("a misspelt axis", dict(fsdp=4, tp=2), ("embed",), [("embed", "fspd")], None),
    ("an axis of a mesh for a name, and no rules", dict(fsdp=4, tp=2), ("fsdp", "embed"), [], P()),
    ("a name that stands twice", dict(fsdp=4, tp=2), ("a", "a"), [("a", None)], None),
    ("a name that stands twice, and no rules", dict(fsdp=4, tp=2), ("a", "a"), [], None),
    ("an axis of size 1, twice in a value", dict(fsdp=8, u=1), ("a",), [("a", ("u", "u", "fsdp"))], None),
    ("one axis, one name", dict(fsdp=4, tp=2), ("embed", "mlp"), [("embed", "fsdp"), ("mlp", "tp")], P("fsdp", "tp")),
]


def resolvers():
    yield "flax.linen.logical_to_mesh_axes", lambda names, rules, mesh: linen.logical_to_mesh_axes(names, rules)
    yield "flax.core.spmd.from_sharding_rules", lambda names, rules, mesh: P(*from_sharding_rules(names, rules))

    def var_pspec(names, rules, mesh):
        value = jax.ShapeDtypeStruct((8,) * len(names), np.float32)
        return nnx.spmd.get_var_pspec(nnx.Param(value, out_sharding=names, sharding_rules=rules, eager_sharding=False))

    yield "flax.nnx.spmd.get_var_pspec", var_pspec
    if importlib.util.find_spec("maxtext"):
        yield from of_maxtext()


def of_maxtext():
    """Its files sharding.py and maxtext_utils.py as installed; what they import of the rest of MaxText is a mock."""
    real = ("maxtext.utils.sharding", "maxtext.utils.maxtext_utils", "maxtext.common.common_types")

    class Mocks(importlib.abc.MetaPathFinder, importlib.abc.Loader):
        def find_spec(self, name, path, target=None):
            if name.startswith("maxtext.") and name not in (*real, "maxtext.utils", "maxtext.common"):
                return importlib.machinery.ModuleSpec(name, self, is_package=True)

        def create_module(self, spec):
            return unittest.mock.MagicMock(__path__=[], __spec__=spec)

        def exec_module(self, module):
            pass

    folder = importlib.util.find_spec("maxtext").submodule_search_locations[0]
    for name in ("maxtext", "maxtext.utils", "maxtext.common"):  # without running their __init__
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].__path__ = ["/".join([folder, *name.split(".")[1:]])]
    sys.meta_path.insert(0, Mocks())
    sharding = importlib.import_module(real[0])
    yield real[0] + ".create_sharding", lambda names, rules, mesh: sharding.create_sharding(mesh, names, rules)

    name = "get_nnx_var_named_sharding_with_scan_axis"
    if hasattr(sharding, name):
        of_variable = getattr(sharding, name)
    else:
        name = "get_nnx_named_sharding_with_scan_axis"
        of_state = getattr(importlib.import_module(real[1]), name)
        of_variable = lambda v, mesh: of_state({"w": v}, mesh)["w"]

    def nnx_sharding(names, rules, mesh):
        value = jax.ShapeDtypeStruct((8,) * len(names), np.float32)
        variable = nnx.Param(value, out_sharding=names, eager_sharding=False)
        with logical_axis_rules(rules):
            return of_variable(variable, mesh).get_value()

    yield f"maxtext {version('maxtext')}, {name}", nnx_sharding


def slices(sharding, rank):
    return sharding.devices_indices_map((8,) * rank)


def answer(resolve, question):
    """The answer's text, and whether it is right."""
    _, sizes, names, rules, right = question
    count = int(np.prod(list(sizes.values())))
    mesh = Mesh(np.array(jax.devices()[:count]).reshape(list(sizes.values())), tuple(sizes))
    try:
        found = resolve(names, tuple(rules), mesh)
        found = found if isinstance(found, NamedSharding) else NamedSharding(mesh, found)
    except Exception as e:
        return f"{type(e).__name__}: {str(e).splitlines()[0][:90]}", right is None
    same = right is not None and slices(found, len(names)) == slices(NamedSharding(mesh, right), len(names))
    return str(found.spec), same


def main():
    wrong = 0
    for name, resolve in resolvers():
        print(name)
        for question in QUESTIONS:
            text, right = answer(resolve, question)
            wrong += not right
            what, sizes, names, rules, _ = question
            print(f"    {'right' if right else 'WRONG'}  {what}: {names} {rules} on {sizes}: {text}")
    print(f"jax {jax.__version__}, flax {flax.__version__}: "
          f"{wrong} answers are not those of first match, each axis once")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
