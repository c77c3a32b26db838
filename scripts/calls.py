"""Which public functions a page says that a backend called, for scripts/summarise."""

import fnmatch

# A pattern of a backend, and the functions. The first that fits holds.
CALLED = [
    ("jax@*grad=*route=shard_map", "`jax.vjp` of a product in `jax.shard_map(..., axis_names=)` with `jax.lax.psum`"),
    ("jax@*grad=*", "`jax.vjp` of `jnp.einsum` in `jax.jit(..., in_shardings=, out_shardings=)`"),
    ("jax@*style=explicit", "`jax.jit` of `jax.sharding.reshard` or `jnp.einsum(..., out_sharding=)` under `jax.set_mesh`, explicit axes"),
    ("jax@*route=inside", "`jax.jit` alone, `jax.lax.with_sharding_constraint` inside"),
    ("jax@*route=uncommitted", "the same, with operands on one device"),
    ("jax@*route=shard_map", "the default's, with `jax.shard_map(..., axis_names=)` and `jax.lax.psum` around the product"),
    ("jax@*route=donate", "`jax.jit(..., in_shardings=, out_shardings=, donate_argnums=)`, automatic axes"),
    ("jax@*", "`jax.jit(..., in_shardings=, out_shardings=)`, automatic axes; `with_sharding_constraint` for what a chain passes"),
    ("torch@*operands=distribute*", "`DTensor.redistribute`, operands as `distribute_tensor` cuts them"),
    ("torch@*via=checkpoint*", "`DTensor.from_local`, `torch.distributed.checkpoint.save` and `load`"),
    ("torch@*via=fsdp*", "`torch.distributed.fsdp.fully_shard`"),
    ("torch@*grad=*", "`torch.autograd.grad` over `torch.einsum` and `torch.nn.functional.grouped_mm`"),
    ("torch@*via=full_tensor*", "`DTensor.from_local`, `DTensor.full_tensor`"),
    ("torch@*op=mm*", "`DTensor.from_local`, `torch.mm`, `DTensor.redistribute`"),
    ("torch@*op=bmm*", "`DTensor.from_local`, `torch.bmm`, `DTensor.redistribute`"),
    ("torch@*op=linear*", "`DTensor.from_local`, `torch.nn.functional.linear`, `DTensor.redistribute`"),
    ("torch@*compile=*", "the same as a function given to `torch.compile`, `fullgraph=True, dynamic=False`"),
    ("torch@*", "`DTensor.from_local`, `DTensor.redistribute`, `torch.einsum`, `torch.nn.functional.grouped_mm`; flatten=all: `mesh[...]._flatten()`"),
    ("te@*style=plan", "`GemmPrimitive.partition`, asked and not run"),
    ("te@*recipe=delayed*", "`transformer_engine.jax.flax.DenseGeneral` under `autocast` with `DelayedScaling`, the second step on the same data"),
    ("te@*via=mlp", "`transformer_engine.jax.flax.LayerNormMLP(enable_layernorm=False, activations=('linear',))`, its second kernel the identity; "
     "its fused form is not judged: quantized operands alone take it, and would have its second product quantized too, where a line says one"),
    ("te@*via=module", "`transformer_engine.jax.flax.DenseGeneral`; of quantized operands under `autocast` with `Float8CurrentScaling` or `MXFP8BlockScaling`"),
    ("te@*via=dense", "`transformer_engine.jax.dense.dense`"),
    ("te@*via=shard_map", "`transformer_engine.jax.dense.grouped_dense` inside `jax.shard_map`"),
    ("te@*", "`transformer_engine.jax.cpp_extensions.gemm` under `jax.jit`"),
    ("maxtext@0.2.3*", "`maxtext_utils.get_nnx_named_sharding_with_scan_axis`"),
    ("maxtext@*", "`sharding.get_nnx_var_named_sharding_with_scan_axis`"),
    ("flax@*resolver=get_var_pspec", "`flax.nnx.get_var_pspec`"),
    ("flax@*", "`flax.linen.logical_to_mesh_axes`"),
]


def options_of(backend):
    """What a configuration is called beside its release."""
    return ", ".join(backend.split(",")[1:]) or "default"


def called(backends):
    of = {b: next(words for pattern, words in CALLED if fnmatch.fnmatch(b, pattern)) for b in sorted(backends)}
    return "How it was called:\n\n" + "".join(
        f"- {words}: {', '.join(f'`{b}`' for b in of if of[b] == words)}\n" for words in dict.fromkeys(of.values()))
