"""A training step in Flax and optax: attention, dropout and layer norms of nnx, laid out by its own annotations."""

import jax
import jax.numpy as jnp
import optax
from flax import nnx
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

from programs.training import LENGTH, MESH, sizes


def laid(*axes):
    return nnx.with_partitioning(nnx.initializers.lecun_normal(), axes)


class Block(nnx.Module):
    def __init__(self, model, heads, hidden, rngs):
        self.norms = nnx.List([nnx.LayerNorm(model, rngs=rngs) for _ in range(2)])
        self.attention = nnx.MultiHeadAttention(heads, model, dropout_rate=0.1, decode=False, deterministic=False,
                                                rngs=rngs, kernel_init=laid("fsdp", "tp", None), out_kernel_init=laid("tp", None, "fsdp"))
        self.up = nnx.Linear(model, hidden, kernel_init=laid("fsdp", "tp"), rngs=rngs)
        self.down = nnx.Linear(hidden, model, kernel_init=laid("tp", "fsdp"), rngs=rngs)
        self.dropout = nnx.Dropout(0.1, deterministic=False, rngs=rngs)

    def __call__(self, x, mask):
        x = x + self.attention(self.norms[0](x), mask=mask)
        return x + self.dropout(self.down(nnx.gelu(self.up(self.norms[1](x)))))


class Model(nnx.Module):
    def __init__(self, mesh, rngs):
        _, model, heads, hidden, vocabulary = sizes(mesh)
        self.embed = nnx.Embed(vocabulary, model, embedding_init=laid("tp", "fsdp"), rngs=rngs)
        self.blocks = nnx.List([Block(model, heads, hidden, rngs) for _ in range(2)])
        self.norm = nnx.LayerNorm(model, rngs=rngs)

    def __call__(self, tokens):
        x, mask = self.embed(tokens), nnx.make_causal_mask(tokens)
        for block in self.blocks:
            x = jax.lax.with_sharding_constraint(block(x, mask), P(("dp", "fsdp"), None, None))
        return self.embed.attend(self.norm(x))


def loss(model, tokens):
    logits = model(tokens[:, :-1])
    return optax.softmax_cross_entropy_with_integer_labels(logits, tokens[:, 1:]).mean()


def flax(mesh):
    def made():
        model = Model(mesh, nnx.Rngs(0))
        return model, nnx.Optimizer(model, optax.adamw(0.125), wrt=nnx.Param)

    graph, state = nnx.split(nnx.eval_shape(made))

    def train(state, tokens):
        model, optimizer = nnx.merge(graph, state)
        value, gradient = nnx.value_and_grad(loss)(model, tokens)
        optimizer.update(model, gradient)
        return nnx.state((model, optimizer)), value

    place = lambda spec: NamedSharding(mesh, spec)
    where = jax.tree.map(place, nnx.get_partition_spec(state), is_leaf=lambda x: isinstance(x, P))
    program = jax.jit(train, in_shardings=(where, place(P(("dp", "fsdp"), None))), out_shardings=(where, place(P())),
                      donate_argnums=0)
    return program, [state, jax.ShapeDtypeStruct((sizes(mesh)[0], LENGTH + 1), jnp.int32)]


PROGRAMS = {"flax": (MESH, AxisType.Auto, flax)}
