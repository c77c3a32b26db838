"""Products whose layouts are given, right ones and known wrong ones."""

import jax
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

CUBE = {"x": 2, "y": 2, "z": 2}


def matmul(lhs, rhs, out):
    def make(mesh):
        place = [NamedSharding(mesh, spec) for spec in (lhs, rhs)]
        program = jax.jit(jnp.matmul, in_shardings=place, out_shardings=NamedSharding(mesh, out))
        return program, [jax.ShapeDtypeStruct((8, 8), jnp.float32)] * 2

    return CUBE, AxisType.Auto, make


def xla_40034(mesh):
    """The gradient of openxla/xla#40034: left unreduced over three axes, replicated over one of them."""
    dp, fsdp, sp, tp = (mesh.shape[a] for a in ("dp", "fsdp", "sp", "tp"))
    b, s, h, f = 2 * dp * fsdp, 2 * sp, 2 * fsdp * sp, 2 * tp

    def gradient(x, y):
        partial = jnp.einsum("bsh,bsf->hf", x, y, out_sharding=P(None, "tp", unreduced={"dp", "fsdp", "sp"}))
        return jax.sharding.reshard(partial, P(("fsdp", "sp"), "tp"))

    place = [NamedSharding(mesh, P(("dp", "fsdp"), "sp", None)), NamedSharding(mesh, P(("dp", "fsdp"), "sp", "tp"))]
    shapes = [(b, s, h), (b, s, f)]
    return jax.jit(gradient), [jax.ShapeDtypeStruct(n, jnp.float32, sharding=p) for n, p in zip(shapes, place)]


def many():
    return {"dp": 2, "fsdp": 2, "sp": 2, "tp": 2}, AxisType.Explicit, xla_40034


PROGRAMS = {
    "matmul_right": matmul(P("x", "y"), P("y", "z"), P("x", "z")),
    "matmul_swapped": matmul(P("y", "z"), P("x", None), P(("z", "y"), "x")),  # wrong
    "matmul_gathered": matmul(P("y", "z"), P("x", ("z", "y")), P(("x", "y"), None)),
    "matmul_rows": matmul(P("y", "z"), P("z", ("x", "y")), P("z", "x")),
    "matmul_columns": matmul(P(None, "y"), P("x", "z"), P("y", ("z", "x"))),
    "matmul_split": matmul(P(("y", "x"), "z"), P("y", "z"), P(None, ("x", "z"))),
    "xla_40034": many(),
}
