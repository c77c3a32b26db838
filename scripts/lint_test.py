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
        for path in ("adapters/xla/xla.cc", "harness/clock/clock.cc", "reference/hlo/cost/cost.h"):
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

    def test_every_language_and_both_brackets(self):
        for name in ("a.c", "a.cu", "a.cuh", "a.hpp"):
            self.assertTrue(name.endswith(lint.CODE))
            self.assertIn(f"adapters/rank/{name}: adapters/rank may not include reference/meaning/evaluate.h",
                          list(lint.arrows({f"adapters/rank/{name}": MEANING})))
        self.assertIn("adapters/rank/a.cc: adapters/rank may not include reference/meaning/evaluate.h",
                      arrows(adapters__rank__a="#include <reference/meaning/evaluate.h>\n"))
        self.assertEqual(arrows(adapters__rank__a="#include <vector>\n"), [])

    def test_what_tests_alone_see(self):
        self.assertEqual(arrows(harness__trace__needs_test=MEANING), [])
        self.assertEqual(arrows(harness__trace__needs=MEANING),
                         ["harness/trace/needs.cc: harness/trace may not include reference/meaning/evaluate.h"])

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

    def test_overloads_are_one_name(self):
        def both(word):
            return names(("reference/exact", f"namespace plumb {{ int {word}(DType d); }}"),
                         ("reference/fill", f"namespace plumb {{ int {word}(Reduce r); }}"))
        self.assertEqual(both("decide"),
                         ["reference/exact/names.h, reference/fill/names.h: plumb::decide in more rooms than one"])
        self.assertEqual(both("name"), [])

    def test_a_kit_says_the_words_of_rooms_for_its_own_types(self):
        sees = "namespace plumb { int decide(%s d); }"
        self.assertEqual(names(("reference/exact", sees % "DType"), ("reference/fill/testing", sees % "Reduce")), [])
        self.assertEqual(len(names(("reference/exact/testing", sees % "DType"), ("reference/fill/testing", sees % "DType"))), 1)

    def test_a_type_is_no_function(self):
        text = "namespace plumb { struct grid {}; int grid(int n); }"
        self.assertEqual(names(("adapters/plan", text)),
                         ["adapters/plan/names.h: plumb::grid is a function and something else"])
        self.assertEqual(len(names(("adapters/plan", "namespace plumb { struct grid {}; }"),
                                   ("harness/sweep", "namespace plumb { int grid(int n); }"))), 1)


class Homes(unittest.TestCase):
    def homes(self, header, source, says="namespace plumb { int share(int n); }"):
        return list(lint.homes({header: says, source: "namespace plumb { int share(int n) { return n; } }"}))

    def test_a_header_declares_what_the_file_of_its_name_defines(self):
        self.assertEqual(self.homes("reference/fill/shares.h", "reference/fill/shares.cc"), [])
        self.assertEqual(self.homes("reference/fill/shares.h", "reference/fill/unit.cc"),
                         ["reference/fill/unit.cc: defines plumb::share(int) of reference/fill/shares.h"])
        self.assertEqual(self.homes("reference/fill/shares.h", "reference/fill/unit_test.cc"), [])
        other = "namespace plumb { int share(double n); }"
        self.assertEqual(self.homes("reference/fill/shares.h", "reference/fill/unit.cc", other), [])

    def test_the_door_of_a_room(self):
        self.assertEqual(self.homes("reference/fill/fill.h", "reference/fill/unit.cc"), [])
        self.assertEqual(self.homes("reference/words/text.h", "reference/words/print.cc"), [])


class Unnamed(unittest.TestCase):
    def unnamed(self, one, other, **more):
        return list(lint.unnamed({"harness/trace/one.cc": one, "harness/trace/other.cc": other} | more))

    def test_a_name_of_two_files(self):
        said = ["harness/trace/one.cc, harness/trace/other.cc: %s in the unnamed namespaces of more files than one"]
        for text, name in (("int advance(int n) { return n; }", "advance"), ("constexpr int kMost = 3;", "kMost"),
                           ("struct Run { int n; };", "Run")):
            text = "namespace plumb { namespace { " + text + " } }"
            self.assertEqual(self.unnamed(text, text), [said[0] % name])
        self.assertEqual(self.unnamed("namespace plumb { namespace { int within(int a) { return a; } } }",
                                      "namespace plumb { namespace { int within(char b) { return b; } } }"),
                         [said[0] % "within"])

    def test_what_is_not_compiled_together(self):
        text = "namespace plumb { namespace { int advance(int n) { return n; } } }"
        self.assertEqual(self.unnamed(text, ""), [])
        self.assertEqual(self.unnamed(text, "", **{"harness/trace/one_test.cc": text}), [])
        self.assertEqual(self.unnamed(text, "", **{"harness/judge/one.cc": text}), [])


class Links(unittest.TestCase):
    ROOMS = {f"reference/{room}/CMakeLists.txt": f"plumb_room({room} SOURCES {room}.cc)"
             for room in ("words", "fill", "meaning", "exact")}

    def links(self, path, text):
        return list(lint.links(self.ROOMS | {f"{path}/CMakeLists.txt": text}))

    def test_a_library_is_linked_where_an_arrow_goes(self):
        plan = "plumb_room(plan SOURCES ring.cc DEPS plumb_words %s fmt::fmt)"
        self.assertEqual(self.links("adapters/plan", plan % ""), [])
        self.assertEqual(self.links("adapters/plan", plan % "plumb_meaning  # the wanted\n"),
                         ["adapters/plan/CMakeLists.txt: adapters/plan may not link plumb_meaning"])
        self.assertEqual(self.links("adapters/plan", plan % "# plumb_meaning\n"), [])
        self.assertEqual(self.links("adapters/local", "target_link_libraries(plumb-local PRIVATE plumb_exact)"),
                         ["adapters/local/CMakeLists.txt: adapters/local may not link plumb_exact"])

    def test_tests_link_what_they_may_include(self):
        self.assertEqual(self.links("harness/trace", "plumb_test(trace_test DEPS plumb_fill plumb_meaning)"), [])
        self.assertEqual(self.links("harness/trace", "plumb_test(trace_test DEPS plumb_exact)"),
                         ["harness/trace/CMakeLists.txt: harness/trace may not link plumb_exact"])
        kit = "add_executable(plumb-fake testing/fake.cc)\ntarget_link_libraries(plumb-fake PRIVATE plumb_fill)"
        self.assertEqual(self.links("harness/backend", kit), [])
        self.assertEqual(len(self.links("harness/backend", kit.replace("testing/", ""))), 1)


class Unused(unittest.TestCase):
    def test_an_arrow_that_nobody_takes(self):
        missing = "scripts/lint: no source of adapters/plan includes reference/words"
        self.assertIn(missing, list(lint.unused({})))
        text = including("reference/words/mesh.h")
        self.assertNotIn(missing, list(lint.unused({"adapters/plan/ring.cc": text})))
        self.assertIn(missing, list(lint.unused({"adapters/plan/ring_test.cc": text})))
        self.assertIn("scripts/lint: no test of harness/trace includes reference/meaning",
                      list(lint.unused({"harness/trace/cost.cc": MEANING})))


class Habits(unittest.TestCase):
    def test_what_nvcc_takes_for_a_constant(self):
        line = "constexpr int ones(unsigned word) { return std::popcount(word); }\n"
        self.assertEqual(list(lint.habits({"reference/words/bits.h": line})),
                         [f"reference/words/bits.h:1: a constant to nvcc: {line.strip()}"])
        self.assertEqual(list(lint.habits({"reference/words/bits.cc": line})), [])
        self.assertEqual(list(lint.habits({"reference/words/bits.h": line.replace("std::popcount", "__builtin_popcount")})), [])


class Options(unittest.TestCase):
    def test_a_value_that_its_page_does_not_say(self):
        row = '{"options": {"plan": {"values": {"direct": "", "ring": ""}, "default": "direct"}, "np": {}}}'
        told = {"adapters/mpi/backend.json": row, "adapters/mpi/README.md": "`plan=ring` and `np`"}
        self.assertEqual(list(lint.untold(told)), [])
        told["adapters/mpi/README.md"] = "`plan` and np"
        self.assertEqual(list(lint.untold(told)),
                         ["adapters/mpi/README.md: `ring` of adapters/mpi/backend.json is not on it",
                          "adapters/mpi/README.md: `np` of adapters/mpi/backend.json is not on it"])


if __name__ == "__main__":
    unittest.main()
