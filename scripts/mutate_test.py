"""What scripts/mutate reads: the mutations that change nothing, and those that an earlier trial saw killed; and how long
it waits for a test."""

import collections
import contextlib
import importlib.machinery
import importlib.util
import inspect
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent / "mutate"
loader = importlib.machinery.SourceFileLoader("mutate", str(SCRIPT))
mutate = importlib.util.module_from_spec(importlib.util.spec_from_loader("mutate", loader))
loader.exec_module(mutate)  # and its folder is where modules are looked for
import trial

KILLED = ["a.cc f < to <= 1", "words_test Laws.Hold"]


def complaint(call):
    """What is said of bad input, which ends with 2."""
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        try:
            call()
        except SystemExit as end:
            return end.code, said.getvalue()
    return None, said.getvalue()


class Read(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = pathlib.Path(held.name)
        self.noted = self.folder / "tried.jsonl"

    def test_a_line_that_a_killed_run_left_torn_is_taken_off(self):
        self.assertEqual(mutate.tried(self.noted), {})
        whole = json.dumps(KILLED) + "\n"
        for torn in ("", '["b.cc', "[", json.dumps(["b.cc g", "why"])):
            self.noted.write_text(whole + torn)
            self.assertEqual(mutate.tried(self.noted), dict([KILLED]), torn)
            self.assertEqual(self.noted.read_text(), whole, "the next line begins on its own")
        self.noted.write_text('["b.cc')
        self.assertEqual(mutate.tried(self.noted), {})

    def test_a_line_that_is_torn_amid_others_is_named(self):
        self.noted.write_text('["b.cc\n' + json.dumps(KILLED) + "\n")
        code, said = complaint(lambda: mutate.tried(self.noted))
        self.assertEqual(code, 2)
        self.assertIn("tried.jsonl:1: this line is no key", said)

    def test_what_changes_nothing_says_why(self):
        listed = self.folder / "scripts/mutation/equivalent"
        listed.parent.mkdir(parents=True)
        held, mutate.ROOT = mutate.ROOT, self.folder
        self.addCleanup(setattr, mutate, "ROOT", held)
        listed.write_text("# a comment\na.cc f < to <= 1 : the two are equal there\n")
        self.assertEqual(mutate.equivalents(), {"a.cc f < to <= 1": "the two are equal there"})
        for bad in ("a.cc f < to <= 1", "a.cc f < to <= 1 : ", "a.cc f < to <= 1 :why"):
            listed.write_text("# a comment\n" + bad + "\n")
            code, said = complaint(mutate.equivalents)
            self.assertEqual(code, 2, bad)
            self.assertIn("equivalent:2: expected a key, ' : ' and why", said)

    def test_flags_that_say_nothing_are_refused(self):
        for flags, said in ((["--sample", "0"], "--sample: expected a whole number from 1, not 0"),
                            (["--jobs", "-1"], "--jobs: expected a whole number from 1, not -1"),
                            (["--build", str(self.folder)], "is no build folder: build first")):
            ran = subprocess.run([sys.executable, "-B", SCRIPT, *flags], capture_output=True, text=True)
            self.assertEqual((ran.returncode, ran.stdout), (2, ""), ran.stderr)
            self.assertIn(said, ran.stderr)


BUSY, ASLEEP = "while True: pass", "import time; time.sleep({})"


class Limited(unittest.TestCase):
    """A machine that is busy makes a test late, and kills no mutation: what each took of a processor does."""

    def killed(self, program, wall, seconds=1):
        held, trial.WALL = trial.WALL, wall
        self.addCleanup(setattr, trial, "WALL", held)
        return trial.killed([sys.executable, "-c", program], seconds, "/", types.SimpleNamespace(number=0))

    def test_what_turns_forever_is_killed_by_processor_time_alone(self):
        self.assertRegex(self.killed(BUSY, wall=3600), "out of time$")

    def test_what_waits_takes_no_time(self):
        self.assertIsNone(self.killed(ASLEEP.format(2), wall=3600))

    def test_what_ends_by_the_wall_clock_is_no_kill(self):
        self.assertEqual(self.killed(ASLEEP.format(3600), wall=0.5), "no verdict: wall clock")

    def test_after_what_was_late_the_next_test_may_kill(self):
        late = "no verdict: wall clock"
        for said, first in (([], None), ([None, None], None), ([None, "a"], "a"), ([late, None], late), ([late, "a"], "a"),
                            ([None, late, "a", "b"], "a")):
            self.assertEqual(trial.first_killer(iter(said)), first, said)

    def test_the_figure_says_what_was_killed_by_time_and_what_has_no_verdict(self):
        ends = {"killed": 8, "survived": 1, "unreached": 1, "equivalent": 3}
        for others, share, said in (({}, 80, "8 killed, 1 survived"),
                                    ({"by time": 2}, 80, "8 killed (2 by processor time), 1 survived"),
                                    ({"no verdict": 5}, 80, "5 without a verdict, 3 equivalent; 80.0 % killed of 10"),
                                    ({"killed": 0, "survived": 0, "unreached": 0}, 100, "100.0 % killed of 0")):
            text, percent = mutate.figure(collections.Counter({**ends, **others}))
            self.assertEqual(percent, share, text)
            self.assertIn(said, text)


class Written(unittest.TestCase):
    """The copy of a source, where the parser is at hand."""

    def test_no_variable_stands_in_the_way_of_a_function(self):
        functions = {name: one for name, one in vars(mutate).items() if inspect.isfunction(one)}
        for name, one in functions.items():
            self.assertEqual(set(one.__code__.co_varnames) & set(functions), set(), name)

    def test_a_number_in_braces_stays_the_one_element_of_a_vector(self):
        try:
            import sites
        except ImportError:
            self.skipTest("tree-sitter is not installed")
        text = b"void f() { g(Integers{0}, Wide{1}); }\nconstexpr Wide one = Wide{1};\n"
        copy = sites.Source("a.cc", text, 1).copy
        self.assertIn("plumb_mutant::braced<Integers>((plumb_mutant::on(", copy)
        self.assertNotIn("Integers(", copy)
        self.assertIn("constexpr Wide one = Wide{1};", copy)
        self.assertIn("g(Integers{0}, Wide{1})", sites.Source("a.cc", text, 1, only=set()).copy)


if __name__ == "__main__":
    unittest.main()
