"""The kernels, ours: what the inner primitives compute on one device, as a CPU lowering.

They compute what cuBLAS would be asked for: each operand is a matrix, its dimensions collapsed at one boundary,
whatever they were before. A kernel that contracted dimension by dimension would hide that two operands are split
differently.
"""

import math
import sys

import jax
import jax.numpy as jnp
from jax.interpreters import mlir

EXACT = jax.lax.Precision.HIGHEST


def module():
    return sys.modules["transformer_engine.jax.cpp_extensions.gemm"]


def quantization():
    return sys.modules["transformer_engine.jax.cpp_extensions.quantization"]


def matrix(x, boundary):
    return x.reshape(math.prod(x.shape[:boundary]), math.prod(x.shape[boundary:]))


def multiplied(left, right, lhs_scale_inv, rhs_scale_inv):
    """left[m,k] right[k,n], added in f32; quantized operands are scaled back by their one scale."""
    y = jnp.matmul(left.astype(jnp.float32), right.astype(jnp.float32), precision=EXACT)
    for scale in (lhs_scale_inv, rhs_scale_inv):
        if scale.size == 1:
            y = y * scale.reshape(())
    return y


def know_blocks():
    """Whether the release hands over MXFP8 as these kernels take it, with the scales in cuBLAS's tiles: since 2.9."""
    return hasattr(module(), "swizzled_scale") and hasattr(sys.modules["transformer_engine.jax.quantize"].ScalingMode, "is_mxfp8_scaling")


def in_blocks(scaling_mode):
    return getattr(scaling_mode, "is_mxfp8_scaling", False)


def of_blocks(data, scale_inv, boundary, contracts_first, mode):
    """The values of MXFP8 codes as a matrix. Their scales come as cuBLAS wants them: padded to 128 and 4, in its tiles."""
    padded = scale_inv.shape
    columns, rows = matrix(scale_inv, boundary).shape if contracts_first else matrix(scale_inv, boundary).shape[::-1]
    tiles = scale_inv.reshape(rows // 128, columns // 4, 32, 4, 4)
    scales = jnp.transpose(tiles, (0, 3, 2, 1, 4)).reshape(rows, columns)
    scales = (scales.T if contracts_first else scales).reshape(padded)
    shape = mode.get_scale_shape(data.shape, is_colwise=contracts_first, is_padded=False, flatten_axis=boundary)
    scales = matrix(jax.lax.slice(scales, [0] * len(shape), shape), boundary).astype(jnp.float32)
    return matrix(data, boundary).astype(jnp.float32) * jnp.repeat(scales, 32, axis=0 if contracts_first else 1)


def gemm(primitive):
    te = module()

    def kernel(lhs, lhs_scale_inv, rhs, rhs_scale_inv, *others, **static):
        outputs = primitive.abstract(lhs, lhs_scale_inv, rhs, rhs_scale_inv, *others, **static)
        dims = tuple(map(te.sanitize_dims, (lhs.ndim, rhs.ndim), static["contracting_dims"]))
        lhs_transposed, rhs_transposed = te._get_gemm_layout((lhs.ndim, rhs.ndim), dims)
        # Where its own lowering divides the dimensions; before 2.9 that has no name.
        boundaries = max(dims[0]) + 1 if lhs_transposed else min(dims[0]), min(dims[1]) if rhs_transposed else max(dims[1]) + 1
        if in_blocks(static.get("scaling_mode")):
            mode = static["scaling_mode"]
            left = of_blocks(lhs, lhs_scale_inv, boundaries[0], lhs_transposed, mode)
            right = of_blocks(rhs, rhs_scale_inv, boundaries[1], not rhs_transposed, mode)
            lhs_scale_inv = rhs_scale_inv = jnp.ones((1,), jnp.float32)
        else:
            left, right = matrix(lhs, boundaries[0]), matrix(rhs, boundaries[1])
        y = multiplied(left.T if lhs_transposed else left, right.T if rhs_transposed else right,
                       lhs_scale_inv, rhs_scale_inv)
        others = [jnp.zeros(o.shape, o.dtype) for o in outputs[1:]]
        return [y.astype(outputs[0].dtype).reshape(outputs[0].shape)] + others

    return kernel


def sizes_of(others, static):
    """The sizes of the groups, and whether the rows of a group are contracted, in any era."""
    if "is_grouped_dense_wgrad" in static:
        return others[1], static["is_grouped_dense_wgrad"]
    lhs_first, lhs_last, rhs_first, rhs_last = others[1:5]
    sizes = next(s for s in (lhs_first, lhs_last, rhs_first, rhs_last) if s.size)
    return sizes, bool(rhs_first.size or rhs_last.size)


def grouped(primitive):
    def kernel(lhs, lhs_scale_inv, rhs, rhs_scale_inv, *others, **static):
        outputs = primitive.abstract(lhs, lhs_scale_inv, rhs, rhs_scale_inv, *others, **static)
        sizes, contracted = sizes_of(others, static)
        shape = outputs[0].shape
        n = math.prod(shape[2:]) if contracted else math.prod(shape[1:])
        m = shape[1] if contracted else shape[0]
        k = lhs.size // m
        left = lhs.reshape((k, m) if static["lhs_is_trans"] else (m, k)).astype(jnp.float32)
        if contracted:
            right = rhs.reshape((n, k) if static["rhs_is_trans"] else (k, n)).astype(jnp.float32)
            numbers = jax.lax.RaggedDotDimensionNumbers((((0,), (0,)), ((), ())), [0], [])
            left = left if static["lhs_is_trans"] else left.T
            right = right.T if static["rhs_is_trans"] else right
            y = jax.lax.ragged_dot_general(left, right, sizes, numbers, precision=EXACT)
        else:
            groups = sizes.shape[0]
            right = rhs.reshape((groups, n, k) if static["rhs_is_trans"] else (groups, k, n)).astype(jnp.float32)
            right = right.transpose(0, 2, 1) if static["rhs_is_trans"] else right
            y = jax.lax.ragged_dot(left.T if static["lhs_is_trans"] else left, right, sizes, precision=EXACT)
        return [y.astype(outputs[0].dtype).reshape(shape)] + [jnp.zeros(o.shape, o.dtype) for o in outputs[1:]]

    return kernel


def quantized_in_blocks(x, outputs, static):
    """Codes and scales by rows and by columns, as its own jnp quantizer makes them, the scales padded."""
    own = sys.modules["transformer_engine.jax.quantize"]
    quantizer = own.QuantizerFactory.create(1, own.ScalingMode.MXFP8_1D_SCALING, static["out_dtype"], own.QuantizeLayout.ROWWISE)
    made = [quantizer.quantize(x, is_rowwise=not columns, is_colwise=columns, flatten_axis=static["flatten_axis"])
            for columns in (False, True)]
    zeros = lambda out: jnp.zeros(out.shape, out.dtype)
    codes = [one.data if out.shape == x.shape else zeros(out) for one, out in zip(made, outputs[:2])]
    padded = lambda scales, out: jnp.pad(scales, [(0, a - b) for a, b in zip(out.shape, scales.shape)])
    scales = [padded(one.scale_inv, out) if len(out.shape) == x.ndim else zeros(out) for one, out in zip(made, outputs[2:4])]
    return codes + scales + [zeros(out) for out in outputs[4:]]


def quantize(primitive):
    """Tensor scaling: codes of x times the scale, clipped to the format's range, the scale's inverse, and with delayed
    scaling the largest magnitude."""

    def kernel(x, scale, amax, *others, **static):
        outputs = primitive.abstract(x, scale, amax, *others, **static)
        if in_blocks(sys.modules["transformer_engine.jax.quantize"].ScalingMode(static["scaling_mode"])):
            return quantized_in_blocks(x, outputs, static)
        most = float(jnp.finfo(static["out_dtype"]).max)
        codes = jnp.clip(x.astype(jnp.float32) * scale, -most, most).astype(static["out_dtype"])
        axis = static["flatten_axis"] % x.ndim
        turned = jnp.transpose(codes, (*range(axis, x.ndim), *range(axis)))
        if static["scaling_mode"] == sys.modules["transformer_engine_jax"].JAXX_Scaling_Mode.DELAYED_TENSOR_SCALING:
            amax = jnp.max(jnp.abs(x)).astype(jnp.float32).reshape(amax.shape)
        pick = lambda out, made: made if out.shape == made.shape else jnp.zeros(out.shape, out.dtype)
        inverse = [jnp.broadcast_to(1 / scale, out.shape).astype(out.dtype) for out in outputs[2:4]]
        return [pick(outputs[0], codes), pick(outputs[1], turned), *inverse, amax] + [
            jnp.zeros(o.shape, o.dtype) for o in outputs[5:]]

    return kernel


def install():
    """Gives the inner primitives their CPU lowering. The outer ones, which hold the rules, are left as they are."""
    te, codes = module(), quantization()
    for primitive, make in ((te.GemmPrimitive, gemm), (te.GroupedGemmPrimitive, grouped),
                            (codes.QuantizePrimitive, quantize)):
        lowering = mlir.lower_fun(make(primitive), multiple_results=True)
        mlir.register_lowering(primitive.inner_primitive, lowering, platform="cpu")
