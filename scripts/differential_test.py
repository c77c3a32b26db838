"""The differential of resolvers: its cases, and what it makes of records."""

import contextlib
import importlib.machinery
import importlib.util
import io
import json
import unittest
from pathlib import Path

import kinds

loader = importlib.machinery.SourceFileLoader("differential", str(Path(__file__).resolve().parent / "differential"))
differential = importlib.util.module_from_spec(importlib.util.spec_from_loader("differential", loader))
loader.exec_module(differential)

X = "an axis of size 1 counts as taken"
LAST = "the last rule of a name wins"
DROPPED = "an axis that the mesh lacks is dropped"


def record(cause, case="on x=2: resolve first f32[8'a] rules=a:x", status="misplaced"):
    return {"backend": "b", "case": case, "status": status, "facts": [{"text": "claims it", "cause": cause}]}


class Cases(unittest.TestCase):
    def test_distinct_and_the_same_for_a_seed(self):
        lines = differential.lines(5000, 1)
        self.assertEqual(len(set(lines)), 5000)
        self.assertEqual(lines, differential.lines(5000, 1))
        self.assertNotEqual(lines, differential.lines(5000, 2))

    def test_every_small_one_is_there_and_the_smallest_come_first(self):
        small = differential.small()
        self.assertEqual(small, differential.lines(5000, 1)[: len(small)])
        self.assertEqual(small[0], "on x=2: resolve first f32[8'a] rules=")
        sizes = [differential.size(line) for line in small]
        self.assertEqual(sizes, sorted(sizes))


class Kinds(unittest.TestCase):
    def test_what_explains_most_is_the_cause_then_of_what_is_left(self):
        records = [record(f"{LAST}; or {DROPPED}"), record(DROPPED), record(f"{X}; or {LAST}"), record(X),
                   record(f"{LAST} (axis 'x' is given to two dimensions)")]
        self.assertEqual(kinds.causes(records), {0: LAST, 1: DROPPED, 2: LAST, 3: X, 4: LAST})
        self.assertEqual(kinds.causes(records[:2]), {0: DROPPED, 1: DROPPED})

    def test_a_pass_has_none_and_no_explanation_is_one_kind(self):
        passed = {"backend": "b", "case": "", "status": "pass", "facts": []}
        self.assertEqual(kinds.causes([passed, record("")]), {1: ""})

    def test_data_are_read_before_words(self):
        def told(cause, *explanations):
            fact = {"text": "claims it", "cause": cause}
            if explanations:
                fact["explanations"] = explanations
            return kinds.explanations({"facts": [fact]})

        def said(*causes, error=None):
            return {"causes": list(causes), **({"error": error} if error else {})}

        rows = [  # the words of records without data, and data that say the same
            (f"{LAST}, {X}", said({"code": "last_rule"}, {"code": "unit_axes_taken"})),
            (f"{LAST} (axis 'x' is given to two dimensions); or {DROPPED}",
             said({"code": "last_rule"}, error="axis 'x' is given to two dimensions"), said({"code": "strays_dropped"})),
            ("the sum over dp.tp is left unfinished", said({"code": "sum_unfinished", "axes": ["dp", "tp"]})),
            ("the right operand has a scale for each part over x, and a device takes its own for all",
             said({"code": "own_scale_for_all", "axes": ["x"], "operand": 1}))]
        for words, *data in rows:
            self.assertEqual(told(words), told("in other words", *data), words)
        self.assertEqual(told("the sum over dp.tp is left unfinished"), ["the sum is left unfinished"])
        self.assertEqual(told(""), [""])

    def test_words_name_no_axes(self):
        self.assertEqual(kinds.WORDS["sum_unfinished"], "the sum is left unfinished")
        self.assertNotIn("{axes}", "".join(kinds.WORDS.values()))

    def test_each_kind_is_told_with_its_smallest_example(self):
        large = "on x=2: resolve first f32[8'a,8'b] rules=a:x,b:x"
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            self.assertTrue(differential.told([record(LAST, large), record(LAST), record(X, large)]))
        self.assertEqual(out.getvalue().splitlines(), [
            f"b  misplaced  2 times: {LAST}", f"    {record(LAST)['case']}", "    claims it",
            f"b  misplaced  1 times: {X}", f"    {large}", "    claims it", "b: 3 misplaced"])


if __name__ == "__main__":
    unittest.main()
