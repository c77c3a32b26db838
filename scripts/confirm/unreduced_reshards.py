"""Reshards of unfinished sums, with numpy and JAX's public interface alone.

An array with P(..., unreduced=U) is the sum, over the devices along U, of what they hold. For each program of the
table the devices' parts are laid out and added by numpy; the sum must be the input's, exactly, and devices that
differ only along other axes must hold the same part. Each program runs in a process of its own, since some abort.

    python unreduced_reshards.py [shardy|gspmd]
"""

import math
import os
import subprocess
import sys

# mesh sizes of x, y (and z); source; target: the axes that split each dimension, then the unreduced axes
PROGRAMS = [
    ((2, 2), ["x", "y", ""], ["", "", "x"]),  # an all-gather over y is due
    ((4, 2), ["xy", ""], ["", "xy"]),  # each device's piece belongs at its own offset
    ((2, 2), ["xy", ""], ["", "xy"]),
    ((2, 2, 2), ["z", "x"], ["yz", "x"]),  # pieces move, parts must not mix
    ((2, 2, 2), ["yz", "x"], ["z", "x"]),
    ((2, 2, 2), ["", "x", "y"], ["", "z", "y"]),
    ((2, 2, 2), ["x", "y"], ["z", "y"]),
    ((2, 2), ["", "x"], ["", "y"]),  # one sum to finish, another to begin
    ((2, 2), ["x", ""], ["y", "x"]),
    ((2, 2), ["", "x"], ["", ""]),  # a plain all-reduce
    ((2, 2), ["", "xy"], ["x", "y"]),
    ((3, 2, 2), ["zy", "", "x"], ["y", "", "x"]),  # an all-gather over z is due
    ((2, 2), ["", ""], ["", "y"]),  # nothing moves: one part is the array, the other zero
    ((2, 2), ["", ""], ["x", "y"]),
    ((2, 2), ["x", "y"], ["y", ""]),  # finished and moved at once
    ((2, 3), ["yx", ""], ["", "xy"]),
    ((2, 2), ["y", ""], ["", "x"]),
    ((2, 2, 2), ["", "z"], ["x", "yz"]),  # a sum over further axes, and split at once
]


def pieces(layout, where, sizes, shape):
    """The slice of the global array and the number of the part that the device at `where` holds."""
    digits = lambda axes: sum(where[a] * _weight(axes, i, sizes) for i, a in enumerate(axes))
    ways = [_weight(axes, -1, sizes) for axes in layout]
    cut = tuple(slice(digits(a) * (n // w), (digits(a) + 1) * (n // w)) for a, n, w in zip(layout, shape, ways))
    return cut, digits(layout[-1])


def _weight(axes, index, sizes):
    product = 1
    for axis in axes[index + 1 :] if index >= 0 else axes:
        product *= sizes[axis]
    return product


def verdict(sizes, source, target):
    import jax
    import numpy as np
    from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec as P

    jax.config.update("jax_use_shardy_partitioner", sys.argv[1] == "shardy")
    names, rank, count = "xyz"[: len(sizes)], len(source) - 1, math.prod(sizes)
    shape = (count,) * rank
    explicit = (AxisType.Explicit,) * len(names)
    mesh = Mesh(np.array(jax.devices()[:count]).reshape(sizes), tuple(names), axis_types=explicit)
    size = dict(zip(names, sizes))
    place = {d: dict(zip(names, map(int, np.unravel_index(i, sizes)))) for i, d in enumerate(mesh.devices.flat)}
    spec = lambda layout: P(*[tuple(a) or None for a in layout[:-1]], unreduced=set(layout[-1]))
    parts = np.random.default_rng(0).integers(1, 99, (_weight(source[-1], -1, size), *shape)).astype(np.float32)
    blocks = []
    for device, where in place.items():
        cut, part = pieces(source, where, size, shape)
        blocks.append(jax.device_put(parts[part][cut], device))
    x = jax.make_array_from_single_device_arrays(shape, NamedSharding(mesh, spec(source)), blocks)
    with (jax.set_mesh if hasattr(jax, "set_mesh") else jax.sharding.use_mesh)(mesh):  # before 0.7.1
        y = jax.jit(lambda x: jax.sharding.reshard(x, spec(target)))(x)
    got, seen, differ = np.zeros(shape, np.float32), {}, []
    for shard in y.addressable_shards:
        cut, part = pieces(target, place[shard.device], size, shape)
        block, key = np.asarray(shard.data), (str(cut), part)
        if key not in seen:
            got[cut] += block
            seen[key] = block
        elif not np.array_equal(seen[key], block):
            differ.append(shard.device.id)
    said = ["wrong sum"] if not np.array_equal(got, parts.sum(0)) else []
    said += [f"replicas differ on devices {differ}"] if differ else []
    return ", ".join(said) or "right"


def text(sizes, layout):
    count = math.prod(sizes)
    dims = ",".join(f"{count}@{'.'.join(a)}" if a else str(count) for a in layout[:-1])
    return f"f32[{dims}]" + (f"+{'.'.join(layout[-1])}" if layout[-1] else "")


def main():
    partitioner = sys.argv[1] if len(sys.argv) > 1 else "shardy"
    if len(sys.argv) > 2:
        print(verdict(*PROGRAMS[int(sys.argv[2])]))
        return
    env = {**os.environ, "JAX_PLATFORMS": "cpu", "XLA_FLAGS": "--xla_force_host_platform_device_count=12"}
    for i, (sizes, source, target) in enumerate(PROGRAMS):
        child = subprocess.run([sys.executable, __file__, partitioner, str(i)], env=env, capture_output=True, text=True)
        said = child.stdout.strip()
        if child.returncode:
            lines = [l for l in child.stderr.splitlines() if "Error" in l or "ERROR" in l]
            said = f"exit {child.returncode}: {lines[-1].split('] ')[-1][:110] if lines else '?'}"
        mesh = ",".join(f"{a}={n}" for a, n in zip("xyz", sizes))
        print(f"on {mesh}: reshard {text(sizes, source)} -> {text(sizes, target)}: {said}", flush=True)


if __name__ == "__main__":
    main()
