"""Products that torch computes as gradients: right where torch is, wrong where its gradient was tampered with."""

import os
import sys
import unittest

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from worker_test import Worker, einsum, issued, reshard

# A product whose gradient is twice what it should be, wherever it is taken.
WRONG_GRADIENT = """
honest = torch.einsum
class Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, letters, x, y):
        ctx.letters, ctx.first = letters, x.requires_grad
        ctx.save_for_backward(x, y)
        return honest(letters, x, y)
    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        (a, b), out = ctx.letters.split("->")[0].split(","), ctx.letters.split("->")[1]
        if ctx.first:
            return None, 2 * honest(f"{out},{b}->{a}", g, y), None
        return None, None, 2 * honest(f"{a},{out}->{b}", x, g)
torch.einsum = Product.apply
"""

# No gradient at all: something of the right shape.
NO_GRADIENT = "torch.autograd.grad = lambda ahead, place, grad_outputs, **more: (place.detach(),)"

A, B = np.arange(32.0).reshape(8, 4) % 7, np.arange(32.0).reshape(4, 8) % 5
PRODUCT = einsum("mk,kn->mn", "f32[8@x,4@y]", "f32[4@y,8]", "f32[8@x,8]")


class Gradient(Worker):
    def test_each_operand_as_the_cotangent(self):
        for grad in ("lhs", "rhs"):
            reply = self.start(grad=grad).run(PRODUCT, [A.ravel(), B.ravel()])
            self.check(reply, A @ B)
            self.assertEqual(reply["claims"], ["f32[8@x,8]"])

    def test_any_letters(self):
        left, right = np.arange(24.0).reshape(2, 3, 4) % 5, np.arange(30.0).reshape(2, 3, 5) % 7
        case = einsum("bsh,bsf->hf", "f32[2@x,3,4@y]", "f32[2@x,3,5]", "f32[4@y,5]")
        for grad in ("lhs", "rhs"):
            self.check(self.start(grad=grad).run(case, [left.ravel(), right.ravel()]),
                       np.einsum("bsh,bsf->hf", left, right))

    def test_the_sum_that_a_free_gradient_leaves_is_finished(self):
        reply = self.start(grad="lhs").run(einsum("mk,kn->mn", "f32[8,4@x]", "f32[4@x,8]", "f32[8,8]?"))
        self.assertEqual((reply["claims"], issued(reply)), (["f32[8,8]"], [("all-reduce", [[0, 2], [1, 3]])]))

    def test_a_wrong_gradient_gives_wrong_values(self):
        for grad in ("lhs", "rhs"):
            self.check(self.start(WRONG_GRADIENT, grad=grad).run(PRODUCT, [A.ravel(), B.ravel()]), 2 * (A @ B))
        self.check(self.start(WRONG_GRADIENT).run(PRODUCT, [A.ravel(), B.ravel()]), A @ B)

    def test_what_is_no_gradient_is_refused(self):
        reply = self.start(NO_GRADIENT, grad="lhs").run(PRODUCT, [A.ravel(), B.ravel()])
        self.assertEqual(reply["type"], "reneged")
        self.assertIn("was not computed as a gradient", reply["message"])

    def test_a_reshard_has_none(self):
        self.assertEqual(self.start(grad="lhs").run(reshard("f32[4@x]", "f32[4]"))["type"], "unsupported")


if __name__ == "__main__":
    unittest.main()
