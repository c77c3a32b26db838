"""What a framework does not do, as a table: a case that a row covers is `unsupported`, decided before the framework
sees the case."""

import dataclasses
import math
import re
from typing import Callable

from .case import Case, parse_spec


@dataclasses.dataclass
class Row:
    """A case that `holds` is not supported, for the `reason`, where this release refuses the probe, a small case of the
    kind, in words that `says`, a regular expression, finds: a limit that a release lifts is gone by itself. A row
    without a probe is a limit of ours, which stands where it `says`, if not where the table does. The reason may be a
    function of the case."""

    name: str
    reason: str | Callable
    holds: Callable  # case -> bool
    says: str = ""
    probe: dict | None = None

    def why(self, case):
        return self.reason(case) if callable(self.reason) else self.reason


class Table:
    """Rows, and `source`, where those of ours stand. `refusal(probe)` gives the framework's words, or None where it
    does not refuse; each row is probed once, when first needed."""

    def __init__(self, rows, refusal, source):
        self.rows, self.refusal, self.source, self.words = rows, refusal, source, {}

    def said(self, row):
        """The framework's words, where they are those of the limit; else None."""
        if row.probe is None:
            return row.says or self.source
        if row.name not in self.words:
            words = self.refusal(row.probe)
            refused = words is not None and re.search(row.says, words)
            self.words[row.name] = excerpt(words, row.says) if refused else None
        return self.words[row.name]

    def find(self, case):
        """(row, the framework's words) for a case that is not supported; else None."""
        for row in self.rows:
            if row.holds(case) and (words := self.said(row)):
                return row, words
        return None


def excerpt(words, says, around=70):
    """Who refuses, and its words around those that matter."""
    match = re.search(says, words)
    head = ": ".join(words.split(": ")[:2])
    begin = max(match.start() - around, len(head) + 2) if match else len(head) + 2
    end = match.end() + around if match else begin + 2 * around
    dots = ["... " if begin > len(head) + 2 else "", " ..." if end < len(words) else ""]
    return f"{head}: {dots[0]}{words[begin:end]}{dots[1]}"


def as_case(probe):
    specs = {key: [parse_spec(s) for s in probe[key]] for key in ("operands", "chain")}
    return Case({**probe, **specs}, "probe")


def zeros(case, itemsize):
    """Operands of zeros, as a request has them; `itemsize(dtype)` in bytes."""
    shapes = [((case.ways(s.unfinished),) if s.unfinished else ()) + s.shape for s in case.operands]
    return [(memoryview(bytes(itemsize(s.dtype) * math.prod(shape))), shape) for s, shape in zip(case.operands, shapes)]
