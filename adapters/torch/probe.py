"""Probes: a small case of each limit, shown to this release, and what it answers."""

import re

import torch

import layout
import limits
from plumb_worker.limits import as_case, zeros


def refusal(backend, probe):
    """What the framework raises for a probe, as one line; None where it does not."""
    case = as_case(probe)
    try:
        backend.run(case, zeros(case, lambda dtype: layout.DTYPES[dtype].itemsize), lambda: None)
    except Exception as e:
        line = e.lines[0] if hasattr(e, "lines") else f"{type(e).__name__}: {e}"
        return f"torch {torch.__version__}: {' '.join(line.split())}"[:300]
    return None


def main(make_backend, given):
    """Prints every row and the answer to its probe; 1 where the framework answers a probe in other words."""
    astray = 0
    for engine in ("gloo", "local"):
        backend = make_backend({**given, "engine": engine})
        for row in limits.ROWS:
            if engine not in row.engines or row.probe is None:
                continue
            words = refusal(backend.with_options(row.options), row.probe)
            other = bool(words and not re.search(row.says, words))
            astray += other
            state = "OTHER WORDS" if other else "refused" if words else "not a limit here"
            print(f"{engine}: {row.name}: {state}{': ' + words if words else ''}", flush=True)
        backend.close()
    return 1 if astray else 0
