"""Plumbline's words in JAX's: dtypes, meshes, shardings, and back."""

import functools

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec as P

from plumb_worker import parts_text, spec_text

DTYPES = {
    "s8": np.dtype(np.int8), "s32": np.dtype(np.int32), "f16": np.dtype(np.float16), "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64), "bf16": np.dtype(ml_dtypes.bfloat16), "f8e4m3": np.dtype(ml_dtypes.float8_e4m3fn),
    "f8e5m2": np.dtype(ml_dtypes.float8_e5m2),
}
if hasattr(jnp, "float8_e8m0fnu"):
    DTYPES["e8m0"] = np.dtype(ml_dtypes.float8_e8m0fnu)
NAMES = {dtype: name for name, dtype in DTYPES.items()}


def start(count, platform=None):
    """Makes at least `count` devices: GPUs where they suffice, or are asked for, else virtual CPU devices.
    Their number is fixed once JAX runs, so a larger one starts its backends anew."""
    for cache in (devices, place_of, mesh_of, sharding_of):
        cache.cache_clear()
    if _started:
        from jax.extend import backend

        jax.clear_caches()
        backend.clear_backends()
    jax.config.update("jax_num_cpu_devices", count)
    _started[:] = [count, platform]


@functools.lru_cache(maxsize=1)
def devices():
    count, platform = _started
    if platform != "cpu" and jax.default_backend() != "cpu":
        found = jax.devices()
        if platform == "gpu" or len(found) >= count:
            return found
    return jax.devices("cpu")


_started = []


def started():
    return bool(_started)


@functools.lru_cache(maxsize=1)
def place_of():
    """The number of each device: its position in devices()."""
    return {device: i for i, device in enumerate(devices())}


@functools.lru_cache(maxsize=64)
def mesh_of(axes, sizes, ids, explicit):
    """The mesh whose row-major position p is held by device ids[p]."""
    grid = np.empty(len(ids), object)
    grid[:] = [devices()[i] for i in ids]
    kind = AxisType.Explicit if explicit else AxisType.Auto
    return Mesh(grid.reshape(sizes), axes, axis_types=(kind,) * len(axes))


def partition_spec(split, unfinished=()):
    entries = [axes[0] if len(axes) == 1 else (axes or None) for axes in split]
    return P(*entries, unreduced=frozenset(unfinished)) if unfinished else P(*entries)


@functools.lru_cache(maxsize=4096)
def sharding_of(mesh, split, unfinished=()):
    return NamedSharding(mesh, partition_spec(split, unfinished))


def slices_of(index, shape):
    """A shard's index as JAX gives it, as ranges."""
    return [[piece.indices(n)[:2]] for piece, n in zip(index, shape)]


def axes_of(entry):
    return () if entry is None else (entry,) if isinstance(entry, str) else tuple(entry)


def claim(array, case, spec):
    """The layout that an array says it has, as a spec's text over the case's mesh; None where it cannot be
    said. JAX keeps unfinished axes as a set: they are named in the spec's order where it is the same set."""
    sharding = array.sharding
    if not isinstance(sharding, NamedSharding) or array.dtype not in NAMES:
        return None
    mesh, number = sharding.mesh, place_of()
    if mesh.axis_names != case.axes or tuple(number[d] for d in mesh.devices.flat) != case.ids:
        return None
    entries = list(getattr(sharding.spec, "partitions", None) or sharding.spec)
    split = [axes_of(e) for e in entries] + [()] * (array.ndim - len(entries))
    left = getattr(sharding.spec, "unreduced", None) or frozenset()
    order = spec.unfinished if left == set(spec.unfinished) else [a for a in case.axes if a in left]
    return spec_text(NAMES[array.dtype], array.shape, split, parts_text(order))
