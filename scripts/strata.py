"""What the cases of a suite differ in, for scripts/summarise."""

import math
import pathlib
import re
import subprocess
from collections import Counter

ROOT = pathlib.Path(__file__).resolve().parent.parent
TRAITS = ("uneven", "empty", "unfinished", "permuted")


def stratum(case):
    """The op, the mesh and the shape: what the rows of the suite differ in."""
    mesh, rest = case[3:].split(": ", 1)
    sizes = "x".join(re.findall(r"=(\d+)", mesh.split(" ids=")[0]))
    if rest.startswith("einsum bsh"):
        return "openxla/xla#40034 on 4, 8 and 16 devices"
    shape = re.sub(r"@[\w.]+", "", rest.split("[", 1)[1].split("]", 1)[0])
    kind = "matmul" if rest.startswith("einsum") else rest.split(" ", 1)[0]
    words = [kind, f"[{shape}]", "on", sizes] + (["permuted"] if " ids=" in mesh else [])
    return " ".join(words)


def traits(case):
    """Of TRAITS those that a case has: an axis does not divide its dimension; it leaves a device without any of it; an
    array is an unfinished sum; the devices are not numbered row-major."""
    mesh, rest = case[3:].split(": ", 1)
    axes = {name: int(n) for name, n in re.findall(r"(\w+)=(\d+)", mesh)}
    found = {"permuted"} if " ids=" in mesh else set()
    for dims, parts in re.findall(r"\w+\[([^\]]*)\](\+\w+)?", rest):
        found |= {"unfinished"} if parts else set()
        for size, split in re.findall(r"(\d+)@([\w.]+)", dims):
            n, ways = int(size), math.prod(axes[name] for name in split.split("."))
            found |= {"uneven"} if n % ways else set()
            found |= {"empty"} if -(-n // ways) * (ways - 1) >= n else set()
    return found


def cases(suite):
    """The lines of a suite, as the built tool lists them."""
    out = subprocess.run([ROOT / "build/bin/plumb", "list", "--suite", suite], check=True, capture_output=True,
                         text=True).stdout
    return [line for line in out.splitlines() if line.startswith("on ")]


def counts(lines):
    """How many cases there are of each stratum, and of each trait."""
    return Counter(map(stratum, lines)), Counter(trait for line in lines for trait in traits(line))
