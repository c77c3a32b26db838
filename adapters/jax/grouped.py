"""Grouped matmul as jax.lax.ragged_dot."""

import jax
import numpy as np

import layout


def product(case, **where):
    """`where` may say out_sharding, which releases up to 0.9 do not know."""
    sizes = np.array(case.group_sizes if len(case.group_sizes) > 1 else case.group_sizes[0], np.int32)
    wanted = layout.DTYPES[case.chain[0].dtype]
    if case.form == "fwd":
        return lambda x, w: jax.lax.ragged_dot(x, w, sizes, preferred_element_type=wanted, **where)
    if case.form == "dgrad":  # dy[t,n] w[g,k,n] -> dx[t,k]
        numbers = jax.lax.RaggedDotDimensionNumbers((((1,), (2,)), ((), ())), [0], [0])
    else:  # x[t,k] dy[t,n] -> dw[g,k,n]
        numbers = jax.lax.RaggedDotDimensionNumbers((((0,), (0,)), ((), ())), [0], [])
    return lambda x, y: jax.lax.ragged_dot_general(x, y, sizes, numbers, preferred_element_type=wanted, **where)
