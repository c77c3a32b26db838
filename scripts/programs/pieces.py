"""Small programs, each for a part of the language: manual regions, uneven shapes, indices, loops, random numbers."""

import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P

PAIR = {"a": 4, "b": 2}


def auto(mesh_axes, function, *arguments, out=None):
    """A row: a jitted function of arguments, each a shape, a layout and a dtype."""

    def make(mesh):
        place = lambda spec: NamedSharding(mesh, spec)
        where = [place(spec) for _, spec, _ in arguments]
        kept = {} if out is None else {"out_shardings": place(out)}
        program = jax.jit(lambda *args: function(mesh, *args), in_shardings=where, **kept)
        return program, [jax.ShapeDtypeStruct(shape, dtype) for shape, _, dtype in arguments]

    return mesh_axes, AxisType.Auto, make


def collectives(mesh, x):
    """Every collective by its name, over one axis and over two."""

    def body(x):
        ring = [(i, (i + 1) % 4) for i in range(4)]
        scattered = lax.psum_scatter(x, "a", scatter_dimension=1, tiled=True)
        moved = lax.all_to_all(x, "a", 1, 0, tiled=True)
        gathered = lax.all_gather(scattered, "a", axis=1, tiled=True)
        passed = lax.ppermute(x, "a", ring) + lax.ppermute(x, "a", ring[:2])
        index = lax.axis_index("a") * 2 + lax.axis_index("b")
        total = lax.psum(x, ("a", "b")) - lax.pmax(x, "b") + lax.pmin(x, ("b", "a"))
        return gathered + passed + total * index.astype(x.dtype), moved

    return jax.shard_map(body, mesh=mesh, in_specs=P("a", "b"), out_specs=(P("a", "b"), P("a", "b")), check_vma=False)(x)


def pipeline(mesh, w, x):
    """Four stages in a ring, micro-batches passed on, and the gradient of it all."""

    def stages(w, x):
        stage, ring = lax.axis_index("a"), [(i, (i + 1) % 4) for i in range(4)]

        def tick(held, t):
            fresh = lax.dynamic_index_in_dim(x, jnp.clip(t, 0, 1), keepdims=False)
            done = jnp.tanh(jnp.where(stage == 0, fresh, held) @ w[0])
            return lax.ppermute(done, "a", ring), jnp.where(stage == 3, done, 0)

        start = jnp.zeros_like(x[0])
        _, outputs = lax.scan(tick, start, jnp.arange(5))
        return lax.psum(outputs[3:], "a")

    run = jax.shard_map(stages, mesh=mesh, in_specs=(P("a"), P(None, "b")), out_specs=P(None, "b"), check_vma=False)
    return jax.value_and_grad(lambda w: jnp.sum(run(w, x) ** 2))(w)


def partly(mesh, w, x):
    """Stages of a ring by hand, over one axis; within each the compiler splits over the other, but for a sum by hand."""

    def stages(w, x):
        stage, ring = lax.axis_index("a"), [(i, (i + 1) % 4) for i in range(4)]
        halves = jax.shard_map(lambda v: lax.psum(jnp.sin(v), "b"), in_specs=P(None, "b"), out_specs=P(), axis_names={"b"})

        def tick(held, t):
            done = jnp.tanh(lax.with_sharding_constraint(jnp.where(stage == 0, x, held) @ w[0], P("b", None)))
            return lax.ppermute(done, "a", ring), done

        _, outputs = lax.scan(tick, jnp.zeros_like(x), jnp.arange(4))
        last = lax.psum(jnp.where(stage == 3, outputs[3], 0), "a")
        return last, halves(last) * stage.astype(x.dtype)[None]

    run = jax.shard_map(stages, mesh=mesh, in_specs=(P("a"), P()), out_specs=(P(), P("a")), axis_names={"a"}, check_vma=False)
    loss = lambda w: (lambda last, each: jnp.sum(last ** 2) + jnp.sum(each))(*run(w, x))
    return jax.value_and_grad(loss)(w), run(w, x)


def uneven(mesh, x, y):
    """Extents that no axis divides: masks, pads, halos."""
    held = lambda v, *axes: lax.with_sharding_constraint(v, NamedSharding(mesh, P(*axes)))
    x = held(x * 2, "a", "b")
    product = held(jnp.exp(x) @ y, "b", "a")
    rolled = held(jnp.roll(product, 2, 0), ("a", "b"), None)
    joined = held(jnp.concatenate([rolled, x @ y]), "a", None)
    return jax.nn.softmax(joined, 0), jnp.max(x, 0), jnp.flip(held(jnp.pad(x, ((1, 2), (0, 3))), "b", "a"), 0)


def indices(mesh, table, rows, values):
    """Gathers, scatters, sorts and searches along split dimensions."""
    held = lambda v, *axes: lax.with_sharding_constraint(v, NamedSharding(mesh, P(*axes)))
    taken = held(table[rows], "b", None)
    added = held(table.at[rows].add(values), "a", "b")
    largest, where = lax.top_k(table, 3)
    ordered, carried = lax.sort((table[:, 0], jnp.arange(16)), num_keys=1)
    slice_ = lax.dynamic_slice(table, (rows[0], 1), (3, 4))
    updated = held(lax.dynamic_update_slice(table, values[:2], (rows[1], 0)), "a", None)
    return taken, added, largest, where, ordered, carried, slice_, updated, jnp.cumsum(table, 0), jnp.argmin(table, 0)


def loops(mesh, x, n):
    """A loop whose trips data decide, a branch, a reduction over windows, a convolution."""
    held = lambda v, *axes: lax.with_sharding_constraint(v, NamedSharding(mesh, P(*axes)))
    doubled = lax.while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, held(s[1] * 2 + s[1].T, "b", "a")), (0, x))[1]
    chosen = lax.cond(n > 2, lambda v: held(v @ v, "a", None), lambda v: v - 1, x)
    pooled = lax.reduce_window(x, -jnp.inf, lax.max, (2, 2), (2, 2), "VALID")
    image = held(x.reshape(1, 1, 8, 8), None, None, "a", None)
    folded = lax.conv_general_dilated(image, jnp.ones((2, 1, 3, 3)), (1, 1), "SAME")
    return doubled, chosen, pooled, folded, jnp.einsum("ij,kj->ik", held(x, "a", None), x)


def random(mesh, key, x):
    """Dropout with keys of threefry, and integers."""
    kept = jax.random.bernoulli(jax.random.wrap_key_data(key), 0.75, x.shape)
    drawn = jax.random.randint(jax.random.wrap_key_data(key), (8,), 0, 100)
    return jnp.where(kept, x / 0.75, 0), drawn


F, I, U = jnp.float32, jnp.int32, jnp.uint32
PROGRAMS = {
    "collectives": auto(PAIR, collectives, ((16, 16), P("a", "b"), F)),
    "pipeline": auto(PAIR, pipeline, ((4, 6, 6), P("a"), F), ((2, 4, 6), P(None, "b"), F)),
    "partly": auto(PAIR, partly, ((4, 6, 6), P("a", None, "b"), F), ((4, 6), P("b"), F)),
    "uneven": auto(PAIR, uneven, ((5, 7), P(), F), ((7, 3), P(), F)),
    "indices": auto(PAIR, indices, ((16, 8), P("a", "b"), F), ((6,), P("b"), I), ((6, 8), P(None, "b"), F)),
    "loops": auto(PAIR, loops, ((8, 8), P("a", "b"), F), ((), P(), I)),
    "random": auto(PAIR, random, ((2,), P(), U), ((8, 8), P("a", "b"), F)),
}
