"""MaxText's resolvers. The NNX one has another name in each release before and after MaxText #4205."""

from flax import nnx
import jax
from jax.sharding import PartitionSpec as P

import imported
import layout

# The function that gives an NNX variable its sharding: of one variable, from 0.2.4 on, or of a state, before.
OF_A_VARIABLE = ("maxtext.utils.sharding", "get_nnx_var_named_sharding_with_scan_axis")
OF_A_STATE = ("maxtext.utils.maxtext_utils", "get_nnx_named_sharding_with_scan_axis")


def of(finder):
    """The resolvers by name, and what each calls."""
    sharding = imported.load("maxtext.utils.sharding", finder)

    def logical_to_mesh_axes(names, rules, how, array):
        return sharding.logical_to_mesh_axes(names, how.mesh, rules=how.argument(rules))

    def create_sharding(names, rules, how, array):
        return sharding.create_sharding(how.mesh, names, rules=how.argument(rules))

    def logical_to_mesh_sharding(names, rules, how, array):
        return sharding.logical_to_mesh_sharding(P(*names), how.mesh, rules=how.argument(rules))

    resolve_variable, called = nnx_function(finder)

    def nnx_resolver(names, rules, how, array):
        return resolve_variable(variable(names, rules, how, array), how.mesh)

    resolvers = {"nnx": nnx_resolver, "logical_to_mesh_axes": logical_to_mesh_axes,
                 "create_sharding": create_sharding, "logical_to_mesh_sharding": logical_to_mesh_sharding}
    names = {name: f"maxtext.utils.sharding.{name}" for name in resolvers}
    return resolvers, {**names, "nnx": called}


def nnx_function(finder):
    module, name = OF_A_VARIABLE
    if function := getattr(imported.load(module, finder), name, None):
        return lambda v, mesh: function(v, mesh).get_value(), f"{module}.{name}"
    module, name = OF_A_STATE
    if function := getattr(imported.load(module, finder), name, None):
        return lambda v, mesh: function({"w": v}, mesh)["w"].get_value(), f"{module}.{name}"
    raise SystemExit("maxtext: this release has no resolver of NNX variables; 0.2.3 and later do")


def variable(names, rules, how, array):
    """A parameter as MaxText's layers make it, with an abstract value."""
    given = how.argument(rules)
    more = {} if given is None else {"sharding_rules": given}
    value = jax.ShapeDtypeStruct(array.shape, layout.DTYPES[array.dtype])
    return nnx.Param(value, out_sharding=names, eager_sharding=False, **more)
