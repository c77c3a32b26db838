"""What resolvers do not do: limits of ours, for a resolver says itself what it refuses. Shared with adapters/maxtext."""

import math

import layout
from plumb_worker.limits import Row, Table

MOST_DEVICES = 2048  # XLA's limit for one CPU process; beyond it a mesh has no devices, and gives no slices
MOST_BYTES = 1 << 26  # of an array that a resolver needs as data

RULES = [
    Row("no rules", "no rules: it does nothing then", lambda c: not c.rules, "flax.linen.with_logical_constraint"),
]
DATA = [
    Row("devices", f"more than {MOST_DEVICES} devices", lambda c: c.devices > MOST_DEVICES),
    Row("bytes", "an array of more than 64 MiB",
        lambda c: layout.DTYPES[c.result.dtype].itemsize * math.prod(c.result.shape) > MOST_BYTES),
    # Some set of the axes might not divide the size: the answer is not known before.
    Row("uneven", "a size that the mesh does not divide", lambda c: any(n % c.devices for n in c.result.shape)),
]


def table(needs_data, needs_rules):
    rows = (RULES if needs_rules else []) + (DATA if needs_data else [])
    return Table(rows, lambda probe: None, "adapters/flax/README.md")
