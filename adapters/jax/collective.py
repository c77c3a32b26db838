"""A reshard that is one collective, written with shard_map and the collective's own name."""

import jax

import data
import layout


def find(case):
    """(name, axes, dimensions) of the one collective that a case is, or None.

        f32[n]+x -> f32[n]              psum
        f32[n]+x -> f32[n@x]            psum_scatter, dimension 0
        f32[n@x] -> f32[n]              all_gather, dimension 0
        f32[m@x,n] -> f32[m,n@x]        all_to_all, from dimension 0 to 1
    """
    if case.op != "reshard" or len(case.chain) != 1:
        return None
    source, target = case.operands[0], case.result
    if target.unfinished or target.free:
        return None
    changed = [d for d, (a, b) in enumerate(zip(source.split, target.split)) if a != b]
    if source.unfinished:
        axes = source.unfinished
        if not changed:
            return "psum", axes, ()
        d = changed[0]
        fits = len(changed) == 1 and target.split[d] == source.split[d] + axes
        return ("psum_scatter", axes, (d,)) if fits else None
    if len(changed) == 1:
        d = changed[0]
        kept = len(target.split[d])
        fits = kept < len(source.split[d]) and source.split[d][:kept] == target.split[d]
        return ("all_gather", source.split[d][kept:], (d,)) if fits else None
    if len(changed) == 2:
        for d, e in (changed, changed[::-1]):
            kept = len(target.split[d])
            moved = source.split[d][kept:]
            if moved and source.split[d][:kept] == target.split[d] and target.split[e] == source.split[e] + moved:
                return "all_to_all", moved, (d, e)
    return None


def program(case, mesh):
    """The function of the global operand; parts of an unfinished one lead, one to each device of its axes."""
    name, axes, dims = find(case)
    source, target = case.operands[0], case.result

    def block(x):
        if name == "psum":
            return jax.lax.psum(x[0], axes)
        if name == "psum_scatter":
            return jax.lax.psum_scatter(x[0], axes, scatter_dimension=dims[0], tiled=True)
        if name == "all_gather":
            return jax.lax.all_gather(x, axes, axis=dims[0], tiled=True)
        return jax.lax.all_to_all(x, axes, split_axis=dims[1], concat_axis=dims[0], tiled=True)

    return jax.shard_map(block, mesh=mesh, in_specs=layout.partition_spec(led(source)),
                         out_specs=layout.partition_spec(target.split), check_vma=False)


def led(source):
    """The split of the operand with its parts, if any, as a leading dimension."""
    return ((source.unfinished,) if source.unfinished else ()) + source.split


def abstract(case, mesh):
    s = case.operands[0]
    lead = (case.ways(s.unfinished),) if s.unfinished else ()
    return [jax.ShapeDtypeStruct(lead + s.shape, layout.DTYPES[s.dtype], sharding=layout.sharding_of(mesh, led(s)))]


def place(mesh, spec, operand):
    return jax.device_put(data.array_of(*operand, spec.dtype), layout.sharding_of(mesh, led(spec)))
