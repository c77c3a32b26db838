"""The ranks' events as one trace. Needs Python alone."""

import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import merge


def event(kind, group, size=8, **more):
    return {"kind": kind, "group": group, "in": size, "out": size, "dtype": "f32", **more}


def short(trace):
    return [(line["kind"], line["groups"], line["in"]) + ((line["note"],) if "note" in line else ()) for line in trace]


class Merge(unittest.TestCase):
    def test_what_all_members_come_to_is_one_line(self):
        x, y = [[0, 2], [1, 3]], [[0, 1], [2, 3]]
        events = [[event("all-reduce", x[r % 2]), event("all-gather", y[r // 2])] for r in range(4)]
        self.assertEqual(short(merge.merged(events)), [("all-reduce", x, 8), ("all-gather", y, 8)])

    def test_other_sizes_are_other_lines(self):
        events = [[event("all-gather", [0, 1], 4)]] * 2 + [[event("all-gather", [2, 3], 12)]] * 2
        self.assertEqual(short(merge.merged(events)), [("all-gather", [[0, 1]], 4), ("all-gather", [[2, 3]], 12)])

    def test_an_event_waits_for_the_last_of_its_members(self):
        pair, all_of = event("all-reduce", [0, 1]), event("all-gather", [0, 1, 2])
        self.assertEqual(short(merge.merged([[pair, all_of], [pair, all_of], [all_of]])),
                         [("all-reduce", [[0, 1]], 8), ("all-gather", [[0, 1, 2]], 8)])

    def test_ranks_that_differ_are_seen(self):
        trace = merge.merged([[event("all-reduce", [0, 1])], []])
        self.assertEqual(short(trace), [("all-reduce", [[0, 1]], 8, "not of all its members")])

    def test_an_event_without_a_group_is_an_error(self):
        with self.assertRaisesRegex(ValueError, "without a group: mystery"):
            merge.merged([[event("send", [], note="mystery")], []])

    def test_nothing(self):
        self.assertEqual(merge.merged([[], []]), [])


if __name__ == "__main__":
    unittest.main()
