"""Operands into JAX, results out of it. Where a piece lies is always what JAX says, never what we think."""

import jax
import numpy as np

import layout


def array_of(view, shape, dtype):
    return np.frombuffer(view, np.uint8).view(layout.DTYPES[dtype]).reshape(shape)


def place(case, mesh, spec, operand):
    """One operand on the devices: (bytes, shape) of the whole array, its parts leading if it has any."""
    whole = array_of(*operand, spec.dtype)
    if not spec.unfinished:
        return jax.device_put(whole, layout.sharding_of(mesh, spec.split))
    finished = layout.sharding_of(mesh, spec.split)
    where = finished.addressable_devices_indices_map(spec.shape)
    part, number = case.parts(spec.unfinished), layout.place_of()
    pieces = jax.device_put([whole[part[number[d]]][index] for d, index in where.items()], list(where))
    sharding = layout.sharding_of(mesh, spec.split, spec.unfinished)
    return jax.make_array_from_single_device_arrays(spec.shape, sharding, pieces)


def uncommitted(spec, operand):
    """One operand as device_put leaves it that is told no device."""
    return jax.device_put(array_of(*operand, spec.dtype))


def blocks(array, result):
    """(device, result, bytes, slices) for every shard that JAX holds of an array. Of an unreduced array JAX
    gives no index, and none holds for a shard of another shape than its index."""
    number = layout.place_of()
    unreduced = getattr(getattr(array.sharding, "spec", None), "unreduced", None)
    found = []
    for shard in array.addressable_shards:
        held = np.asarray(shard.data)
        data = np.ascontiguousarray(held).reshape(-1).view(np.uint8)
        slices = None if unreduced else layout.slices_of(shard.index, array.shape)
        if slices and held.shape != tuple(end - begin for (begin, end), in slices):
            slices = None  # a program may leave a device another shape than the sharding says
        found.append((number[shard.device], result, data, slices))
    return found
