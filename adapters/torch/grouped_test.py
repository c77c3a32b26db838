"""Grouped products, forwards and as gradients. Needs the Python of an environment."""

import os
import sys
import unittest

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, os.pardir, "python"), os.path.join(HERE, os.pardir, "python", "testing")]

import kept
from worker_test import Worker

ROWS, K, N = 16, 8, 16
X, Y = np.arange(ROWS * K).reshape(ROWS, K) % 7 - 3.0, np.arange(ROWS * N).reshape(ROWS, N) % 5 - 2.0
WEIGHTS = np.arange(4 * K * N).reshape(4, K, N) % 11 - 5.0
SIZES = [5, 3, 0, 8]

# What ends a group is taken for where the next one ends.
SHIFTED = """
import torch.nn.functional as F
real = F.grouped_mm
F.grouped_mm = lambda x, y, offs: real(x, y, offs=DTensor.from_local(
    offs.to_local().roll(1), offs.device_mesh, offs.placements))
"""


def grouped(form, left, right, out, sizes=SIZES):
    return {"mesh": kept.XY, "op": "grouped", "form": form, "sizes": [sizes], "operands": [left, right], "chain": [out],
            "fill": "provenance", "seed": 0}


def groups(sizes):
    ends = np.cumsum(sizes)
    return [(g, slice(end - size, end)) for g, (size, end) in enumerate(zip(sizes, ends))]


def meant(form, left, right, sizes):
    if form == "wgrad":
        return np.stack([left[rows].T @ right[rows] for _, rows in groups(sizes)])
    return np.concatenate([left[rows] @ (right[g] if form == "fwd" else right[g].T) for g, rows in groups(sizes)])


# Rows over x, experts over x, columns of the weights over y.
CASES = [
    ("fwd", X, WEIGHTS, grouped("fwd", "bf16[16@x,8]", "bf16[4@x,8,16@y]", "bf16[16@x,16@y]")),
    ("dgrad", Y, WEIGHTS, grouped("dgrad", "bf16[16@x,16@y]", "bf16[4@x,8,16@y]", "bf16[16@x,8]")),
    ("wgrad", X, Y, grouped("wgrad", "bf16[16@x,8]", "bf16[16@x,16@y]", "bf16[4@x,8,16@y]")),
]


class Grouped(Worker):
    def test_each_form(self):
        for driver in self.both():
            for form, left, right, case in CASES:
                reply = driver.run(case, [left.ravel(), right.ravel()])
                self.check(reply, meant(form, left, right, SIZES))
                self.assertEqual(reply["claims"], case["chain"], form)

    def test_each_form_as_a_gradient_of_another(self):
        for grad in ("lhs", "rhs"):
            driver = self.start(grad=grad)
            for form, left, right, case in CASES:
                self.check(driver.run(case, [left.ravel(), right.ravel()]), meant(form, left, right, SIZES))

    def test_a_sum_that_is_left_unfinished(self):
        case = grouped("fwd", "bf16[16,16@x]", "bf16[4,16@x,8]", "bf16[16,8]+x")
        weights = WEIGHTS.transpose(0, 2, 1)
        reply = self.start().run(case, [Y.ravel(), weights.ravel()])
        self.assertEqual((reply["type"], reply.get("claims")), ("result", ["bf16[16,8]+x"]), reply)
        parts = {block["device"]: np.array(block["data"]).reshape(ROWS, K) for block in reply["blocks"]}
        np.testing.assert_array_equal(parts[0] + parts[2], meant("fwd", Y, weights, SIZES))

    def test_groups_that_are_taken_for_others_show(self):
        for form, left, right, case in CASES:
            reply = self.start(SHIFTED).run(case, [left.ravel(), right.ravel()])
            with self.assertRaises(AssertionError, msg=form):
                self.check(reply, meant(form, left, right, SIZES))

    def test_what_it_does_not_take(self):
        lists = grouped("fwd", "bf16[16@x,8]", "bf16[4,8,8]", "bf16[16@x,8]")
        lists["sizes"] = [[5, 3, 0, 0], [0, 0, 0, 8]]
        for case in (lists, grouped("fwd", "f64[16,8]", "f64[4,8,8]", "f64[16,8]"),
                     grouped("fwd", "bf16[16,8]", "bf16[4,8,6]", "bf16[16,6]"),
                     grouped("wgrad", "bf16[16@x,8]", "bf16[16@x,8]", "bf16[4,8,8]+x"),
                     grouped("fwd", "bf16[16,8]", "bf16[4,8,8]", "f32[16,8]")):
            self.assertEqual(self.start().run(case)["type"], "unsupported", case)
        self.assertEqual(self.start(op="mm").run(CASES[0][3])["type"], "unsupported")


if __name__ == "__main__":
    unittest.main()
