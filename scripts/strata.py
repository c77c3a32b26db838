"""What the cases of a suite differ in, for scripts/summarise: `plumb list --json` says it of each line."""

import json
import pathlib
import subprocess
from collections import Counter

ROOT = pathlib.Path(__file__).resolve().parent.parent
TRAITS = ("uneven", "empty", "unfinished", "permuted")


def stratum(said):
    """The op, the mesh and the shape: what the rows of the suite differ in."""
    if said["contracted"] > 1:
        return "openxla/xla#40034 on 4, 8 and 16 devices"
    kind = "matmul" if said["op"] == "einsum" else said["op"]
    words = [kind, f"[{said['shape'].replace('x', ',')}]", "on", said["mesh"]]
    return " ".join(words + (["permuted"] if "permuted" in said["is"] else []))


def traits(said):
    """Of TRAITS those that a case has."""
    return [trait for trait in TRAITS if trait in said["is"]]


def said_of(*selection, lines=()):
    """Of each case of a selection, by its line, what the built tool says of it."""
    out = subprocess.run([ROOT / "build/bin/plumb", "list", "--json", *selection], check=True, capture_output=True,
                         text=True, input="".join(f"{line}\n" for line in lines)).stdout
    return {said["case"]: said for said in map(json.loads, out.splitlines())}


def cases(suite):
    return said_of("--suite", suite)


def cases_of(lines):
    return said_of("--cases", "-", lines=lines) if lines else {}


def counts(cases):
    """How many there are of each stratum, and of each trait."""
    return (Counter(stratum(said) for said in cases.values()),
            Counter(trait for said in cases.values() for trait in traits(said)))
