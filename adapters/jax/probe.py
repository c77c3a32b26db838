"""Every limit's probe, a small case of it, shown to this release, and what it answers."""

import itertools
import re

import limits
from plumb_worker.limits import excerpt


def main(make_backend, options):
    """Prints every row and the answer to its probe; 1 where the framework answers a probe in other words."""
    astray = 0
    kinds = itertools.product(("auto", "explicit", "shard_map"), ("shardy", "gspmd"), ("", "lhs", "rhs"), ("out",))
    routes = itertools.product(("auto", "explicit"), ("shardy",), ("",), limits.ROUTES[1:])
    for style, partitioner, grad, route in itertools.chain(kinds, routes):
        asked = {**options, "style": style, "partitioner": partitioner, "grad": grad, "route": route}
        rows = [r for r in limits.rows(asked) if bool(r.grad) == bool(grad)]
        if not rows:
            continue
        backend = make_backend(asked)
        backend.hello({"axes": [["x", 4]]})
        for row in rows:
            words = backend.refusal(row.probe) if row.probe else "(ours)"
            other = bool(words and row.says and not re.search(row.says, words))
            astray += other
            state = "OTHER WORDS" if other else "refused" if words else "not a limit here"
            shown = f": {excerpt(words, row.says)}" if words else ""
            shown_route = "" if route == "out" else f",route={route}"
            print(f"{style},{partitioner}{grad and ',grad='}{grad}{shown_route}: {row.name}: {state}{shown}", flush=True)
    return 1 if astray else 0
