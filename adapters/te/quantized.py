"""Operands in FP8, and `quantize`.

    via=gemm    codes and scales are those of Transformer Engine's own jnp quantizers, under jit over the mesh
    via=dense   as dense quantizes: its amax and its primitive, with their rules; the codes are kernels.py's, those of blocks of
                its jnp quantizer on each device. `quantize` is then what dense does to its weight (AmaxScope.FSDP)
"""

import jax.numpy as jnp

import kernels

DTYPES = {"fp8": jnp.float8_e4m3fn, "fp8e5": jnp.float8_e5m2, "mxfp8": jnp.float8_e4m3fn, "mxfp8e5": jnp.float8_e5m2}


def is_delayed(case):
    return case.op == "quantize" and len(case.operands) == 3


def in_blocks(scheme):
    return (scheme or "").startswith("mx")


def mode(te, scheme, delayed=False):
    modes = te.quantize.ScalingMode
    if in_blocks(scheme):
        return modes.MXFP8_1D_SCALING
    return modes.DELAYED_TENSOR_SCALING if delayed else modes.CURRENT_TENSOR_SCALING


def set_of(te, forward, backward):
    """The quantizers of a layer: of activations and weight, and of the gradient."""
    return te.quantize.QuantizerFactory.create_set(
        scaling_mode=mode(te, forward), fwd_dtype=DTYPES[forward], bwd_dtype=DTYPES[backward], is_2x2x=True)


def schemes_of_dense(case, form):
    """The schemes of the forward pass and of the gradient. In a backward pass the left operand of dgrad, the right one of
    wgrad is the gradient; the other is quantized as in the forward pass."""
    left, right = (s.scheme for s in case.operands)
    return {"forward": (left, left), "dgrad": (right, left), "wgrad": (left, right)}[form]


def of_dense(te, case, form):
    """The keywords with which dense quantizes a case's operands."""
    forward, gradient = schemes_of_dense(case, form)
    return {"quantizer_set": set_of(te, forward, gradient)} if forward else {}


def of_gemm(te, case):
    """The keywords with which gemm quantizes a case's operands."""
    left, right = (s.scheme for s in case.operands)
    if not left:
        return {}
    return {"lhs_quantizer": set_of(te, left, left).x, "rhs_quantizer": set_of(te, right, right).kernel}


def blocks_in_columns(case):
    """Whether the values of a block lie along the dimension before the last."""
    return in_blocks(case.scheme) and case.chain[1].shape[:-1] != case.chain[0].shape[:-1]


def quantizer(te, case, state):
    """A quantizer of one layout: rows, but where blocks lie in columns."""
    whole = set_of(te, case.scheme, case.scheme).x
    if not state:
        return whole
    history, scale = state
    return te.quantize.QuantizerFactory.create(
        1, mode(te, case.scheme, delayed=True), DTYPES[case.scheme], whole.q_layout, amax_history=history,
        scale=scale.reshape((1,)))


def quantize(te, case, via):
    """The function of the operands whose results are codes and scales, or the four of delayed scaling."""
    columns = blocks_in_columns(case)

    def program(x, *state):
        own = quantizer(te, case, state)
        if via == "gemm":
            made = own.quantize(x, is_rowwise=not columns, is_colwise=columns, flatten_axis=-1)
        else:
            scope = kernels.quantization().AmaxScope.FSDP
            made = te.cpp_extensions.quantize(x, quantizer=own, flatten_axis=-1, amax_scope=scope)
            made = getattr(made, "colwise_tensor" if columns else "rowwise_tensor", made)
        results = [made.data, made.scale_inv]
        if state:
            results += [own.amax_history, own.scale]
        return tuple(r.reshape(s.shape) for r, s in zip(results, case.chain))

    return program
