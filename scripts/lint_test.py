"""What the lint refuses: each rule, broken once in a tree that keeps the others."""

import importlib.machinery
import importlib.util
import unittest
from pathlib import Path

loader = importlib.machinery.SourceFileLoader("lint", str(Path(__file__).resolve().parent / "lint"))
lint = importlib.util.module_from_spec(importlib.util.spec_from_loader("lint", loader))
loader.exec_module(lint)

MEANING = '#include "reference/meaning/evaluate.h"\n'
WORDS = {"reference/words/mesh.h": "namespace plumb { struct Mesh { int axes; }; }"}


def including(*targets):
    return "".join(f'#include "{target}"\n' for target in targets)


def arrows(**files):
    return list(lint.arrows(WORDS | {path.replace("__", "/") + ".cc": text for path, text in files.items()}))


def names(*headers):
    return list(lint.names({f"{room}/names.h": text for room, text in headers}))


class Arrows(unittest.TestCase):
    def test_down_the_house(self):
        self.assertEqual(arrows(adapters__plan__ring=including("reference/words/mesh.h")), [])
        self.assertEqual(arrows(harness__run__run=including("harness/judge/judge.h")), [])

    def test_a_folder_without_a_row(self):
        for path in ("adapters/xla/xla.cc", "harness/measure/clock.cc", "reference/hlo/cost/cost.h"):
            self.assertEqual(list(lint.arrows({path: ""})), [f"{path}: its folder has no row in ARROWS"])
        self.assertEqual(list(lint.arrows({"adapters/xla/CMakeLists.txt": ""})), [])
        self.assertEqual(arrows(adapters__plan__ring=including("adapters/xla/xla.h")),
                         ["adapters/plan/ring.cc: adapters/xla/xla.h is in no room"])

    def test_an_adapter_that_sees_the_meaning(self):
        self.assertIn("adapters/rank/rank.cc: adapters/rank may not include reference/meaning/evaluate.h",
                      arrows(adapters__rank__rank=MEANING))
        self.assertIn("adapters/xla/xla.cc: its folder has no row in ARROWS", arrows(adapters__xla__xla=MEANING))
        by_way_of = {"adapters/rank/rank.cc": including("reference/words/mesh.h"), "reference/words/mesh.h": MEANING}
        self.assertIn("adapters/rank/rank.cc: reaches reference/meaning/evaluate.h, the meaning it is judged by",
                      list(lint.arrows(by_way_of)))

    def test_up_inside_the_harness(self):
        self.assertEqual(arrows(harness__judge__judge=including("harness/run/run.h")),
                         ["harness/judge/judge.cc: harness/judge may not include harness/run/run.h"])
        self.assertEqual(arrows(harness__trace__cost=including("harness/judge/verdict.h")),
                         ["harness/trace/cost.cc: harness/trace may not include harness/judge/verdict.h"])
        self.assertEqual(arrows(harness__judge__judge=including("harness/diagnose/cause.h")),
                         ["harness/judge/judge.cc: harness/judge may not include harness/diagnose/cause.h"])

    def test_kits_of_tests(self):
        kit = including("harness/judge/testing/trial.h")
        self.assertEqual(arrows(harness__judge__judge=kit),
                         ["harness/judge/judge.cc: harness/judge/testing/trial.h is for tests"])
        self.assertEqual(arrows(harness__judge__judge_test=kit, harness__judge__testing__fake=kit), [])


class Circles(unittest.TestCase):
    def test_a_file_that_knows_what_is_above_it(self):
        room = {"harness/judge/judge.h": "", "harness/judge/judge.cc": including("harness/judge/judge.h", "harness/judge/values.h"),
                "harness/judge/values.h": "", "harness/judge/values.cc": including("harness/judge/values.h"),
                "harness/judge/values_test.cc": including("harness/judge/judge.h")}
        self.assertEqual(list(lint.circles(room)), [])
        room["harness/judge/values.cc"] += including("harness/judge/judge.h")
        self.assertEqual(list(lint.circles(room)), ["harness/judge/judge, harness/judge/values: "
                                                    "each includes the next, and the last the first"])

    def test_a_circle_of_three_is_said_once(self):
        room = {f"harness/run/{one}.h": including(f"harness/run/{next}.h") for one, next in ("ab", "bc", "ca")}
        self.assertEqual(list(lint.circles(room)), ["harness/run/a, harness/run/b, harness/run/c: "
                                                    "each includes the next, and the last the first"])


class Names(unittest.TestCase):
    def test_in_two_rooms(self):
        term = "namespace plumb { struct Term { int a; }; }"
        self.assertEqual(names(("reference/exact", term), ("reference/fill", term)),
                         ["reference/exact/names.h, reference/fill/names.h: plumb::Term in more rooms than one"])
        self.assertEqual(names(("reference/exact", term), ("reference/exact/testing", term)), [])
        self.assertEqual(names(("reference/exact", term), ("reference/fill", term.replace("plumb", "other"))), [])
        self.assertEqual(names(("reference/exact", term), ("reference/fill", "namespace plumb { struct Term; }")), [])

    def test_of_every_kind(self):
        for said in ("enum class Term { a, b };", "using Term = int;", "inline constexpr int kMost[] = {1, 2};",
                     "int product(const Case& c);", "inline int product(const Case& of) { return 1; }",
                     "template <class T> std::vector<T> rows(T a, int n = 2) { return {}; }"):
            text = "namespace plumb { " + said + " }"
            self.assertEqual(len(names(("reference/exact", text), ("reference/fill", text))), 1, said)

    def test_overloads_are_two(self):
        self.assertEqual(names(("reference/exact", "namespace plumb { int name(DType d); }"),
                               ("reference/fill", "namespace plumb { int name(Reduce r); }")), [])


if __name__ == "__main__":
    unittest.main()
