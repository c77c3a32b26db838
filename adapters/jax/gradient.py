"""A product as a gradient that JAX itself takes: grad=lhs|rhs.

The operand that the option names is fed as the cotangent of the product that maps (wanted result, other operand) to
it, so that what jax.vjp gives back for the wanted result's place is the product of the case:

    case mk,kn->mn    grad=lhs    forward mn,kn->mk, cotangent lhs    gradient for mn: lhs rhs
                      grad=rhs    forward mk,mn->kn, cotangent rhs    gradient for mn: lhs rhs
"""

import copy

import jax
import jax.numpy as jnp

import layout

# form and option -> form of the forward product, and whether its operands stand the other way round
GROUPED = {
    ("fwd", "lhs"): ("dgrad", False), ("fwd", "rhs"): ("wgrad", False),
    ("dgrad", "lhs"): ("fwd", False), ("dgrad", "rhs"): ("wgrad", True),
    ("wgrad", "lhs"): ("dgrad", True), ("wgrad", "rhs"): ("fwd", False),
}


def forward(case, fed):
    """The case whose gradient is this one: its operands in order, and whether the wanted result is its first."""
    other = copy.copy(case)
    wanted, (left, right) = case.chain[0], case.operands
    first = fed == "lhs"
    other.operands = [wanted, right] if first else [left, wanted]
    other.chain = [left] if first else [right]
    if case.op == "einsum":
        other.lhs, other.rhs, other.out = (case.out, case.rhs, case.lhs) if first else (case.lhs, case.out, case.rhs)
        return other, first
    other.form, swapped = GROUPED[case.form, fed]
    if swapped:
        other.operands.reverse()
    return other, first != swapped


def primal(wanted, explicit):
    """Zeros in the wanted result's place: a product is linear in each operand, its gradient does not see them. On
    explicit axes their type decides that of the gradient: over axes of which they are the reduced value, the
    gradient is left unfinished."""
    zeros = jnp.zeros(wanted.shape, layout.DTYPES[wanted.dtype])
    if not explicit or wanted.free:
        return zeros
    spec = layout.partition_spec(wanted.split)
    if wanted.unfinished:
        spec = jax.sharding.PartitionSpec(*spec, reduced=frozenset(wanted.unfinished))
    return jax.sharding.reshard(zeros, spec)


def product(case, fed, multiply, explicit):
    """The function of both operands. `multiply(case, **where)` is the framework's product for a case."""
    other, first = forward(case, fed)
    cotangent = other.chain[0]
    where = {"out_sharding": layout.partition_spec(cotangent.split, cotangent.unfinished)} if explicit else {}
    ahead = multiply(other, **where)

    def function(x, y):
        fed_value, kept = (x, y) if fed == "lhs" else (y, x)
        through = (lambda w: ahead(w, kept)) if first else (lambda w: ahead(kept, w))
        _, back = jax.vjp(through, primal(case.chain[0], explicit))
        return back(fed_value)[0]

    return function


def equations(jaxpr):
    for equation in jaxpr.eqns:
        yield equation
        for value in equation.params.values():
            for inner in value if isinstance(value, (list, tuple)) else [value]:
                inner = getattr(inner, "jaxpr", inner)
                if hasattr(inner, "eqns"):
                    yield from equations(inner)


def seen(jaxpr):
    """The equations that JAX made by transposing: `transpose` stands in the stack of their names."""
    return [e.primitive.name for e in equations(jaxpr) if "transpose" in str(e.source_info.name_stack)]


def check(traced):
    """Raises where the traced program holds no gradient."""
    if not seen(traced.jaxpr.jaxpr):
        raise RuntimeError("the jaxpr holds no transposed equation: the product was not computed as a gradient")
