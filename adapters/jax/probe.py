"""Probes: a small case of each limit, shown to this release, and what it answers."""

import itertools
import re

import jax

import layout
import limits
from plumb_worker.limits import as_case, excerpt, zeros


def refusal(backend, probe):
    """What the framework raises for a probe, as one line; None where it does not."""
    case = as_case(probe)
    try:
        backend.run(case, zeros(case, lambda dtype: layout.DTYPES[dtype].itemsize), lambda: None)
    except Exception as e:
        return f"jax {jax.__version__}: {type(e).__name__}: {' '.join(str(e).split())}"
    return None


def main(make_backend, options):
    """Prints every row and the answer to its probe; 1 where the framework answers a probe in other words."""
    astray = 0
    kinds = itertools.product(("auto", "explicit", "shard_map"), ("shardy", "gspmd"), ("", "lhs", "rhs"))
    for style, partitioner, grad in kinds:
        rows = [r for r in limits.rows(style, partitioner, grad) if bool(r.grad) == bool(grad)]
        if not rows:
            continue
        backend = make_backend({**options, "style": style, "partitioner": partitioner, "grad": grad})
        backend.hello({"axes": [["x", 4]]})
        for row in rows:
            words = refusal(backend, row.probe) if row.probe else "(ours)"
            other = bool(words and row.says and not re.search(row.says, words))
            astray += other
            state = "OTHER WORDS" if other else "refused" if words else "not a limit here"
            shown = f": {excerpt(words, row.says)}" if words else ""
            print(f"{style},{partitioner}{grad and ',grad='}{grad}: {row.name}: {state}{shown}", flush=True)
    return 1 if astray else 0
