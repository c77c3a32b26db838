"""Why a backend answers otherwise, for scripts/differential and scripts/summarise.

A finding may have several explanations that differ from what is right in equally few things. Of these the one holds that
explains most findings of the backend, then of what is left, and so on; the first of equals.
"""

import re
from collections import Counter

PASSED = ("pass", "unsupported", "waived", "unrun")

# The words of published pages for the codes of causes (harness/judge/explanation.h), whatever axes they name.
WORDS = {
    "sum_unfinished": "the sum is left unfinished",
    "max_unfinished": "the max is left unfinished",
    "min_unfinished": "the min is left unfinished",
    "added_up": "the parts are added up",
    "divided_by_all": "the parts are divided by the number of all of them",
    "largest_taken": "the largest part is taken",
    "smallest_taken": "the smallest part is taken",
    "scale_of_part": "the {operand} operand has a scale for each part",
    "own_scale_for_all": "the {operand} operand has a scale for each part, and a device takes its own for all",
    "unit_axes_taken": "an axis of size 1 counts as taken",
    "unit_axes_dropped": "an axis of size 1 is left out",
    "last_rule": "the last rule of a name wins",
    "bare_names": "without rules, names are taken for axes",
    "unknown_is_axis": "a name without a rule is taken for an axis",
    "many_times": "axes already given are given again",
    "strays_dropped": "an axis that the mesh lacks is dropped",
    "names_repeat": "a name may stand twice",
    "empty_passes": "a value without axes is passed over",
    "parts_of_tuples": "of several axes, those still free are given",
    "by_dimension": "dimensions choose in their order",
}


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
