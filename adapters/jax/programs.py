"""The program a user of JAX would write for a case, in each style.

auto       automatic axes: in_shardings, out_shardings, with_sharding_constraint in between
explicit   explicit axes: reshard, out_sharding, unreduced for unfinished sums
shard_map  one collective by its name, on blocks

Each function gives (function of the operands, keywords for jax.jit).
"""

import contextlib

import jax
import jax.numpy as jnp

import collective
import data
import gradient
import grouped
import layout

reshard = getattr(jax.sharding, "reshard", None) or getattr(jax, "reshard", None)


def product(case, **where):
    if case.op == "grouped":
        return grouped.product(case, **where)
    letters = f"{case.lhs},{case.rhs}->{case.out}"
    wanted = layout.DTYPES[case.chain[0].dtype]
    return lambda x, y: jnp.einsum(letters, x, y, preferred_element_type=wanted, **where)


def auto(case, mesh, grad=None):
    sharding = [layout.sharding_of(mesh, s.split, s.unfinished) for s in case.chain]

    def through(y):
        for s, spec in zip(sharding[:-1], case.chain):
            if not spec.free:
                y = jax.lax.with_sharding_constraint(y, s)
        return y

    if case.op == "reshard":
        function = through
    else:
        multiply = gradient.product(case, grad, product, False) if grad else product(case)
        function = lambda x, y: through(multiply(x, y))
    keywords = {"in_shardings": tuple(layout.sharding_of(mesh, s.split, s.unfinished) for s in case.operands)}
    if not case.result.free:
        keywords["out_shardings"] = sharding[-1]
    return function, keywords


def explicit(case, mesh, grad=None):
    spec = [None if s.free else layout.partition_spec(s.split, s.unfinished) for s in case.chain]

    def through(y, rest):
        for s in rest:
            y = y if s is None else reshard(y, s)
        return y

    if case.op == "reshard":
        return lambda x: through(x, spec), {}
    if grad:
        multiply = gradient.product(case, grad, product, True)
        return lambda x, y: through(multiply(x, y), spec), {}
    where = {} if spec[0] is None else {"out_sharding": spec[0]}
    multiply = product(case, **where)
    return lambda x, y: through(multiply(x, y), spec[1:]), {}


def shard_map(case, mesh, grad=None):
    return collective.program(case, mesh), {}


STYLES = {"auto": auto, "explicit": explicit, "shard_map": shard_map}


def ambient(style, mesh):
    return jax.set_mesh(mesh) if style == "explicit" else contextlib.nullcontext()


def abstract(case, mesh, style):
    """The operands' types, for lowering."""
    if style == "shard_map":
        return collective.abstract(case, mesh)
    return [jax.ShapeDtypeStruct(s.shape, layout.DTYPES[s.dtype],
                                 sharding=layout.sharding_of(mesh, s.split, s.unfinished)) for s in case.operands]


def placed(case, mesh, style, operands):
    """The operands, each where its spec lays it."""
    if style == "shard_map":
        return [collective.place(mesh, s, o) for s, o in zip(case.operands, operands)]
    return [data.place(case, mesh, s, o) for s, o in zip(case.operands, operands)]
