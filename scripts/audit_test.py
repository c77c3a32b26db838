"""The audit of published findings: each row says what it is, and each case finds the row of its very kind."""

import importlib.machinery
import importlib.util
import os
import pathlib
import re
import sys
import tempfile
import unittest
from unittest import mock

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__))]

import audit
import releases

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
        plain = "on x=2,y=2,z=2: einsum mk,kn->mn f32[8,8@x] f32[8@x,8@y] -> f32[8@x,8@z.y]"
        product = "on x=2,y=2: einsum mk,kn->mn f32[8,8@y] f32[8@y,8] -> f32[8,8]"
        chains = [plain, product + "+y", product + "+y -> f32[8,8]", "on x=2,y=2: reshard f32[8,8]+y -> f32[8,8]",
                  "on x=2,y=2: reshard f32[8,8] -> f32[8,8]+y", "on x=2,y=2: reshard f32[8,8]+x -> f32[8,8]+y"]
        kinds = [self.words(EXPLICIT, "wrong", line) for line in chains]
        self.assertEqual(len(set(kinds)), len(chains), kinds)
        self.assertNotIn(None, kinds)

    def test_the_letters_of_a_product_say_its_kind_whichever_they_are(self):
        of = lambda letters: audit.letters(f"on x=2: einsum {letters} f32[8,8] f32[8,8] -> f32[8,8]")
        self.assertEqual(of("mk,kn->mn"), "; 0 batch, 1 contracted, 1 and 1 kept")
        self.assertEqual(of("bhqd,bhkd->bhqk"), "; 2 batch, 1 contracted, 1 and 1 kept")
        self.assertEqual(of("bsd,dhk->bshk"), "; 0 batch, 1 contracted, 2 and 2 kept")
        self.assertEqual(audit.letters("on x=2: reshard f32[8] -> f32[8]"), "")
        same = {"bqd,bkd->bqk": "bmk,bkn->bmn", "bsd,dhk->bshk": "bsk,kn->bsn", "bshk,hkd->bsd": "bsk,bsn->kn"}
        with mock.patch.object(audit, "as_if", lambda line: "; axes in another order"):
            for other, known in same.items():
                words = self.words("jax@0.10.2", "wrong", f"on x=2: einsum {other} f32[8] f32[8] -> f32[8]")
                self.assertIsNotNone(words, other)
                self.assertEqual(words, self.words("jax@0.10.2", "wrong", f"on x=2: einsum {known} f32[8] f32[8] -> f32[8]"))

    def test_mechanisms_of_one_product_are_kinds_of_their_own(self):
        """As scripts/confirm/lines.py says; what it says nothing of is of no kind."""
        of = lambda line: self.words("jax@0.12.0.1", "wrong", f"on x=2,y=2,z={line}")
        kinds = [of("2: einsum mk,kn->mn f32[2,2@x] f32[2@x,4] -> f32[2@x,4@z.y]"), of("3: einsum mk,kn->mn f32[2@x,2] f32[2@y,2@x] -> f32[2,2@y]"),
                 of("3: einsum mk,kn->mn f32[6@y,2@x] f32[2@y,2@x] -> f32[6@z,2]")]
        for words, end in zip(kinds, ("stood in another order", "a dimension of the result lay over another axis", "one operand lay over another axis")):
            self.assertRegex(words, f"^a plain product: .*{end}$")
        self.assertIsNone(of("2: einsum mk,kn->mn f32[2,2] f32[2,2] -> f32[2,2]"))

    def test_each_line_that_is_explained_is_of_a_kind(self):
        said = audit.lines()
        self.assertGreater(len(said), 140)
        for line in said:
            self.assertIsNotNone(self.words("jax@0.10.2", "wrong", line), line)

    def test_the_smallest_cases_are_in_the_suite_and_explained(self):
        suite = [line for line in (audit.ROOT / "suites/smallest.cases").read_text().splitlines() if line.startswith("on ")]
        self.assertGreaterEqual(sum(line in audit.lines() for line in suite), 17)
        told = {audit.lines()[line] for line in suite if line in audit.lines()}
        self.assertEqual(told, set(audit.lines().values()))

    def test_gspmd_does_what_it_says_that_it_does_not(self):
        """What an older release said is documented whatever the operation."""
        for status, line in (("wrong", "einsum mk,kn->mn f32[8,8@y] f32[8@y,8@x] -> f32[8,8@x]+y"), ("diverged", "reshard f32[8]+x -> f32[8]+y"),
                             ("wrong", "grouped fwd f32[2,2@x] f32[1,2@x,4] sizes=2 -> f32[2@x,4@y]")):
            row = lambda backend: audit.row_of(audit.rows(), backend, (status, ""), f"on x=2,y=2: {line}")
            self.assertEqual(row(EXPLICIT).sort, "documented", line)
        self.assertEqual(row("jax@0.10.2"), None)  # which has not that line wrong

    def test_what_is_documented_has_a_sentence_that_says_so(self):
        for row in audit.rows():
            if row.sort == "documented":
                self.assertRegex(row.evidence, r"`[^`]+`|(says|said) that ", row.words)

    def test_reshards_to_an_unfinished_sum_are_kinds_of_their_own(self):
        of = lambda release, status, line, said="": self.words(f"jax@{release},style=explicit", status, f"on x=3,y=2,z=2: reshard {line}", said)
        decomposed = "it needs to be decomposed"
        kinds = [of("0.9.1", "crashed", "f32[12,12] -> f32[12@x,12]+y", decomposed), of("0.9.1", "crashed", "f32[12,12]+z -> f32[12@x,12]+y.z", decomposed),
                 of("0.9.1", "wrong", "f32[12@y,12] -> f32[12,12]+x"), of("0.9.1", "wrong", "f32[12@x.y,12] -> f32[12,12]+x.y"),
                 of("0.9.1", "wrong", "f32[12@y.z,12]+x -> f32[12@y,12]+x")]
        self.assertEqual(len(set(kinds)), len(kinds), kinds)
        self.assertNotIn(None, kinds)
        gathers = of("0.10.2", "wrong", "f32[12@x.y,12@z] -> f32[12,12]+x.y")  # as its trace says
        self.assertEqual(gathers, of("0.10.2", "wrong", "f32[12@x.y,12] -> f32[12,12]+x.y"))
        self.assertEqual(of("0.9.1", "wrong", "f32[12@y.z,12] -> f32[12@y,12]+x"), of("0.9.1", "wrong", "f32[12@y,12] -> f32[12,12]+x"))

    def test_causes_are_counted_with_and_without_guesses(self):
        row = lambda cause: audit.Kind("jax@*", "", "defect", "", "", "", "", cause)
        table = {(): (0, 0), ("",): (1, 1), ("", ""): (2, 2), ("a", "a"): (1, 1), ("a", "a", "b"): (2, 2), ("a?", "a?"): (1, 2),
                 ("a", "a", "a?"): (1, 2), ("a?", "a?", "b", "b", ""): (3, 4)}
        for names, counted in table.items():
            self.assertEqual(audit.causes([[row(name)] for name in names]), counted, names)
        self.assertEqual(audit.causes([[None], [row(""), row("a")], [row("a")]]), (2, 2))

    def test_what_is_withdrawn_is_no_case(self):
        withdrawn = audit.withdrawn(audit.rows(), "*")
        self.assertTrue(withdrawn)
        for row in withdrawn:
            self.assertIsNone(self.words(row.backends[1:] + "@1", "wrong", "on x=2: resolve first f32[8'a] rules="))

    def confirmed(self):
        loader = importlib.machinery.SourceFileLoader("confirmed", os.path.join(os.path.dirname(os.path.abspath(__file__)), "confirmed"))
        confirmed = importlib.util.module_from_spec(importlib.util.spec_from_loader("confirmed", loader))
        loader.exec_module(confirmed)
        return confirmed

    def test_what_a_page_counts_cases_of_is_what_it_says_was_judged(self):
        named = {backend for _, backend in self.confirmed().counted()}
        judged = {backend for page in audit.ROOT.glob("results/*.md") for backend in re.findall(r"^\| \S.*?\| `(\w+@\S+)`", page.read_text(), re.M)}
        self.assertTrue(named)
        self.assertEqual(named - judged, set())

    def test_which_releases_show_a_kind_is_kept_beside_what_was_known(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(releases, "FILE", pathlib.Path(folder) / "releases"):
            self.assertEqual(releases.shown(), {})
            known = {("jax", "gspmd", "a kind"): {"0.10.0": True, "0.9.2": True, "0.4.1": False}, ("te", "", "another"): {"2.8.0": False}}
            releases.write_shown(known)
            self.assertIn("jax\tgspmd\ta kind\t0.9.2 0.10.0\t0.4.1\n", releases.FILE.read_text())
            self.assertEqual(releases.shown(), known)

    def test_a_kind_is_shown_by_what_its_script_prints(self):
        confirmed = self.confirmed()
        shows = lambda script, partitioner: script.startswith("lines.py") and partitioner == "gspmd"
        wrong = "on x=2: einsum mk,kn->mn f32[8@x,8] f32[8,8] -> f32[8,8]: wrong on 2 devices: axes in another order (n of right)"
        prints = lambda python, *asked: wrong if shows(*asked) else "" if "xla" in asked[0] else "right"
        with mock.patch.object(confirmed, "printed", prints), mock.patch("builtins.print"):
            found = confirmed.shown_by("jax", "0.4.1", "python")
        words = next(row.words for row in audit.rows() if row.words.startswith("a plain product") and row.words.endswith("in another order"))
        self.assertEqual([kind for kind, shown in found.items() if shown], [("jax", "gspmd", words)])
        self.assertIn(("jax", "shardy", words), found)
        self.assertFalse([words for _, _, words in found if words.startswith("a product is left unfinished, and")])  # its script says nothing
        of_gspmd = {words for _, partitioner, words in found if partitioner == "gspmd"} - {words for _, p, words in found if p == "shardy"}
        self.assertTrue(any(words.startswith("under GSPMD") for words in of_gspmd))
        of = lambda backends: audit.Kind(backends, *[""] * 6)
        for backends, release, said in (("te@2.1[0-3]*dense", "2.13.0", True), ("te@2.1[0-3]*dense", "2.14.0", False), ("te@*", "2.8.0", True),
                                        ("te@2.20.2,via=dense", "2.20.2", True), ("te@2.20.2,via=dense", "2.20.3", False)):
            self.assertEqual(confirmed.is_of(of(backends), "te", release), said, backends)
        for backends, said in (("jax@*", "shardy gspmd"), ("jax@*gspmd,style=explicit", "gspmd"), ("jax@0.10.2,partitioner=gspmd,style=explicit", "gspmd"),
                               ("jax@*style=explicit", "shardy gspmd"), ("jax@*[0-9],style=explicit", "shardy"), ("jax@0.[0-9].*[0-9],style=explicit", "shardy")):
            self.assertEqual([name for name in confirmed.OPTIONS if confirmed.is_by(of(backends), name)], said.split(), backends)

    def test_every_row_that_holds_says_what_shows_it(self):
        silent = [(row.backends, row.words) for row in audit.rows() if row.sort in ("defect", "documented") and not row.shows]
        self.assertEqual(silent, [])

    def test_a_script_is_asked_for_what_its_row_names(self):
        confirmed, ran = self.confirmed(), []
        with mock.patch.object(confirmed.subprocess, "run", lambda command, **_: ran.append(command[3:]) or mock.Mock(stdout="")):
            confirmed.printed("python", "jit_einsum.py inside", "gspmd")
            confirmed.printed("python", "dtensor.py strided_dense", "")
        self.assertEqual(ran, [["gspmd", "inside"], ["strided_dense"]])

    def test_kinds_are_found_on_the_pages(self):
        found = self.confirmed().of_pages()
        plain = next(row for row in found if row.words.startswith("a plain product") and row.words.endswith("in another order"))
        self.assertLessEqual({"jax@0.10.2", "jax@0.9.1", "jax@0.10.2,partitioner=gspmd,style=explicit", "jax@0.10.2,route=donate"},
                             found[plain])
        self.assertNotIn("jax@0.9.1,route=donate", found[plain])
        self.assertGreater(sum(1 for row in found if row.shows), 20)


if __name__ == "__main__":
    unittest.main()
