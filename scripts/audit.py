"""The rows of `results/kinds`, which finding is of which, for scripts/summarise and scripts/confirmed."""

import fnmatch
import functools
import pathlib
import re
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parent.parent


class Kind(NamedTuple):
    backends: str
    finding: str
    sort: str
    words: str
    evidence: str
    script: str
    shows: str
    cause: str = ""


def rows():
    lines = (ROOT / "results/kinds").read_text().splitlines()
    return [Kind(*line.split("\t")) for line in lines if line and not line.startswith("#")]


def passes(line):
    """What a case passes through:

        reshard f32[8]+x -> f32[8]                            reshard, unfinished to finished
        einsum ... -> f32[8]+x                                product, unfinished
        einsum ... -> f32[8@x] -> f32[8]                      product and reshard
    """
    op, _, rest = re.sub(r"^on [^:]*: ", "", line).partition(" ")
    operands, *chain = rest.split(" -> ")
    layouts = [operands, *chain] if op == "reshard" else chain
    said = ["unfinished" if "+" in layout else "finished" for layout in layouts]
    if op == "reshard":
        return f"reshard, {' to '.join(said)}"
    if "unfinished" not in said:
        return "product and reshard" if len(said) > 1 else "product"
    return f"product, {' to '.join(said)}"


def letters(line):
    """How many letters of a product stand in both operands and the result, are contracted, and are kept of the left and the right:

        einsum mk,kn->mn          ; 0 batch, 1 contracted, 1 and 1 kept
        einsum bhqd,bhkd->bhqk    ; 2 batch, 1 contracted, 1 and 1 kept
    """
    said = re.search(r": einsum (\w+),(\w+)->(\w+) ", line)
    if not said:
        return ""
    left, right, result = map(set, said.groups())
    return (f"; {len(left & right & result)} batch, {len(left & right - result)} contracted, "
            f"{len(left & result - right)} and {len(right & result - left)} kept")


@functools.lru_cache(None)
def lines():
    """Of each wrong product of JAX as if what it is, as scripts/confirm/lines.py printed it (results/lines):

        on x=2,...: einsum ...: wrong on 12 devices: another axis, kept (n of right, over x, as if over y)      another axis, kept
    """
    said = re.findall(r"^(on .*?): wrong on \d+ devices: ([^(\n]*?)(?: \(.*)?$", (ROOT / "results/lines").read_text(), re.M)
    return dict(said)


def as_if(line):
    return f"; {lines()[line]}" if line in lines() else ""


def row_of(table, backend, finding, line):
    """The first row that fits; `finding` is (status, cause)."""
    status, text = finding
    told = f"{status}: {text}: {line} # {passes(line)}{letters(line)}{as_if(line)}"
    return next((row for row in table if fnmatch.fnmatch(backend, row.backends) and re.search(row.finding, told)), None)


def causes(kinds):
    """How many causes some kinds have, a set of rows each: at least, where each guess is right, and at most, where none is."""
    def count(said):
        names = [next((said(row) for row in rows if row and said(row)), None) for rows in kinds]
        return len(set(filter(None, names))) + names.count(None)

    return count(lambda row: row.cause.rstrip("?")), count(lambda row: "" if row.cause.endswith("?") else row.cause)


def withdrawn(table, of):
    """The rows of what was published and did not hold: of a framework's name, as a pattern."""
    return [row for row in table if fnmatch.fnmatch(row.backends, f"-{of}")]
