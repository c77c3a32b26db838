"""Plumbline's words in torch's: dtypes, meshes, placements, and back."""

import functools
import itertools
import math

import numpy as np
import torch
from torch.distributed.tensor import DeviceMesh, Partial, Replicate, Shard, distribute_tensor
from torch.distributed.tensor._utils import compute_local_shape_and_global_offset
from torch.distributed.tensor.placement_types import _StridedShard

from plumb_worker import parts_text, spec_text

DTYPES = {
    "s8": torch.int8, "s32": torch.int32, "f16": torch.float16, "f32": torch.float32, "f64": torch.float64,
    "bf16": torch.bfloat16, "f8e4m3": torch.float8_e4m3fn, "f8e5m2": torch.float8_e5m2,
}
if hasattr(torch, "float8_e8m0fnu"):
    DTYPES["e8m0"] = torch.float8_e8m0fnu
NAMES = {dtype: name for name, dtype in DTYPES.items()}


def tensor_of(view, shape, dtype):
    """The bytes of the arena as a tensor of its own."""
    if not len(view):  # no bytes can be viewed as another type
        return torch.empty(shape, dtype=DTYPES[dtype])
    raw = torch.from_numpy(np.frombuffer(view, np.uint8).copy())
    return raw.view(DTYPES[dtype]).reshape(shape)


def bytes_of(tensor):
    """The bits of a tensor, row-major."""
    return tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()


def flattened_sets(axes, flatten):
    """The sets of axes that option flatten asks for, in mesh order; names that the mesh lacks stay.

        none                nothing
        contiguous          ab, bc, abc on a mesh a,b,c
        all                 ac too
        dp.tp/pp.tp         these two
    """
    if flatten == "none":
        return []
    if flatten == "contiguous":
        return [axes[i:j] for i in range(len(axes)) for j in range(i + 2, len(axes) + 1)]
    if flatten == "all":
        return [s for n in range(2, len(axes) + 1) for s in itertools.combinations(axes, n)]
    place = {axis: i for i, axis in enumerate(axes)}
    return [tuple(sorted(s.split("."), key=lambda a: place.get(a, len(axes)))) for s in flatten.split("/")]


def names(case):
    """The axes of the whole mesh: those of the program, and those along which it is repeated."""
    return tuple(name for name, _ in case.world)


def groups(case, flatten):
    """The sets of axes for which the whole mesh of a case has process groups."""
    return [[axis] for axis in names(case)] + [list(s) for s in flattened_sets(names(case), flatten)]


@functools.lru_cache(maxsize=64)
def whole_mesh(device, world, ids, flatten):
    """The mesh whose row-major position p is held by rank ids[p], with its flattened submeshes."""
    axes, sizes = zip(*world)
    mesh = DeviceMesh(device, torch.tensor(ids).reshape(sizes), mesh_dim_names=axes)
    for names in flattened_sets(axes, flatten):
        mesh[names]._flatten()
    return mesh


@functools.lru_cache(maxsize=64)
def submesh(whole, axes):
    return whole_mesh(*whole)[axes]


def mesh_of(device, case, flatten):
    """The mesh of a case's program: the whole one, or this rank's slice of it, mesh[axes]."""
    whole = device, case.world, case.ids, flatten
    return whole_mesh(*whole) if case.axes == names(case) else submesh(whole, case.axes)


def forget():
    """Meshes do not outlive their groups."""
    whole_mesh.cache_clear()
    submesh.cache_clear()


def ordered(mesh, split):
    """The split factors that lay mesh dimensions over one tensor dimension in the order of `split`: for each,
    the product of the sizes of those that come earlier there and later in the mesh. All 1 in mesh order."""
    names = mesh.mesh_dim_names
    return {axis: math.prod(mesh.size(names.index(b)) for b in split[:i] if names.index(b) > names.index(axis))
            for i, axis in enumerate(split)}


def placements(mesh, spec):
    """A spec as torch says it, one placement per mesh dimension."""
    found = dict.fromkeys(mesh.mesh_dim_names, Replicate())
    found.update((axis, Partial("avg" if axis in spec.averaged else spec.reduction)) for axis in spec.unfinished)
    for d, split in enumerate(spec.split):
        for axis, factor in ordered(mesh, split).items():
            found[axis] = Shard(d) if factor == 1 else _StridedShard(d, split_factor=factor)
    return tuple(found.values())


def finished(mesh, spec):
    """The placements of a spec's blocks, their sums finished."""
    return without_sums((Replicate(),) * mesh.ndim if spec.free else placements(mesh, spec))


def cut(whole, mesh, spec):
    """What a spec leaves to this rank: torch cuts by one axis after the other, major to minor."""
    for d, split in enumerate(spec.split):
        for axis in split:
            alone = [Shard(d) if name == axis else Replicate() for name in mesh.mesh_dim_names]
            whole = distribute_tensor(whole, mesh, alone, src_data_rank=None).to_local()
    return whole


def without_sums(placed):
    return tuple(Replicate() if p.is_partial() else p for p in placed)


def is_strided(p):
    return isinstance(p, _StridedShard)


def is_shard(p):
    return isinstance(p, (Shard, _StridedShard))


def split_text(mesh, placed, dim):
    """The axes that split a tensor dimension, major to minor; None where no order of axes has these factors."""
    own = [i for i, p in enumerate(placed) if is_shard(p) and p.dim == dim]
    order = []
    for i in reversed(own):
        factor = placed[i].split_factor if is_strided(placed[i]) else 1
        at = next((k for k in range(len(order) + 1)
                   if math.prod(mesh.size(j) for j in order[:k]) == factor), None)
        if at is None:
            return None
        order.insert(at, i)
    return tuple(mesh.mesh_dim_names[i] for i in order)


def claim(tensor, spec):
    """The layout that a DTensor says it has, as a spec's text; None where it cannot be said. Unfinished axes
    are a set in torch: they are named in the spec's order where it is the same set."""
    mesh, placed = tensor.device_mesh, tensor.placements
    split = [split_text(mesh, placed, d) for d in range(tensor.ndim)]
    left = {mesh.mesh_dim_names[i]: p for i, p in enumerate(placed) if not is_shard(p) and not p.is_replicate()}
    made = {p.reduce_op if type(p) is Partial else "" for p in left.values()}
    if None in split or tensor.dtype not in NAMES or not (made <= {"sum", "avg"} or made in ({"max"}, {"min"})):
        return None
    order = spec.unfinished if set(left) == set(spec.unfinished) else tuple(left)
    reduction = made.pop() if made in ({"max"}, {"min"}) else "sum"
    averaged = tuple(axis for axis in order if left[axis].reduce_op == "avg")
    return spec_text(NAMES[tensor.dtype], tensor.shape, split, parts_text(order, reduction, averaged))


def slices(tensor, local):
    """Where torch says that a local tensor lies, as a function of `own`, which gives one rank's own value of a number
    or a tensor: ranges for each dimension. None where the tensor is longer than its placements have indices."""
    mesh, placed = tensor.device_mesh, tensor.placements
    _, offset = compute_local_shape_and_global_offset(tensor.shape, mesh, placed)
    strided = {p.dim: indices(tensor.shape[p.dim], mesh, placed, p.dim) for p in placed if is_strided(p)}

    def of(own):
        shape, begin = own(local).shape, [int(own(b)) for b in offset]
        found = [ranges(own(strided[d]).tolist()[:n], tensor.shape[d]) if d in strided else [(begin[d], begin[d] + n)]
                 for d, n in enumerate(shape)]
        held = [sum(e - b for b, e in pieces) for pieces in found]
        inside = all(pieces[-1][1] <= size for pieces, size in zip(found, tensor.shape))
        return found if held == list(shape) and inside else None

    return of


def indices(size, mesh, placed, dim):
    """What strided shards give to this rank of a dimension: torch distributes its indices."""
    alone = [(_StridedShard(0, split_factor=p.split_factor) if is_strided(p) else Shard(0))
             if is_shard(p) and p.dim == dim else Replicate() for p in placed]
    return distribute_tensor(torch.arange(size, device=mesh.device_type), mesh, alone, src_data_rank=None).to_local()


def ranges(numbers, size):
    """Ascending numbers as ranges: 0,1,4 is 0 to 2 and 4 to 5."""
    found = []
    for i in numbers:
        if found and found[-1][1] == i:
            found[-1] = (found[-1][0], i + 1)
        else:
            found.append((i, i + 1))
    return found or [(size, size)]
