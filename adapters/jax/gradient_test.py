"""Products that JAX computes as gradients: right where JAX is, wrong where its gradient was tampered with."""

import os
import sys
import unittest

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from worker_test import Worker, einsum, grouped

# A product whose gradient for the first operand is twice what it should be.
WRONG_GRADIENT = """
import jax.numpy as jnp
honest = jnp.einsum
def einsum(letters, x, y, **kw):
    @jax.custom_vjp
    def product(x, y):
        return honest(letters, x, y, **kw)
    def ahead(x, y):
        return product(x, y), (x, y)
    def back(kept, g):
        right = jax.vjp(lambda x, y: honest(letters, x, y, **kw), *kept)[1](g)
        return 2 * right[0], right[1]
    product.defvjp(ahead, back)
    return product(x, y)
jnp.einsum = einsum
"""

# No gradient at all: the product of the case, as it would be written down.
NO_GRADIENT = """
import jax.numpy as jnp
jax.vjp = lambda f, w: (None, lambda g: (jnp.einsum("mk,kn->mn", g, jnp.ones((4, 8), g.dtype)),))
"""

A, B = np.arange(32.0).reshape(8, 4) % 7, np.arange(32.0).reshape(4, 8) % 5
PRODUCT = einsum("mk,kn->mn", "f32[8@x,4@y]", "f32[4@y,8]", "f32[8@x,8@y]")


class Gradient(Worker):
    def test_each_operand_as_the_cotangent(self):
        for grad in ("lhs", "rhs"):
            for style in ("auto", "explicit"):
                with self.subTest(f"{grad} {style}"):
                    self.check(self.start(grad=grad, style=style).run(PRODUCT, [A.ravel(), B.ravel()]), A @ B)

    def test_any_letters(self):
        left, right = np.arange(24.0).reshape(2, 3, 4) % 5, np.arange(30.0).reshape(2, 3, 5) % 7
        case = einsum("bsh,bsf->hf", "f32[2@x,3,4@y]", "f32[2@x,3,5]", "f32[4@y,5]")
        for grad in ("lhs", "rhs"):
            reply = self.start(grad=grad).run(case, [left.ravel(), right.ravel()])
            self.check(reply, np.einsum("bsh,bsf->hf", left, right))

    def test_an_unfinished_gradient_holds_parts_that_add_up(self):
        case = einsum("mk,kn->mn", "f32[8,4@x]", "f32[4@x,8]", "f32[8,8]+x")
        for grad in ("lhs", "rhs"):
            reply = self.start(grad=grad, style="explicit").run(case, [A.ravel(), B.ravel()])
            self.assertEqual(reply["claims"], ["f32[8,8]+x"])
            parts = {b["device"]: np.array(b["data"]).reshape(8, 8) for b in reply["blocks"]}
            np.testing.assert_array_equal(parts[0] + parts[2], A @ B)

    def test_grouped(self):
        x, w = np.arange(32.0).reshape(8, 4) % 7, np.arange(24.0).reshape(2, 4, 3) % 5
        y = np.concatenate([x[:3] @ w[0], x[3:] @ w[1]])
        fwd = grouped("fwd", "f32[8@x,4]", "f32[2,4,3]", "f32[8@x,3]", [3, 5])
        dgrad = grouped("dgrad", "f32[8@x,3]", "f32[2,4,3]", "f32[8@x,4]", [3, 5])
        wgrad = grouped("wgrad", "f32[8@x,4]", "f32[8@x,3]", "f32[2,4,3]", [3, 5])
        dw = np.stack([x[:3].T @ y[:3], x[3:].T @ y[3:]])
        self.check(self.start(grad="lhs").run(fwd, [x.ravel(), w.ravel()]), y)
        self.check(self.start(grad="lhs").run(dgrad, [y.ravel(), w.ravel()]),
                   np.concatenate([y[:3] @ w[0].T, y[3:] @ w[1].T]))
        for grad in ("lhs", "rhs"):
            self.check(self.start(grad=grad).run(wgrad, [x.ravel(), y.ravel()]), dw)
        reply = self.start(grad="rhs").run(fwd, [x.ravel(), w.ravel()])
        self.assertEqual(reply["reason"], "ragged_dot_general has no gradient of a product that contracts ragged rows")

    def test_integers_have_none(self):
        case = {**PRODUCT, "operands": ["s8[8@x,4]", "s8[4,8]"], "chain": ["s32[8@x,8]"]}
        self.assertEqual(self.start(grad="rhs").run(case)["reason"], "integers have no gradient")

    def test_what_would_be_formed_in_a_narrower_type_is_a_limit(self):
        mixed = {**PRODUCT, "operands": ["bf16[8@x,4]", "f32[4,8]"]}
        self.assertEqual(self.start(grad="lhs").run(mixed)["reason"],
                         "a gradient is formed in the narrower type of its cotangent")
        self.check(self.start(grad="rhs").run(mixed, [A.ravel(), B.ravel()]), A @ B)

    def test_jax_forms_a_gradient_in_the_type_of_its_cotangent(self):
        """By the jaxpr: XLA may keep bits that nothing asks it to, and by JAX 0.12 it does."""
        import jax
        import jax.numpy as jnp
        from gradient import equations
        ones = jnp.ones((1, 257), jnp.bfloat16)
        times = lambda w: jnp.einsum("mn,kn->mk", w, ones.T, preferred_element_type=jnp.bfloat16)
        formed = jax.make_jaxpr(lambda g: jax.vjp(times, jnp.zeros((1, 1), jnp.float32))[1](g)[0])(ones)
        products = [e.outvars[0].aval for e in equations(formed.jaxpr) if "transpose" in str(e.source_info.name_stack) and
                    e.primitive.name == "dot_general"]
        self.assertEqual(([aval.dtype for aval in products], formed.out_avals[0].dtype), ([jnp.bfloat16], jnp.float32))

    def test_a_wrong_gradient_gives_wrong_values(self):
        reply = self.start(WRONG_GRADIENT, grad="lhs").run(PRODUCT, [A.ravel(), B.ravel()])
        self.check(reply, 2 * (A @ B))
        self.check(self.start(WRONG_GRADIENT).run(PRODUCT, [A.ravel(), B.ravel()]), A @ B)

    def test_a_product_without_a_gradient_is_refused(self):
        reply = self.start(NO_GRADIENT, grad="lhs").run(PRODUCT, [A.ravel(), B.ravel()])
        self.assertIn("holds no transposed equation", reply.get("message", ""))


if __name__ == "__main__":
    unittest.main()
