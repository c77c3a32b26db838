"""Flax's resolvers, by the name of the function that is called."""

import jax
from flax import linen, nnx
from flax.core import spmd
from jax.sharding import PartitionSpec as P

import layout


# flax.linen: rules in order, each mesh axis once.


def logical_to_mesh_axes(names, rules, how, array):
    return linen.logical_to_mesh_axes(names, how.argument(rules))


def logical_to_mesh_sharding(names, rules, how, array):
    return linen.logical_to_mesh_sharding(P(*names), how.mesh, how.argument(rules))


def with_logical_constraint(names, rules, how, array):
    return linen.with_logical_constraint(zeros(array), names, how.argument(rules), how.mesh).sharding


# flax.core and flax.nnx: rules as a dictionary.


def from_sharding_rules(names, rules, how, array):
    return P(*spmd.from_sharding_rules(names, composite(rules, how)))


def get_pspec(names, rules, how, array):
    return spmd.get_pspec(names, how.argument(rules))


def get_var_pspec(names, rules, how, array):
    return nnx.spmd.get_var_pspec(variable(names, rules, how, array))


def get_named_sharding(names, rules, how, array):
    return nnx.get_named_sharding({"w": variable(names, rules, how, array)}, how.mesh)["w"].get_value()


def get_abstract_model(names, rules, how, array):
    def init():
        return Holder(nnx.Param(jax.numpy.zeros(array.shape, dtype(array)), **metadata(names, rules, how)))

    _, state = nnx.get_abstract_model(init, how.mesh)
    return state["w"].get_value().sharding


def param(names, rules, how, array):
    with jax.set_mesh(how.mesh):
        return nnx.Param(zeros(array), **metadata(names, rules, how)).get_value().sharding


class Holder(nnx.Module):
    def __init__(self, w):
        self.w = w


def composite(rules, how):
    """The rules that nnx hands to from_sharding_rules: of the context and of the variable."""
    return spmd.composite_rules(spmd.get_logical_axis_rules(), how.argument(rules))


def metadata(names, rules, how):
    given = how.argument(rules)
    return {"out_sharding": names, **({} if given is None else {"sharding_rules": given})}


def variable(names, rules, how, array):
    """A variable whose value is abstract: only its metadata are looked at."""
    return nnx.Param(jax.ShapeDtypeStruct(array.shape, dtype(array)), **metadata(names, rules, how),
                     eager_sharding=False)


def dtype(array):
    return layout.DTYPES[array.dtype]


def zeros(array):
    return jax.numpy.zeros(array.shape, dtype(array))


ALL = {f.__name__: f for f in (logical_to_mesh_axes, logical_to_mesh_sharding, with_logical_constraint,
                               from_sharding_rules, get_pspec, get_var_pspec, get_named_sharding,
                               get_abstract_model)} | {"Param": param}
NEEDS_DATA = ("with_logical_constraint", "Param", "get_abstract_model")
NEEDS_RULES = ("with_logical_constraint",)
