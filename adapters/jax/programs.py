"""The program a user of JAX would write for a case, in each style.

auto       automatic axes: in_shardings, out_shardings, with_sharding_constraint in between; or by another route:
             inside       with_sharding_constraint alone; operands lie as asked, jit is told nothing
             uncommitted  the same with operands on one device, to which nothing binds them
             donate       in_shardings and out_shardings, operands given away
             shard_map    the same, not given away; the product by hand over the axes of which nothing but a sum moves
explicit   explicit axes: reshard, out_sharding, unreduced for unfinished sums
shard_map  one collective by its name, on blocks

Each function gives (function of the operands, keywords for jax.jit).
"""

import contextlib

import jax
import jax.numpy as jnp

import by_hand
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


def auto(case, mesh, grad=None, route="out"):
    source, sharding = ([layout.sharding_of(mesh, s.split, s.unfinished) for s in specs]
                        for specs in (case.operands, case.chain))
    within = route in ("inside", "uncommitted")
    times = product if route != "shard_map" else lambda case: by_hand.product(case, mesh, product(case))
    multiply = None if case.op == "reshard" else gradient.product(case, grad, times, False) if grad else times(case)

    def constrained(y, s, spec):
        return y if spec.free else jax.lax.with_sharding_constraint(y, s)

    def function(*operands):
        if within:
            operands = map(constrained, operands, source, case.operands)
        y, = operands if case.op == "reshard" else [multiply(*operands)]
        for s, spec in list(zip(sharding, case.chain))[:None if within else -1]:
            y = constrained(y, s, spec)
        return y

    if within:
        return function, {}
    keywords = {"in_shardings": tuple(source)}
    if not case.result.free:
        keywords["out_shardings"] = sharding[-1]
    if route == "donate":
        keywords["donate_argnums"] = tuple(range(len(source)))
    return function, keywords


def explicit(case, mesh, grad=None, route="out"):
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


def shard_map(case, mesh, grad=None, route="out"):
    return collective.program(case, mesh), {}


STYLES = {"auto": auto, "explicit": explicit, "shard_map": shard_map}


def ambient(style, mesh):
    return jax.set_mesh(mesh) if style == "explicit" else contextlib.nullcontext()


def abstract(case, mesh, style, route="out"):
    """The operands' types, for lowering."""
    if route == "uncommitted":
        return [jax.ShapeDtypeStruct(s.shape, layout.DTYPES[s.dtype]) for s in case.operands]
    if style == "shard_map":
        return collective.abstract(case, mesh)
    return [jax.ShapeDtypeStruct(s.shape, layout.DTYPES[s.dtype],
                                 sharding=layout.sharding_of(mesh, s.split, s.unfinished)) for s in case.operands]


def placed(case, mesh, style, operands, route="out"):
    """The operands, each where its spec lays it; of route=uncommitted where JAX puts what nothing binds to a place."""
    if route == "uncommitted":
        return [data.uncommitted(s, o) for s, o in zip(case.operands, operands)]
    if style == "shard_map":
        return [collective.place(mesh, s, o) for s, o in zip(case.operands, operands)]
    return [data.place(case, mesh, s, o) for s, o in zip(case.operands, operands)]
