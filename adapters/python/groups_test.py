"""Replica groups in every form, against lists written by hand."""

import itertools
import math
import random
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

    def test_iotas_are_reshaped_and_transposed(self):
        draw = random.Random(1)
        for _ in range(300):
            shape = [draw.choice((1, 2, 3, 4)) for _ in range(draw.choice((1, 2, 3)))]
            order = draw.sample(range(len(shape)), len(shape))
            count, width = math.prod(shape), draw.choice([n for n in (1, 2, 3, 4, 6) if math.prod(shape) % n == 0])
            flat = []
            for at in itertools.product(*(range(shape[i]) for i in order)):  # the last dimension of the result fastest
                place = dict(zip(order, at))
                flat.append(sum(place[i] * math.prod(shape[i + 1:]) for i in range(len(shape))))
            say = lambda ns: ",".join(map(str, ns))
            text = f"[{count // width},{width}]<=[{say(shape)}]" + (f"T({say(order)})" if draw.random() < 0.8 else "")
            if not text.endswith(")"):
                flat = list(range(count))
            with self.subTest(text):
                self.assertEqual(groups.expand(text), [flat[i:i + width] for i in range(0, count, width)])

    def test_sub_axes_are_digits_of_their_axes(self):
        draw = random.Random(2)
        for _ in range(400):
            forms = ((1,), (2,), (3,), (2, 2), (2, 3), (3, 2), (2, 2, 2))
            sizes = draw.choices(forms, k=draw.choice((1, 2, 3)))
            digits = [(axis, k) for axis, parts in enumerate(sizes) for k in range(len(parts))]
            used = draw.sample(digits, draw.randrange(len(digits) + 1))
            at = {d: i for i, d in enumerate(digits)}
            ids = list(range(math.prod(n for parts in sizes for n in parts)))
            order = draw.choice(("", "list", "iota"))
            if order == "list":
                draw.shuffle(ids)
            groups_of = {}
            for device, place in zip(ids, itertools.product(*(range(sizes[a][k]) for a, k in digits))):
                rest = tuple(place[at[d]] for d in digits if d not in used)
                groups_of.setdefault(rest, []).append((tuple(place[at[d]] for d in used), device))
            want = [[device for _, device in sorted(members)] for _, members in sorted(groups_of.items())]
            head = ",".join(f"'a{a}'={math.prod(parts)}" for a, parts in enumerate(sizes))
            said = []
            for a, k in used:
                whole = len(sizes[a]) == 1
                said.append(f"'a{a}'" + ("" if whole else f":({math.prod(sizes[a][:k])}){sizes[a][k]}"))
            how = {"": "", "list": f", device_ids=({','.join(map(str, ids))})", "iota": f", device_ids=([{len(ids)}])"}
            text = f"mesh[{head}]{how[order]} {{{','.join(said)}}}"
            with self.subTest(text):
                self.assertEqual(groups.expand(text), want)

    def test_pairs_are_read_back(self):
        draw = random.Random(3)
        for _ in range(50):
            want = [(draw.randrange(40), draw.randrange(40)) for _ in range(draw.randrange(6))]
            self.assertEqual(groups.pairs("{" + ",".join(f"{{{a},{b}}}" for a, b in want) + "}"), want)


if __name__ == "__main__":
    unittest.main()
