"""Replica groups in every form, against lists written by hand."""

import itertools
import unittest

from plumb_worker import groups

BY_HAND = [
    ("{{0,1},{2,3}}", [[0, 1], [2, 3]]),
    ("{{3,1},{0,2}}", [[3, 1], [0, 2]]),
    ("{{0},{1,2}}", [[0], [1, 2]]),
    ("{}", []),
    ("[1,4]<=[4]", [[0, 1, 2, 3]]),
    ("[4,1]<=[4]", [[0], [1], [2], [3]]),
    ("[2,4]<=[8]", [[0, 1, 2, 3], [4, 5, 6, 7]]),
    ("[4,2]<=[2,4]T(1,0)", [[0, 4], [1, 5], [2, 6], [3, 7]]),
    ("[4,2]<=[2,2,2]T(0,2,1)", [[0, 2], [1, 3], [4, 6], [5, 7]]),
    ("[4,2]<=[2,2,2]T(2,1,0)", [[0, 4], [2, 6], [1, 5], [3, 7]]),
    ("[2,3]<=[3,2]T(1,0)", [[0, 2, 4], [1, 3, 5]]),
    ("mesh['a'=2,'b'=2] {'a'}", [[0, 2], [1, 3]]),
    ("mesh['a'=2,'b'=2] {'b'}", [[0, 1], [2, 3]]),
    ("mesh['a'=2,'b'=2] {'a','b'}", [[0, 1, 2, 3]]),
    ("mesh['a'=2,'b'=2] {'b','a'}", [[0, 2, 1, 3]]),
    ("mesh['a'=2,'b'=3] {'b'}", [[0, 1, 2], [3, 4, 5]]),
    ("mesh['axis_0'=2,'axis_1'=2,'axis_2'=1,'axis_3'=2] {'axis_1'}", [[0, 2], [1, 3], [4, 6], [5, 7]]),
    ("mesh['axis_0'=1,'axis_1'=2,'axis_2'=2,'axis_3'=2], device_ids=([2,2,2]T(1,0,2)) {'axis_2'}",
     [[0, 4], [1, 5], [2, 6], [3, 7]]),
    ("mesh['a'=2,'b'=2], device_ids=(3,1,0,2) {'b'}", [[3, 1], [0, 2]]),
    ("mesh['a'=2,'b'=2], device_ids=([4]) {'b'}", [[0, 1], [2, 3]]),
    ("mesh['a'=4] {'a':(1)2}", [[0, 2], [1, 3]]),
    ("mesh['a'=4] {'a':(2)2}", [[0, 1], [2, 3]]),
    ("mesh['a'=8] {'a':(2)2}", [[0, 2], [1, 3], [4, 6], [5, 7]]),
    ("mesh['a'=8,'b'=2] {'a':(4)2,'b'}", [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [12, 13, 14, 15]]),
    ("mesh[a=2,b=2] {b}", [[0, 1], [2, 3]]),
    ("mesh['a'=2,'b'=2] {}", [[0], [1], [2], [3]]),
]


class Groups(unittest.TestCase):
    def test_every_form_against_lists_written_by_hand(self):
        for text, want in BY_HAND:
            with self.subTest(text):
                self.assertEqual(groups.expand(text), want)

    def test_pairs(self):
        self.assertEqual(groups.pairs("{{0,0},{1,4}}"), [(0, 0), (1, 4)])
        self.assertEqual(groups.pairs("{}"), [])

    def test_every_group_of_a_mesh_differs_along_the_used_axes_alone(self):
        sizes = {"a": 2, "b": 3, "c": 2}
        place = list(itertools.product(*map(range, sizes.values())))
        for k in range(4):
            for used in itertools.permutations(sizes, k):
                head = ",".join(f"'{a}'={n}" for a, n in sizes.items())
                found = groups.expand(f"mesh[{head}] {{{','.join(repr(a) for a in used)}}}")
                self.assertEqual(sorted(sum(found, [])), list(range(12)))
                for group in found:
                    digits = [[place[d]["abc".index(a)] for a in used] for d in group]
                    self.assertEqual(digits, [list(t) for t in itertools.product(*(range(sizes[a]) for a in used))])
                    rest = {tuple(v for a, v in zip("abc", place[d]) if a not in used) for d in group}
                    self.assertEqual(len(rest), 1)


if __name__ == "__main__":
    unittest.main()
