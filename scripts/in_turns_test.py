"""What scripts/in-turns makes of pairs, and of what cannot be run."""

import importlib.machinery
import importlib.util
import os
import pathlib
import subprocess
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent / "in-turns"
loader = importlib.machinery.SourceFileLoader("in_turns", str(SCRIPT))
in_turns = importlib.util.module_from_spec(importlib.util.spec_from_loader("in_turns", loader))
loader.exec_module(in_turns)


def run(*arguments):
    return subprocess.run([SCRIPT, *arguments], text=True, capture_output=True)


class Told(unittest.TestCase):
    def test_ratios_are_of_pairs(self):
        """The medians of both, 3 and 2, are not what the middle pair's ratio is."""
        pairs = [((2, 1, 0), (1, 1, 0)), ((3, 6, 0), (3, 2, 0)), ((8, 8, 0), (2, 4, 0))]
        lines = in_turns.told(pairs).splitlines()
        self.assertEqual(lines[0], "the first:   3.000 s, of the processors 6.000")
        self.assertEqual(lines[1], "the second:  2.000 s, of the processors 2.000")
        self.assertEqual(lines[2], "wall:        2.00 (1.00 to 4.00) times")
        self.assertEqual(lines[3], "processors:  2.00 (1.00 to 3.00) times")

    def test_others_are_a_share_of_all_cores(self):
        cores = os.cpu_count()
        lines = in_turns.told([((3, 1, cores), (1, 1, 0))]).splitlines()
        self.assertEqual(lines[4], f"others:      25 % of the {cores} cores")

    def test_no_time_makes_no_ratio(self):
        self.assertIn("processors:  - times", in_turns.told([((1, 0, 0), (1, 0, 0))]))


class Commands(unittest.TestCase):
    def test_each_runs_once_more_than_there_are_pairs(self):
        ran = run("--pairs", "2", "echo a >&2", "echo b >&2")
        self.assertEqual((ran.returncode, ran.stderr.split()), (0, ["a", "b"] * 3))

    def test_one_that_fails_ends_it(self):
        ran = run("true", "exit 3")
        self.assertEqual((ran.returncode, ran.stderr), (1, "in-turns: exit code 3: exit 3\n"))

    def test_bad_input(self):
        self.assertEqual(run("--pairs", "0", "true", "true").returncode, 2)
        self.assertEqual(run("true").returncode, 2)


if __name__ == "__main__":
    unittest.main()
