"""The table of limits: a row counts where the framework refuses its probe in the words of the row."""

import unittest

from plumb_worker.limits import Row, Table



def found(said, says="no all-gather", holds=True, probe="a case"):
    row = Row("planted", "of the plan", lambda case: holds, says, probe)
    answer = Table([row], lambda asked: said, "our README").find(None)
    return answer and answer[1]


class Limits(unittest.TestCase):
    def test_a_row_counts_where_its_words_are_said(self):
        self.assertIn("no all-gather today", found("NotImplementedError: no all-gather today"))

    def test_a_row_that_is_not_refused_does_not_count(self):
        self.assertIsNone(found(None))

    def test_other_words_are_no_refusal_of_this_limit(self):
        self.assertIsNone(found("ZeroDivisionError"))

    def test_a_row_speaks_of_its_cases_alone(self):
        self.assertIsNone(found("no all-gather", holds=False))

    def test_a_row_without_a_probe_is_our_own_limit(self):
        self.assertEqual(found(None, says="", probe=None), "our README")
        self.assertEqual(found(None, says="their page", probe=None), "their page")

    def test_a_reason_may_name_what_the_case_has(self):
        self.assertEqual(Row("planted", "of the plan", bool).why("x"), "of the plan")
        self.assertEqual(Row("planted", lambda case: f"no axis {case}", bool).why("x"), "no axis x")

    def test_a_probe_runs_once(self):
        asked = []
        table = Table([Row("planted", "of the plan", lambda case: True, "no", "a case")], lambda p: asked.append(p) or "no", "")
        self.assertEqual([bool(table.find(None)) for _ in range(3)], [True] * 3)
        self.assertEqual(asked, ["a case"])


if __name__ == "__main__":
    unittest.main()
