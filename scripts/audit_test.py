"""The audit of published findings: each row says what it is, and each case finds the row of its very kind."""

import importlib.machinery
import importlib.util
import os
import sys
import unittest

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__))]

import audit

EXPLICIT = "jax@0.9.1,partitioner=gspmd,style=explicit"


class Audit(unittest.TestCase):
    def words(self, backend, status, line, cause=""):
        row = audit.row_of(audit.rows(), backend, (status, cause), line)
        return row and row.words

    def test_every_row_is_whole(self):
        for row in audit.rows():
            self.assertIn(row.sort, ("defect", "documented", "artefact", "false"), row)
            self.assertTrue(row.words and row.evidence, row)
            self.assertEqual(row.backends.startswith("-"), row.sort in ("artefact", "false"), row)
            script = row.script.split()[:1]
            self.assertTrue(all((audit.ROOT / "scripts/confirm" / name).is_file() for name in script), row)

    def test_what_a_case_passes(self):
        table = {"on x=2: reshard f32[8]+x -> f32[8]": "reshard, unfinished to finished",
                 "on x=2,y=2 ids=3,1,0,2: reshard f32[8] -> f32[8@x] -> f32[8]+x": "reshard, finished to finished to unfinished",
                 "on x=2: einsum mk,kn->mn f32[8,8] f32[8,8]+x -> f32[8,8@x]": "product",
                 "on x=2: einsum mk,kn->mn f32[8,8] f32[8,8] -> f32[8,8]+x": "product, unfinished",
                 "on x=2: einsum mk,kn->mn f32[8,8] f32[8,8] -> f32[8,8]+x -> f32[8,8]": "product, unfinished to finished",
                 "on x=2: einsum mk,kn->mn f32[8,8] f32[8,8] -> f32[8@x,8] -> f32[8,8]": "product and reshard"}
        for line, said in table.items():
            self.assertEqual(audit.passes(line), said)

    def test_a_plain_product_and_one_left_unfinished_are_kinds_of_their_own(self):
        product = "on x=2,y=2: einsum mk,kn->mn f32[8,8@y] f32[8@y,8] -> f32[8,8]"
        chains = [product, product + "+y", product + "+y -> f32[8,8]", "on x=2,y=2: reshard f32[8,8]+y -> f32[8,8]",
                  "on x=2,y=2: reshard f32[8,8] -> f32[8,8]+y", "on x=2,y=2: reshard f32[8,8]+x -> f32[8,8]+y"]
        kinds = [self.words(EXPLICIT, "wrong", line) for line in chains]
        self.assertEqual(len(set(kinds)), len(chains), kinds)
        self.assertNotIn(None, kinds)

    def test_what_is_withdrawn_is_no_case(self):
        withdrawn = audit.withdrawn(audit.rows(), "*")
        self.assertTrue(withdrawn)
        for row in withdrawn:
            self.assertIsNone(self.words(row.backends[1:] + "@1", "wrong", "on x=2: resolve first f32[8'a] rules="))

    def test_kinds_are_found_on_the_pages(self):
        loader = importlib.machinery.SourceFileLoader("confirmed", os.path.join(os.path.dirname(os.path.abspath(__file__)), "confirmed"))
        confirmed = importlib.util.module_from_spec(importlib.util.spec_from_loader("confirmed", loader))
        loader.exec_module(confirmed)
        found = confirmed.of_pages()
        plain = next(row for row in found if row.words.startswith("a plain product"))
        self.assertLessEqual({"jax@0.10.2", "jax@0.9.1", "jax@0.10.2,partitioner=gspmd,style=explicit", "jax@0.10.2,route=donate"},
                             found[plain])
        self.assertNotIn("jax@0.9.1,route=donate", found[plain])
        self.assertGreater(sum(1 for row in found if row.shows), 20)


if __name__ == "__main__":
    unittest.main()
