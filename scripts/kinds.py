"""Why a backend answers otherwise, for scripts/differential and scripts/summarise.

A finding may have several explanations that differ from what is right in equally few things: "A; or B". Of these the
one holds that explains most findings of the backend, then of what is left, and so on; the first of equals.
"""

import re
from collections import Counter

PASSED = ("pass", "unsupported", "waived", "unrun")


def explanations(record):
    """Those of the judge, without what is particular to the case; one that is empty where there is none."""
    cause = record["facts"][0].get("cause") or ""
    return [re.sub(r" \((axis|the mesh|the name) .*?\)", "", text) for text in cause.split("; or ")]


def causes(records):
    """The cause of each finding of one backend, by its index in the list."""
    left = {i: explanations(r) for i, r in enumerate(records) if r["status"] not in PASSED}
    chosen = {}
    while left:
        fits = Counter(text for texts in left.values() for text in texts)
        most = max(fits, key=fits.get)
        taken = [i for i, texts in left.items() if most in texts]
        for i in taken:
            chosen[i] = most
            del left[i]
    return chosen
