"""Training steps in plain JAX: what a partitioner meets."""

import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

MESH = {"dp": 2, "fsdp": 2, "tp": 2}
LENGTH, LAYERS = 8, 2


def sizes(mesh):
    """Batch, model, heads, hidden and vocabulary: small, and each a multiple of what splits it."""
    dp, fsdp, tp = (mesh.shape[axis] for axis in MESH)
    return max(8, dp * fsdp), max(16, 2 * fsdp), max(4, tp), max(32, 4 * tp), max(32, 4 * tp)


def parameters(mesh):
    """Shape and layout; those of a layer are stacked for the scan."""
    _, model, heads, hidden, vocabulary = sizes(mesh)
    return {
        "embedding": ((vocabulary, model), P("tp", "fsdp")),
        "norm": ((LAYERS, model), P(None, None)),
        "query": ((LAYERS, model, heads, model // heads), P(None, "fsdp", "tp", None)),
        "key": ((LAYERS, model, heads, model // heads), P(None, "fsdp", "tp", None)),
        "value": ((LAYERS, model, heads, model // heads), P(None, "fsdp", "tp", None)),
        "out": ((LAYERS, heads, model // heads, model), P(None, "tp", None, "fsdp")),
        "up": ((LAYERS, model, hidden), P(None, "fsdp", "tp")),
        "down": ((LAYERS, hidden, model), P(None, "tp", "fsdp")),
    }


def norm(x, scale):
    return x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 2.0**-20) * scale


def attention(x, w):
    q, k, v = (jnp.einsum("bsm,mhd->bshd", x, w[name]) for name in ("query", "key", "value"))
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / jnp.sqrt(jnp.float32(q.shape[-1]))
    causal = jnp.tril(jnp.ones((LENGTH, LENGTH), bool))
    weights = jax.nn.softmax(jnp.where(causal, scores, -jnp.inf))
    return jnp.einsum("bhqk,bkhd,hdm->bqm", weights, v, w["out"])


def block(x, w):
    x = lax.with_sharding_constraint(x, P(("dp", "fsdp"), None, None))
    x = x + attention(norm(x, w["norm"]), w)
    hidden = jax.nn.gelu(jnp.einsum("bsm,mf->bsf", norm(x, w["norm"]), w["up"]))
    return x + jnp.einsum("bsf,fm->bsm", hidden, w["down"])


def loss(w, tokens):
    x = w["embedding"][tokens]
    layers = {name: w[name] for name in w if name != "embedding"}
    x, _ = lax.scan(lambda x, w: (jax.checkpoint(block)(x, w), None), x, layers)
    logits = jnp.einsum("bsm,vm->bsv", x, w["embedding"])
    chosen = jnp.take_along_axis(jax.nn.log_softmax(logits[:, :-1]), tokens[:, 1:, None], -1)
    return -jnp.mean(chosen)


def adam(w, m, v, g, step):
    """One step of Adam on a leaf."""
    m, v = 0.9 * m + 0.1 * g, 0.99 * v + 0.01 * g * g
    rate = 0.125 * jnp.sqrt(1 - 0.99**step) / (1 - 0.9**step)
    return w - rate * m / (jnp.sqrt(v) + 2.0**-27), m, v


def train(state, tokens):
    w, m, v, step = state
    step = step + 1
    value, g = jax.value_and_grad(loss)(w, tokens)
    new = {name: adam(w[name], m[name], v[name], g[name], step.astype(jnp.float32)) for name in w}
    w, m, v = ({name: parts[i] for name, parts in new.items()} for i in range(3))
    return (w, m, v, step), value


def transformer(mesh):
    place = lambda spec: NamedSharding(mesh, spec)
    laid = {name: place(spec) for name, (_, spec) in parameters(mesh).items()}
    state = (laid, laid, laid, place(P()))
    program = jax.jit(train, in_shardings=(state, place(P(("dp", "fsdp"), None))), out_shardings=(state, place(P())),
                      donate_argnums=0)
    arrays = {name: jax.ShapeDtypeStruct(shape, jnp.float32) for name, (shape, _) in parameters(mesh).items()}
    step, tokens = jax.ShapeDtypeStruct((), jnp.int32), jax.ShapeDtypeStruct((sizes(mesh)[0], LENGTH), jnp.int32)
    return program, [(arrays, arrays, arrays, step), tokens]


EXPERTS, CAPACITY = 4, 4


def routed(x, gate, up, down):
    """Top-1 routing by one-hot dispatch, with a capacity."""
    choice = jnp.argmax(x @ gate, -1)
    chosen = jax.nn.one_hot(choice, EXPERTS)
    rank = (jnp.cumsum(chosen, 0) - 1) * chosen
    dispatch = chosen[:, :, None] * jax.nn.one_hot(jnp.sum(rank, -1).astype(jnp.int32), CAPACITY)[:, None, :]
    inside = lax.with_sharding_constraint(jnp.einsum("tec,tm->ecm", dispatch, x), P("ep", None, None))
    outside = jnp.einsum("ecf,efm->ecm", jax.nn.relu(jnp.einsum("ecm,emf->ecf", inside, up)), down)
    return jnp.einsum("tec,ecm->tm", dispatch, outside)


def ragged(x, gate, up, down):
    """Top-1 routing by sorting, then grouped products."""
    choice = jnp.argmax(x @ gate, -1)
    order = jnp.argsort(choice)
    sizes = jnp.bincount(choice, length=EXPERTS)
    hidden = jax.nn.relu(lax.ragged_dot(x[order], up, sizes))
    return jnp.zeros_like(x).at[order].set(lax.ragged_dot(hidden, down, sizes))


def experts(forward):
    def make(mesh):
        place = lambda *axes: NamedSharding(mesh, P(*axes))
        where = [place(("dp", "ep")), place(), place("ep"), place("ep")]
        shapes = [(16, 8), (8, EXPERTS), (EXPERTS, 8, 12), (EXPERTS, 12, 8)]
        step = jax.value_and_grad(lambda *args: jnp.sum(forward(*args) ** 2), (0, 2, 3))
        program = jax.jit(step, in_shardings=where, out_shardings=(place(), (where[0], *where[2:])))
        return program, [jax.ShapeDtypeStruct(n, jnp.float32) for n in shapes]

    return {"dp": 2, "ep": 4}, AxisType.Auto, make


PROGRAMS = {
    "transformer": (MESH, AxisType.Auto, transformer),
    "moe_onehot": experts(routed),
    "moe_ragged": experts(ragged),
}
