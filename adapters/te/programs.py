"""The program a user of Transformer Engine would write for a case.

    via=gemm    einsum mk,kn->mn     cpp_extensions.gemm(x, w), for any layout of the operands
    via=dense   einsum mk,kn->mn     dense(x, w);  mn,kn->mk and mk,mn->kn: its gradients, through its own vjp
    via=module  the same             of the module DenseGeneral, via=mlp of LayerNormMLP (layers.py)
    grouped     fwd, dgrad, wgrad    grouped_dense(x, w, sizes) and its gradients; via=shard_map: expert.py
    quantize, and operands in FP8        quantized.py
"""

import jax
import jax.numpy as jnp
import numpy as np

import layers
import quantized


def contracted(case):
    """The positions of the contracted dimensions in each operand, in the order of the left one."""
    letters = [c for c in case.lhs if c in case.rhs and c not in case.out]
    return tuple(case.lhs.index(c) for c in letters), tuple(case.rhs.index(c) for c in letters)


def trailing(dims, rank):
    return dims == tuple(range(rank - len(dims), rank))


def leading(dims):
    return dims == tuple(range(len(dims)))


def form(case):
    """Which product of a dense layer an einsum is: forward x w, dgrad dy w, wgrad x dy; None if none."""
    left, right = contracted(case)
    if not left:
        return None
    if trailing(left, len(case.lhs)) and leading(right):
        return "forward"
    if trailing(left, len(case.lhs)) and trailing(right, len(case.rhs)):
        return "dgrad"
    return "wgrad" if leading(left) and leading(right) else None


def cotangent(function, primal, shape, dtype):
    """The vjp of `function` at zeros: which it does not depend on, as a product is linear."""
    return jax.vjp(function, jnp.zeros(shape, dtype))[1](primal)[0]


def dense(te, case, backend):
    dims, layer = contracted(case), layers.layer_of(te, case, form(case), backend)
    if form(case) == "forward":
        return lambda x, w: layer(x, w, contracting_dims=dims)
    shape = case.chain[0].shape
    if form(case) == "dgrad":  # dy[m..,n..] w[k..,n..] -> dx[m..,k..]
        k = len(case.rhs) - len(dims[1])
        rank = len(case.out)
        forward = (tuple(range(rank - k, rank)), tuple(range(k)))
        return lambda dy, w: cotangent(lambda x: layer(x, w, contracting_dims=forward, seen=dy), dy, shape, w.dtype)
    m = len(dims[0])  # x[m..,k..] dy[m..,n..] -> dw[k..,n..]
    k = len(case.lhs) - m
    forward = (tuple(range(m, m + k)), tuple(range(k)))
    return lambda x, dy: cotangent(lambda w: layer(x, w, contracting_dims=forward, seen=dy), dy, shape, x.dtype)


def grouped(te, case):
    sizes = np.array(case.group_sizes[0], np.int32)
    shape = case.chain[0].shape
    layer = lambda x, w: te.dense.grouped_dense(x, w, jnp.asarray(sizes))
    if case.form == "fwd":
        return layer
    if case.form == "dgrad":  # dy[t,n] w[g,k,n] -> dx[t,k]
        return lambda dy, w: cotangent(lambda x: layer(x, w), dy, shape, w.dtype)
    return lambda x, dy: cotangent(lambda w: layer(x, w), dy, shape, x.dtype)


def program(te, case, backend):
    """The function of the operands."""
    if case.op == "quantize":
        return quantized.quantize(te, case, backend.via)
    if case.op == "grouped":
        return grouped(te, case)
    if backend.via in ("dense", "module", "mlp"):
        return dense(te, case, backend)
    dims, keywords = contracted(case), quantized.of_gemm(te, case)
    return lambda x, y: first(te.cpp_extensions.gemm(x, y, contracting_dims=dims, **keywords))


def first(result):
    return result[0] if isinstance(result, (tuple, list)) else result
