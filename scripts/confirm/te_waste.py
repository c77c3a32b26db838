"""What Transformer Engine's rule moves for a product, and what the same product moves where the weight was laid out
otherwise beforehand, with its own functions, numpy and JAX alone; set up as te_rules.py does.

Both programs call the same gemm on the same arrays; the second constrains the weight first, so that less is left to the
rule. Both must be right. Bytes are those that each device receives, read from the compiled program.

    python te_waste.py        exit code 1 where the rule moves more
"""

import importlib.metadata
import math
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import te_rules

import jax
from jax.sharding import NamedSharding, PartitionSpec as P

BOTH, FSDP = ("fsdp", "expert"), {"fsdp_resource": "fsdp"}
# what, the mesh, the activations' shape and layout, the weight's layout, the weight's layout beforehand, the resources
PROGRAMS = [
    ("#2649: activations and weight over (fsdp, expert)", {"fsdp": 2, "expert": 2}, (64, 16, 64), P(BOTH, None, None),
     P(None, BOTH), P(None, None), FSDP),
    ("rows over fsdp, columns over (fsdp, tp)", {"fsdp": 2, "tp": 2}, (1024, 64), P("fsdp", None),
     P(None, ("fsdp", "tp")), P(None, "tp"), {"fsdp_resource": "fsdp", "tp_resource": "tp"}),
    ("rows over fsdp, columns over (fsdp, expert)", {"fsdp": 2, "expert": 2}, (1024, 64), P("fsdp", None),
     P(None, BOTH), P(None, "expert"), FSDP),
    ("rows and columns over dp", {"dp": 4}, (1024, 64), P("dp", None), P(None, "dp"), P(None, None),
     {"dp_resource": "dp"}),
    ("rows and columns over fsdp", {"fsdp": 4}, (1024, 64), P("fsdp", None), P(None, "fsdp"), P(None, None), FSDP),
]


def received(text):
    """The most bytes that the collectives of a compiled program bring to a device; nothing is summed here."""
    size = lambda shape: 4 * math.prod(int(n) for n in re.search(r"\[([\d,]*)\]", shape)[1].split(",") if n)
    sizes = {name: size(shape) for name, shape in re.findall(r"%?([\w.-]+) = (f32\[[\d,]*\])", text)}
    own = {"all-gather": lambda operand: sizes[operand], "collective-permute": lambda _: 0}
    return sum(size(made) - own[kind](operand) for made, kind, operand in te_rules.collectives(text))


def main():
    astray = 0
    for name, axes, shape, left, right, beforehand, resource in PROGRAMS:
        x, w = te_rules.integers(*shape), te_rules.integers(64, 64)
        dims = (len(shape) - 1,), (0,)

        def laid(mesh):
            first = NamedSharding(mesh, beforehand)
            return lambda x, w: te_rules.tex.gemm(x, jax.lax.with_sharding_constraint(w, first), contracting_dims=dims)

        given = [(x, left), (w, right)], x @ w, resource
        (one, text), (other, less) = (te_rules.run(axes, f, *given) for f in (te_rules.product(x, w, dims), laid))
        if one != "right" or other != "right":
            print(f"{name}: {one}; with the weight as {beforehand} beforehand: {other}")
            astray += 1
            continue
        moved, enough = received(text), received(less)
        astray += moved > enough
        print(f"{name}: {moved} bytes to each device; with the weight as {beforehand} beforehand {enough}: " +
              (f"{moved / enough:g} times as many" if moved > enough else "no more"))
    print(f"transformer-engine {importlib.metadata.version('transformer-engine')}, jax {jax.__version__}: "
          f"{astray} programs move more than they need")
    return 1 if astray else 0


if __name__ == "__main__":
    sys.exit(main())
