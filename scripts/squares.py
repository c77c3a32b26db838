"""Reshards as squares, each layout to each: what scripts/nightly and scripts/map draw."""
import re

COLOURS = {"pass": "#b9d3ea", "unsupported": "#e4e4e4", "unrun": "#f5f5f5", "waived": "#c9c9c9", "wasteful": "#f0c987",
           "mistrusted": "#d9b3e6", "unstable": "#e69f00", "diverged": "#cc79a7", "wrong": "#d55e00", "leaked": "#b34700",
           "misplaced": "#8a5a2b", "reneged": "#777777", "malformed": "#555555", "crashed": "#000000", "hung": "#333366"}
RESHARD = re.compile(r"on (\S+): reshard (\S+) -> (\S+)")
LEAST = 4  # layouts on a side


def layout(spec):
    """Where axes lie, without sizes and dtype:

        f32[8@x,4]+y    [x,]+y
    """
    dtype, _, rest = spec.partition("[")
    dims, _, after = rest.partition("]")
    return f"[{','.join(dim.partition('@')[2] for dim in dims.split(','))}]{after}"


def order(layout):
    """Finished ones first, then by what is unfinished over the same axes."""
    split, _, unfinished = layout.partition("]")
    return unfinished, split


def shape(spec):
    return re.sub(r"@[^,\]]*|\].*", "", spec) + "]"


def squares(found):
    """Of (backend, line, status, bytes over the bound or None) those that are reshards, by backend, the largest first: (backend, mesh and shape, layouts
    from, layouts to, cells), a cell (row, column, status, bytes over the bound)."""
    of = {}
    for backend, line, status, waste in found:
        if parts := RESHARD.fullmatch(line):
            mesh, source, target = parts.groups()
            of.setdefault((backend, mesh, shape(source)), []).append((layout(source), layout(target), status, waste))
    for key, cells in sorted(of.items(), key=lambda one: (one[0][0], -len(one[1]), one[0])):
        sources, targets = (sorted({cell[side] for cell in cells}, key=order) for side in (0, 1))
        if min(len(sources), len(targets)) < LEAST:
            continue
        row, column = ({one: n for n, one in enumerate(side)} for side in (sources, targets))
        yield key, sources, targets, [(row[a], column[b], *rest) for a, b, *rest in cells]
