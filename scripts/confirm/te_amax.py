"""Over which devices Transformer Engine takes the greatest value of a tensor that it is about to quantize with current
scaling, with its own functions, numpy and JAX alone; set up as te_rules.py does.

A tensor that is gathered after it was quantized needs one scale: its amax has to be taken over every axis that splits
it. The result of calculate_amax is laid out as one value that all devices hold; here is what each of them holds.

    python te_amax.py        exit code 1 where devices that multiply one gathered tensor hold different scales
"""

import functools
import importlib
import importlib.metadata
import importlib.util
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import te_rules

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P


def amax_of(axes, resource, spec, scope):
    """The amax that each device holds, for a matrix in which device d's own block has the greatest value 1 + d."""
    amax = sys.modules["transformer_engine.jax.cpp_extensions.amax"]
    count = int(np.prod(list(axes.values())))
    mesh = Mesh(np.array(jax.devices()[:count]).reshape(tuple(axes.values())), tuple(axes))
    te_rules.current.append(mesh)
    whole, where = np.zeros((8, 8), np.float32), NamedSharding(mesh, spec)
    for device, index in where.addressable_devices_indices_map(whole.shape).items():
        whole[index] = 1 + device.id
    with mesh, te_rules.sharding.global_shard_guard(te_rules.sharding.MeshResource(**resource)):
        program = jax.jit(lambda w: amax.calculate_amax(w, getattr(amax.AmaxScope, scope), False), in_shardings=where)
        got = program(jax.device_put(whole, where))
    return [float(np.asarray(s.data)[0]) for s in sorted(got.addressable_shards, key=lambda s: s.device.id)]


CASES = [
    ("a weight over fsdp", {"fsdp": 4}, {"fsdp_resource": "fsdp"}, P(None, "fsdp"), "FSDP"),
    ("a weight over (fsdp, expert)", {"fsdp": 2, "expert": 2}, {"fsdp_resource": "fsdp"},
     P(None, ("fsdp", "expert")), "FSDP"),
    ("a weight over tp, by design", {"tp": 4}, {"tp_resource": "tp"}, P(None, "tp"), "FSDP"),
    ("activations over dp, by design", {"dp": 4}, {"dp_resource": "dp"}, P("dp", None), "TPSP"),
    ("activations over tpsp", {"tpsp": 4}, {"tpsp_resource": "tpsp"}, P(None, "tpsp"), "TPSP"),
    ("activations over (tpsp, cp)", {"tpsp": 2, "cp": 2}, {"tpsp_resource": "tpsp", "cp_resource": "cp"},
     P(None, ("tpsp", "cp")), "TPSP"),
]


ROWS, FSDP = P(("fsdp", "expert"), None), {"fsdp_resource": "fsdp"}
TPSP = {"tpsp_resource": "tpsp", "cp_resource": "cp"}
PRODUCTS = [  # what is split, the mesh, the resources, the activations' layout, the weight's
    ("the weight whole", {"fsdp": 2, "expert": 2}, FSDP, ROWS, P(None, None)),
    ("a weight over fsdp", {"fsdp": 4, "expert": 1}, FSDP, ROWS, P(None, "fsdp")),
    ("a weight over (fsdp, expert)", {"fsdp": 2, "expert": 2}, FSDP, ROWS, P(None, ("fsdp", "expert"))),
    ("a sequence over tpsp, and the weight", {"tpsp": 4, "cp": 1}, TPSP, P(None, "tpsp", None), P(None, "tpsp")),
    ("a sequence over (tpsp, cp), and the weight", {"tpsp": 2, "cp": 2}, TPSP, P(None, ("tpsp", "cp"), None),
     P(None, ("tpsp", "cp"))),
]
# E4M3 rounds by at most a part in 16 of each factor, and of numbers below 2^-6 by 2^-10 of one scale's 448.
FORMAT = (1 + 1 / 16 + 2**-10) ** 2 - 1


def by_dense(x, w):
    quantize = sys.modules["transformer_engine.jax.quantize"]
    scaling = quantize.QuantizerFactory.create_set(
        scaling_mode=quantize.ScalingMode.CURRENT_TENSOR_SCALING, fwd_dtype=jnp.float8_e4m3fn,
        bwd_dtype=jnp.float8_e5m2, is_2x2x=True)
    return te_rules.dense.dense(x, w, contracting_dims=((x.ndim - 1,), (0,)), quantizer_set=scaling)


def by_module(recipe, x, w):
    """The Flax module DenseGeneral under autocast; with delayed scaling the second step on the same data."""
    te_rules.bare("transformer_engine.jax.flax", os.path.join(sys.modules["transformer_engine.jax"].__path__[0], "flax"))
    flax = importlib.import_module("transformer_engine.jax.flax.module")
    recipes = importlib.import_module("transformer_engine.common.recipe")
    quantize = sys.modules["transformer_engine.jax.quantize"]
    layer = flax.DenseGeneral(features=w.shape[1], use_bias=False)
    with quantize.autocast(enabled=True, recipe=getattr(recipes, recipe)(), mesh_resource=te_rules.sharding.global_mesh_resource()):
        y, quantizers = layer.apply({"params": {"kernel": w}}, x, mutable=["fp8_metas"])
        if not quantizers:
            return y
        step = lambda quantizers: layer.apply({"params": {"kernel": w}, **quantizers}, x)
        return step(jax.vjp(step, quantizers)[1](jnp.ones_like(y))[0])  # quantizers' new state comes in the place of a gradient


def product_error(layer, axes, resource, left, right):
    """The greatest error of a product of positive numbers, in parts of the result's greatest value."""
    random = np.random.default_rng(0)
    shape = (16, 32) if len(left) == 2 else (1, 16, 32)
    x, w = random.integers(1, 9, shape).astype(np.float32), random.integers(1, 9, (32, 32)).astype(np.float32)
    w *= np.repeat([1, 2, 4, 8], 8)  # every device's columns have another greatest value
    x *= np.repeat([1, 2, 4, 8], 4)[:, None]  # and its rows
    mesh = Mesh(np.array(jax.devices()[:4]).reshape(tuple(axes.values())), tuple(axes))
    te_rules.current.append(mesh)
    where = [NamedSharding(mesh, s) for s in (left, right)]
    with mesh, te_rules.sharding.global_shard_guard(te_rules.sharding.MeshResource(**resource)):
        program = jax.jit(layer, in_shardings=where)
        got = program(jax.device_put(x, where[0]), jax.device_put(w, where[1]))
    want = x @ w
    return max(np.abs(np.asarray(s.data) - want[s.index]).max() for s in got.addressable_shards) / want.max()


def layers():
    yield "dense in FP8", by_dense
    if importlib.util.find_spec("flax") and hasattr(sys.modules["transformer_engine.jax.quantize"], "autocast"):
        yield "DenseGeneral, current scaling", functools.partial(by_module, "Float8CurrentScaling")
        yield "DenseGeneral, delayed scaling", functools.partial(by_module, "DelayedScaling")


def main():
    if "transformer_engine.jax.cpp_extensions.amax" not in sys.modules:
        print("this release has no amax.py; it takes the amax without a scope")
        return 0
    astray = 0
    for name, axes, resource, spec, scope in CASES:
        held = amax_of(axes, resource, spec, scope)
        one = len(set(held)) == 1
        astray += not one
        print(f"{name}, AmaxScope.{scope}: the devices hold {held}, " + ("one scale" if one else "different scales"))
    for called, layer in layers():
        for name, *how in PRODUCTS:
            error = product_error(layer, *how)
            astray += error > FORMAT
            print(f"{called}, {name}: off by {error:.3f} of the greatest value; one scale allows {FORMAT:.3f}")
    print(f"transformer-engine {importlib.metadata.version('transformer-engine')}, jax {jax.__version__}")
    return 1 if astray else 0


if __name__ == "__main__":
    sys.exit(main())
