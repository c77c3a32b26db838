"""A product with shard_map over the axes of which nothing but a sum moves; the other axes are left to the partitioner."""

import itertools

import jax

import layout


def axes(case):
    """letter -> the first axes that split it alike in every array that has it, and split nothing in an array without it.

        mk,kn->mn   @x,@y   @y,    ->  @x,      m: x, k: y    blocks are multiplied, and added up over y
        mk,kn->mn   @x.y,   ,@z    ->  @x,@z.y  m: x, n: z    y is left to the partitioner
        mk,kn->mn   @x,     @x,    ->  ,        nothing: x splits rows here and what is contracted there
    """
    arrays = list(zip((case.lhs, case.rhs, case.out), (*case.operands, case.chain[0])))
    found = {}
    for letter in dict.fromkeys(case.lhs + case.rhs):
        splits = [spec.split[letters.index(letter)] for letters, spec in arrays if letter in letters]
        taken = {axis for letters, spec in arrays if letter not in letters for split in spec.split for axis in split}
        alike = itertools.takewhile(lambda several: len(set(several)) == 1 and several[0] not in taken, zip(*splits))
        found[letter] = tuple(several[0] for several in alike)
    return found


def product(case, mesh, multiply):
    """`multiply` is the product as the framework has it, here of blocks."""
    split = axes(case)
    spec = lambda letters: layout.partition_spec(tuple(split[letter] for letter in letters))
    summed = tuple(axis for letter, along in split.items() if letter not in case.out for axis in along)

    def block(x, y):
        part = multiply(x, y)
        return jax.lax.psum(part, summed) if summed else part

    return jax.shard_map(block, mesh=mesh, in_specs=(spec(case.lhs), spec(case.rhs)), out_specs=spec(case.out),
                         axis_names={axis for along in split.values() for axis in along})
