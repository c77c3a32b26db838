"""What a worker on JAX times, and what it does around it."""

import jax
import jax.numpy as jnp
import numpy as np

import data
from plumb_worker import Stages, timed


def arrays(made):
    return made if isinstance(made, tuple) else (made,)


def blocks(made):
    return [block for number, array in enumerate(arrays(made)) for block in data.blocks(array, number)]


def kept(made):
    """The arrays, whose layout stays when they are overwritten, and copies of their blocks."""
    return arrays(made), [(*where, np.array(held), slices) for *where, held, slices in blocks(made)]


def filled(piece):
    ones = np.full(piece.dtype.itemsize, 255, np.uint8).view(piece.dtype)[0]
    return jnp.full_like(piece, ones)


def wiped(made, operands):
    """Overwrites a result, by a program to which its memory is given away, unless it is an operand: what gives it back once
    more gives an array that is deleted."""
    memory = {s.data.unsafe_buffer_pointer() for x in operands if not x.is_deleted() for s in x.addressable_shards}
    for array in arrays(made):
        for shard in array.addressable_shards:
            if shard.data.unsafe_buffer_pointer() in memory:
                continue
            with jax.set_mesh(jax.sharding.Mesh(np.array([shard.device]), ("alone",))):  # whatever mesh is around it
                jax.block_until_ready(jax.jit(filled, donate_argnums=0, keep_unused=True)(shard.data))


def run(compiled, operands, timing):
    """timed() of the one process there is. Operands that were given away are made anew, as by the step before in a user's
    loop."""
    placed = jax.block_until_ready(operands())

    def ready():
        nonlocal placed
        if any(x.is_deleted() for x in placed):
            placed = jax.block_until_ready(operands())

    return timed(Stages(once=lambda: jax.block_until_ready(compiled(*placed)), keep=kept,
                        wipe=lambda made: wiped(made, placed), ready=ready), timing)
