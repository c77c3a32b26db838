"""The pages of frameworks: who is hit stands first, a bug stands once, samples are marked."""
import fnmatch
import importlib.machinery
import importlib.util
import os
import sys
import unittest
from unittest import mock

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE]


def loaded(name):
    loader = importlib.machinery.SourceFileLoader(name, os.path.join(HERE, name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


import audit
import became

summarise, confirmed = loaded("summarise"), loaded("confirmed")

PRODUCT = "on x=2,y=2,z=2: einsum mk,kn->mn f32[8,8@x] f32[8@x,8@y] -> f32[8@x,8@z.y]"
TO_UNFINISHED = "on x=2,y=2: reshard f32[8,8] -> f32[8,8@x]+y"
GATHER = "on dp=2,pp=2,tp=2: reshard f32[9,5@pp.tp.dp] -> f32[9,5@pp.tp] nested"


def record(backend, line, status, words=""):
    return "suite", {"backend": backend, "case": line, "status": status, "facts": [{"status": status, "text": words}]}, ""


def found(*all_records):
    with mock.patch.object(summarise.strata, "cases_of", lambda lines: {line: {"contracted": 1} for line in lines}):
        return summarise.findings(all_records)


class Pages(unittest.TestCase):
    def test_the_default_configuration_of_the_newest_release_stands_first(self):
        rare = [record("jax@0.10.2,style=explicit", line, "wrong") for line in
                (f"on x=2,y=2: reshard f32[{8 * n}@y]+x -> f32[{8 * n}]+x" for n in range(1, 40))]
        older = record("jax@0.9.1", "on x=2: reshard f32[8@x] -> f32[8]", "crashed", "the replica_group")
        default = record("jax@0.10.2", PRODUCT, "wrong")
        self.assertEqual([sorted({b for b, _ in one.cases}) for one in found(*rare, older, default)["defect"]],
                         [["jax@0.10.2"], ["jax@0.9.1"], ["jax@0.10.2,style=explicit"]])

    def test_one_bug_stands_once_with_all_that_have_it(self):
        backends = ("jax@0.9.1", "jax@0.10.2", "jax@0.10.2,partitioner=gspmd", "jax@0.10.2,style=explicit")
        bugs = found(*(record(backend, PRODUCT, "wrong") for backend in backends))["defect"]
        self.assertEqual([{b for b, _ in one.cases} for one in bugs], [set(backends)])
        rows = summarise.who(bugs[0], {("suite", backend) for backend in backends})
        self.assertIn("| default ", rows)
        self.assertIn("0.10.2: 1, 0.9.1: 1", rows)
        self.assertEqual(rows.count("suite, a sample"), 3)
        rows = summarise.who(bugs[0], {("suite", "jax@0.10.2"), ("suite", "jax@0.10.2,style=explicit")})
        self.assertIn("0.10.2: 1 of a sample, 0.9.1: 1", rows)
        self.assertEqual(rows.count("suite, a sample"), 1)
        self.assertNotIn("a sample", summarise.who(bugs[0], set()))
        self.assertIn("--backend jax@0.10.2 '", summarise.shown(bugs[0]))

    def test_what_is_known_of_a_bug_is_said_of_each_release(self):
        line = "on dp=2,tp=2: einsum mk,kn->mn f32[8@dp,8] f32[8,8@dp.tp] -> f32[8,8]?"
        bugs = found(*(record(f"te@{release}", line, "reneged", "DuplicateSpecError") for release in ("2.8.0", "2.13.0", "2.20.2")))["defect"]
        self.assertEqual(len(bugs), 1)
        said = summarise.evidence(bugs[0])
        self.assertRegex(said, r"^Of 2\.20\.2: what .* left; .* Of 2\.13\.0, 2\.8\.0: \[PR NVIDIA/.*\.$")

    def test_the_headline_counts_causes(self):
        plain = record("jax@0.10.2", PRODUCT, "wrong")
        batched = record("jax@0.10.2", "on x=2,y=2,z=2: einsum bmk,bkn->bmn f32[1,2,2@x] f32[1,2@x,4] -> f32[1,2@x,4@z.y]", "wrong")
        aborts = [record("jax@0.9.1", line, "crashed", "replica_group") for line in (PRODUCT, "on x=2: reshard f32[8@x] -> f32[8]")]
        said = lambda *some: summarise.headline(found(*some)["defect"])
        self.assertEqual(said(plain), "1 bugs")
        self.assertEqual(said(plain, batched), "1 to 2 bugs in 2 kinds, of which some share a cause")
        self.assertEqual(said(*aborts), "1 bugs in 2 kinds, of which some share a cause")

    def test_the_first_release_that_shows_it_is_said(self):
        words = "a kind"
        of = lambda partitioner, **shown: {("jax", partitioner, words): {r.replace("_", "."): s for r, s in shown.items()}}
        said = lambda known: summarise.releases.since("jax", words, known)
        self.assertEqual(said({}), "")
        self.assertEqual(said(of("shardy", _0_9=False)), "")  # none shows it
        self.assertEqual(said(of("gspmd", **{"0_10": True, "0_9": False})), " Shown first with GSPMD by 0.10, of 2 tried.")
        both = of("shardy", **{"0_4": True, "0_10": False, "0_9": True}) | of("gspmd", **{"0_4": False, "0_9": True})
        self.assertEqual(said(both), " Shown first with Shardy by 0.4, the oldest of 3 tried, and not by 0.10; with GSPMD by 0.9, of 2 tried.")

    def test_the_audit_says_by_which_partitioner(self):
        known = {("jax", "shardy", "a kind"): {"0.10.0": True, "0.9.2": True, "0.4.1": False}, ("jax", "gspmd", "a kind"): {"0.4.1": True},
                 ("te", "", "a kind"): {"2.8.0": True, "2.10.0": True}, ("te", "", "another"): {"2.8.0": False}}
        with mock.patch.object(summarise.releases, "shown", lambda: known):
            said = [summarise.releases.first(*of) for of in (("jax", "a kind"), ("te", "a kind"), ("te", "another"))]
        self.assertEqual(said, ["0.9.2 (Shardy), 0.4.1 (GSPMD)", "2.8.0", ""])

    def test_it_stands_once_whatever_its_verdicts(self):
        of = found(record("torch@2.15.0,operands=distribute", GATHER, "wrong"),
                   record("torch@2.15.0,operands=distribute", GATHER.replace("9", "7"), "crashed"))
        self.assertEqual([one.statuses for one in of["documented"]], [{"wrong", "crashed"}])
        self.assertEqual(of["defect"], [])

    def test_what_nobody_looked_at_is_said(self):
        of = found(record("jax@0.10.2", "on x=2: reshard f32[8@x] -> f32[8]", "hung"))
        self.assertEqual(len(of["not audited"]), 1)

    def test_what_became_of_a_case_is_told_in_the_words_of_the_release_that_has_it(self):
        two_axes = "on x=3,y=2,z=2: reshard f32[12@x.y,12@z] -> f32[12,12]+x.y"  # 0.9.1 does not gather it, 0.10.2 gathers it to wrong offsets
        releases = ("jax@0.9.1,style=explicit", "jax@0.10.2,style=explicit")
        words = [became.row_of_change(audit.rows(), *releases, {"status": "wrong", "why": "values", "cases": [
            {"case": two_axes, "was": "wrong", "is": status}]}).words for status in ("wrong", "pass")]
        self.assertRegex(words[0], "at wrong offsets$")
        self.assertRegex(words[1], "is not gathered$")
        self.assertIsNone(became.row_of_change([], *releases, {"status": "unsupported", "why": "values", "cases": []}))

    def test_suites_judged_in_part_are_samples(self):
        some = [record("jax@0.10.2", PRODUCT, "pass"), record("jax@0.10.2", TO_UNFINISHED, "unsupported", "it needs (x)")]
        self.assertIn("| 2 of 9, a sample |", summarise.judged(some, {"suite": 9}))
        self.assertIn("| 2 ", summarise.judged(some, {"suite": 2}))
        self.assertIn("| 2, drawn |", summarise.judged(some, {"suite": None}))
        self.assertIn("| it needs |", summarise.limits(some))

    def test_what_is_no_rate_is_said(self):
        known = [record("jax@0.10.2", f"on x=2: reshard f32[{n}@x] -> f32[{n}]", "wrong") for n in (2, 4, 6)]
        some = [record("jax@0.12.0.1", r["case"], status) for (_, r, _), status in zip(known, ("wrong", "pass"))]
        self.assertIn("wrong in 0.10.2 those of 0.12.0.1 hold 2 of 3 of `suite`.", summarise.rates(known + some, {("suite", "jax@0.12.0.1")}))
        self.assertEqual(summarise.rates(known + some, set()), "")
        drawn = [("contracted", r, cause) for _, r, cause in known]
        self.assertIn("`contracted` were drawn up\nwhere failures were expected", summarise.rates(drawn, set()))

    def test_a_wasteful_case_is_shown_with_the_limit_that_judges_it_so(self):
        def shown(words, **limits):
            suite, one, cause = record("te@2.20.2", PRODUCT, "wasteful", words)
            return summarise.shown(found((suite, one | limits, cause))["documented"][0])

        bytes_moved = "moved 49152 bytes, best known are 24576: 2.00 times, the limit is 1"
        self.assertIn("plumb run --backend te@2.20.2 --max-waste 1 'on x=2", shown(bytes_moved))
        self.assertIn(" --max-waste 2 'on x=2", shown(bytes_moved, limits={"max_waste": 2}))
        self.assertIn(" --max-collectives 1 'on x=2", shown("took 2 collectives, its groups allow 1"))
        self.assertNotIn("--max", summarise.shown(found(record("jax@0.10.2", PRODUCT, "wrong"))["defect"][0]))

    def test_issues_and_pull_requests_are_links(self):
        self.assertEqual(summarise.pages.linked("of openxla/xla#40034"), "of [openxla/xla#40034](https://github.com/openxla/xla/issues/40034)")
        self.assertEqual(summarise.pages.linked("PR a/b#7 left"), "[PR a/b#7](https://github.com/a/b/pull/7) left")
        self.assertEqual((summarise.pages.begun("not known"), summarise.pages.begun("amax.py: so"), summarise.pages.begun("openxla/xla#4")),
                         ("Not known", "amax.py: so", "openxla/xla#4"))


class Published(unittest.TestCase):
    """The committed pages say what results/kinds and results/releases say; the counts need the records, and are not made here."""

    def test_the_audit_is_the_one_that_is_made(self):
        made, committed = summarise.audited().splitlines(), (summarise.ROOT / "results/audit.md").read_text().splitlines()
        self.assertEqual([line for line in made if line not in committed], [], "scripts/summarise audit > results/audit.md")
        self.assertTrue(made == committed, "scripts/summarise audit > results/audit.md")

    def sections(self, name):
        """(sort, statuses, words, the text) of each kind on a page."""
        page = (summarise.ROOT / f"results/{name}.md").read_text()
        for sort, heading in (("defect", "Bugs"), ("documented", "Documented differences")):
            part = page.split(f"\n## {heading}\n")[1].split("\n## ")[0]
            for said in part.split("\n### ")[1:]:
                title, _, text = said.partition("\n\n")
                statuses, _, words = title.partition(". ")[2].partition(": ")
                yield sort, statuses, words, text

    def test_kinds_stand_on_the_pages_as_they_are_audited(self):
        table, counted = audit.rows(), list(confirmed.counted())
        for name in summarise.FRAMEWORKS:
            for sort, statuses, words, text in self.sections(name):
                rows = {}
                for backend in sorted(b for w, b in counted if w == words and b.startswith(f"{name}@")):
                    row = next((row for row in table if row.words == words and fnmatch.fnmatch(backend, row.backends)), None)
                    self.assertIsNotNone(row, (words, backend))
                    rows.setdefault(row, set()).add(summarise.release_of(backend))
                self.assertEqual({row.sort for row in rows}, {sort}, words)
                one = summarise.Finding(words, rows, set(), {}, {f"{name}@": ("", "")})
                self.assertEqual(text.partition("\n\n")[0], summarise.about(one), f"scripts/summarise {name} > results/{name}.md")
                if statuses == "wasteful":
                    self.assertRegex(text, r"\n    plumb run --backend \S+ --max-\w+ ", words)

    def test_what_is_withdrawn_stands_on_the_pages(self):
        for row in audit.withdrawn(audit.rows(), "*"):
            page = (summarise.ROOT / f"results/{row.backends[1:]}.md").read_text()
            self.assertTrue(f"\n- {summarise.pages.linked(f'{row.words}: {row.evidence}')}\n" in page, row)


if __name__ == "__main__":
    unittest.main()
