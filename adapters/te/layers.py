"""The layer of a user, as a function of x, w and what it contracts.

    via=dense    dense, with the quantizers of the operands' schemes
    via=module   the Flax module DenseGeneral, without a bias; operands ~fp8 and ~mxfp8 under autocast, with the recipe of
                 current scaling, delayed scaling or blocks
    via=mlp      the Flax module LayerNormMLP without its norm, w its first kernel; the activation is linear and the second
                 kernel the identity, whole on every device: what comes out is the product
"""

import functools
import importlib

import jax
import jax.numpy as jnp
from jax.lax import stop_gradient

import quantized
import standin


def recipe_of(te, case, form, delayed):
    """What autocast is given for a product, or None where operands are not quantized."""
    forward, gradient = quantized.schemes_of_dense(case, form)
    if not forward:
        return None
    recipes = importlib.import_module("transformer_engine.common.recipe")
    scaling = recipes.DelayedScaling if delayed else recipes.Float8CurrentScaling
    made = recipes.MXFP8BlockScaling if quantized.in_blocks(forward) else scaling
    return made(fp8_format=recipes.Format.HYBRID if gradient.endswith("e5") else recipes.Format.E4M3)


def autocast(te, recipe):
    own = te.quantize.autocast if hasattr(te.quantize, "autocast") else te.quantize.fp8_autocast
    given = {"recipe": recipe} if own is not getattr(te.quantize, "fp8_autocast", None) else {"fp8_recipe": recipe}
    return own(enabled=recipe is not None, mesh_resource=te.sharding.global_mesh_resource(), **given)


def trained(apply, quantizers, shape, seen):
    """The quantizers after a step of training on these operands: what comes back in the place of their gradient. `seen` is the
    gradient of the result; where a case has none, zeros."""
    seen = jnp.zeros(shape.shape, shape.dtype) if seen is None else stop_gradient(seen)
    return jax.vjp(apply, quantizers)[1](seen)[0]


def general(te, recipe, delayed, x, w, contracting_dims, seen=None):
    """DenseGeneral with this kernel, whose leading dimensions are contracted. With delayed scaling this is the second step on
    the same data: the first one has left its amax and scales."""
    axis, leading_ones = contracting_dims
    module = te.module.DenseGeneral(features=w.shape[len(leading_ones):], axis=axis, use_bias=False, dtype=w.dtype)
    with autocast(te, recipe):
        if not delayed or recipe is None:
            return module.apply({"params": {"kernel": w}}, x)
        still = {"params": {"kernel": stop_gradient(w)}}
        y, begun = module.apply(still, stop_gradient(x), mutable=["fp8_metas"])
        step = lambda quantizers: module.apply({**still, **quantizers}, stop_gradient(x))
        return module.apply({"params": {"kernel": w}, **trained(step, begun, y, seen)}, x)


def perceptron(te, x, w, contracting_dims, seen=None):
    """LayerNormMLP has room for several activations between the dimensions of its first kernel."""
    features, hidden = w.shape
    module = te.module.LayerNormMLP(intermediate_dim=hidden, enable_layernorm=False, activations=("linear",), dtype=w.dtype)
    kernels = {"wi_kernel": w.reshape(features, 1, hidden), "wo_kernel": jnp.eye(hidden, features, dtype=w.dtype)}
    return module.apply({"params": kernels}, x, deterministic=True)[0]


def layer_of(te, case, form, backend):
    if backend.via == "dense":
        dense = functools.partial(te.dense.dense, **quantized.of_dense(te, case, form))
        return lambda x, w, contracting_dims, seen=None: dense(x, w, contracting_dims=contracting_dims)
    if backend.via == "mlp":
        return functools.partial(perceptron, te)
    delayed = backend.options["recipe"] == "delayed"
    recipe = recipe_of(te, case, form, delayed)
    standin.be(100 if recipe is not None and recipe.mxfp8() else 90)
    return functools.partial(general, te, recipe, delayed)
