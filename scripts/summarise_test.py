"""The pages of frameworks: who is hit stands first, a bug stands once, samples are marked."""
import importlib.machinery
import importlib.util
import os
import sys
import unittest
from unittest import mock

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE]
loader = importlib.machinery.SourceFileLoader("summarise", os.path.join(HERE, "summarise"))
summarise = importlib.util.module_from_spec(importlib.util.spec_from_loader("summarise", loader))
loader.exec_module(summarise)

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
        rare = [record("jax@0.10.2,partitioner=gspmd,style=explicit", line, "wrong") for line in
                (f"on x=2: reshard f32[{8 * n}]+x -> f32[{8 * n}]" for n in range(1, 40))]
        older = record("jax@0.9.1", "on x=2: reshard f32[8@x] -> f32[8]", "crashed", "the replica_group")
        default = record("jax@0.10.2", PRODUCT, "wrong")
        self.assertEqual([sorted({b for b, _ in one.cases}) for one in found(*rare, older, default)["defect"]],
                         [["jax@0.10.2"], ["jax@0.9.1"], ["jax@0.10.2,partitioner=gspmd,style=explicit"]])

    def test_one_bug_stands_once_with_all_that_have_it(self):
        backends = ("jax@0.9.1", "jax@0.10.2", "jax@0.10.2,partitioner=gspmd", "jax@0.10.2,style=explicit")
        bugs = found(*(record(backend, PRODUCT, "wrong") for backend in backends))["defect"]
        self.assertEqual([{b for b, _ in one.cases} for one in bugs], [set(backends)])
        rows = summarise.who(bugs[0], {"suite"})
        self.assertIn("| default ", rows)
        self.assertIn("0.10.2: 1, 0.9.1: 1", rows)
        self.assertEqual(rows.count("suite, a sample"), 3)
        self.assertNotIn("a sample", summarise.who(bugs[0], set()))
        self.assertIn("--backend jax@0.10.2 '", summarise.shown(bugs[0]))

    def test_what_is_known_of_a_bug_is_said_of_each_release(self):
        line = "on dp=2,tp=2: einsum mk,kn->mn f32[8@dp,8] f32[8,8@dp.tp] -> f32[8,8]?"
        bugs = found(*(record(f"te@{release}", line, "reneged", "DuplicateSpecError") for release in ("2.8.0", "2.13.0", "2.20.2")))["defect"]
        self.assertEqual(len(bugs), 1)
        said = summarise.evidence(bugs[0])
        self.assertRegex(said, r"^Of 2\.20\.2: what .* left; .* Of 2\.13\.0, 2\.8\.0: \[NVIDIA/.*\.$")

    def test_the_headline_counts_causes(self):
        plain = record("jax@0.10.2", PRODUCT, "wrong")
        batched = record("jax@0.10.2", "on x=2,y=2: einsum bmk,bkn->bmn f32[4,4,4@y] f32[4,4,4@x] -> f32[4,4,4]", "wrong")
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

    def test_it_stands_once_whatever_its_verdicts(self):
        of = found(record("torch@2.15.0,operands=distribute", GATHER, "wrong"),
                   record("torch@2.15.0,operands=distribute", GATHER.replace("9", "7"), "crashed"))
        self.assertEqual([one.statuses for one in of["documented"]], [{"wrong", "crashed"}])
        self.assertEqual(of["defect"], [])

    def test_what_nobody_looked_at_is_said(self):
        of = found(record("jax@0.10.2", "on x=2: reshard f32[8@x] -> f32[8]", "hung"))
        self.assertEqual(len(of["not audited"]), 1)

    def test_suites_judged_in_part_are_samples(self):
        some = [record("jax@0.10.2", PRODUCT, "pass"), record("jax@0.10.2", TO_UNFINISHED, "unsupported", "it needs (x)")]
        self.assertIn("| 2 of 9, a sample |", summarise.judged(some, {"suite": 9}))
        self.assertIn("| 2 ", summarise.judged(some, {"suite": 2}))
        self.assertIn("| 2, drawn |", summarise.judged(some, {"suite": None}))
        self.assertIn("| it needs |", summarise.limits(some))

    def test_issues_are_links(self):
        self.assertEqual(summarise.pages.linked("of openxla/xla#40034"), "of [openxla/xla#40034](https://github.com/openxla/xla/issues/40034)")
        self.assertEqual((summarise.pages.begun("not known"), summarise.pages.begun("amax.py: so"), summarise.pages.begun("openxla/xla#4")),
                         ("Not known", "amax.py: so", "openxla/xla#4"))


if __name__ == "__main__":
    unittest.main()
