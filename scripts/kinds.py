"""Why a backend answers otherwise, for scripts/differential and scripts/summarise.

A finding may have several explanations that differ from what is right in equally few things. Of these the one holds that
explains most findings of the backend, then of what is left, and so on; the first of equals.
"""

import json
import re
from collections import Counter
from pathlib import Path

PASSED = ("pass", "unsupported", "waived", "unrun")

SCHEMA = json.loads((Path(__file__).resolve().parent.parent / "results/schema.json").read_text())
CODES = SCHEMA["$defs"]["explanation"]["properties"]["causes"]["items"]["properties"]["code"]["oneOf"]

# What the codes of causes say on published pages, whatever axes they name.
WORDS = {one["const"]: one["description"].replace(" over {axes}", "") for one in CODES}


def in_words(cause):
    return WORDS[cause["code"]].format(operand=["left", "right"][cause.get("operand", 0)])


def of_sentence(cause):
    """Of a record that has no more than the sentence, as published ones of before have. Nobody writes these any more."""
    texts = [re.sub(r" \((axis|the mesh|the name) .*?\)", "", text) for text in cause.split("; or ")]
    texts = [re.sub(r"(sum|axis) (over )?[\w.']+ (is|counts)", r"\1 \3", text) for text in texts]
    return [re.sub(r"(each part) over [\w.]+", r"\1", text) for text in texts]


def explanations(record):
    """Those of the judge, without what is particular to the case; one that is empty where there is none."""
    fact = record["facts"][0]
    if "explanations" in fact:
        return [", ".join(map(in_words, one["causes"])) for one in fact["explanations"]]
    return of_sentence(fact.get("cause") or "")


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
