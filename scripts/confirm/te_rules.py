"""What Transformer Engine's rules do with sharded products, with its own functions, numpy and JAX alone.

Run by the Python of an environment of Transformer Engine, on eight virtual CPU devices. The compiled core is not
there: what is put in its place stands in this file, and of what decides layouts nothing is replaced. The kernel is
numpy's product of two matrices, as cuBLAS is asked for it. Where transformer_engine_jax is installed use that, on GPUs.

    python te_rules.py        prints a line for each program; exit code 1 where one is wrong
"""

import importlib
import importlib.metadata
import importlib.util
import math
import os
import re
import sys
import types
import warnings

os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=8"
os.environ.update(JAX_PLATFORMS="cpu", NVTE_PROJECT_BUILDING="1", NVTE_JAX_CUSTOM_CALLS="true")
warnings.simplefilter("ignore")

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.custom_partitioning import custom_partitioning
from jax.interpreters import mlir
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

ORDERS = {"JAXX_Scaling_Mode": "NO_SCALING DELAYED_TENSOR_SCALING MXFP8_1D_SCALING CURRENT_TENSOR_SCALING "
                               "NVFP4_1D_SCALING NVFP4_2D_SCALING",
          "JAXX_Collective_Op": "NONE ALL_GATHER REDUCE_SCATTER",
          "JAXX_Quantize_Layout": "ROWWISE COLWISE ROWWISE_COLWISE"}


class Enumeration:
    def __init__(self, names=""):
        vars(self).update({name: n for n, name in enumerate(names.split())})

    def __getattr__(self, name):
        return vars(self).setdefault(name, len(vars(self)))


class Core(types.ModuleType):
    """In the place of transformer_engine_jax: enumerations, and a device of compute capability 90."""

    def __getattr__(self, name):
        if name.startswith(("_", "get_ep_instance")):
            raise AttributeError(name)
        if name[0].isupper():
            made = Enumeration(ORDERS.get(name, ""))
        elif name == "get_grouped_gemm_setup_workspace_size":
            def made(*_):
                raise RuntimeError("no cublas here")
        else:
            made = {"registrations": dict, "nvte_built_with_cublasmp": bool,
                    "is_collective_gemm_with_cublasmp": bool,
                    "get_cublasLt_version": lambda: 130000, "get_cuda_version": lambda: 13000}.get(name, lambda *_: 90)
        setattr(self, name, made)
        return made


def bare(name, path):
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [path]


def load():
    folder = list(importlib.util.find_spec("transformer_engine").submodule_search_locations)[0]
    bare("transformer_engine", folder)
    sys.modules["transformer_engine_jax"] = Core("transformer_engine_jax")
    importlib.import_module("transformer_engine.common").load_framework_extension = lambda *_: None
    bare("transformer_engine.jax", os.path.join(folder, "jax"))
    of_flax = ("flax", "flax.core", "flax.core.frozen_dict", "flax.linen")
    for name in () if importlib.util.find_spec("flax") else of_flax:
        bare(name, "")
        sys.modules[name].FrozenDict, sys.modules[name].make_attention_mask = dict, None
    plain = custom_partitioning.def_partition
    if importlib.metadata.version("jax") > "0.9.1" or importlib.metadata.version("jax").startswith("0.10"):
        custom_partitioning.def_partition = lambda self, infer_sharding_from_operands=None, **kw: plain(self, **kw)
    return [importlib.import_module("transformer_engine.jax." + m) for m in ("cpp_extensions", "dense", "sharding")]


tex, dense, sharding = load()
gemm = sys.modules["transformer_engine.jax.cpp_extensions.gemm"]


def kernel(lhs, lhs_scale, rhs, rhs_scale, *others, **static):
    outs = gemm.GemmPrimitive.abstract(lhs, lhs_scale, rhs, rhs_scale, *others, **static)
    (l,), (r,) = [[tuple(d % x.ndim for d in dims)] for x, dims in zip((lhs, rhs), static["contracting_dims"])]
    k = math.prod(lhs.shape[d] for d in l)
    left = lhs.reshape(k, -1).T if l[0] == 0 and l[-1] != lhs.ndim - 1 else lhs.reshape(-1, k)
    right = rhs.reshape(k, -1) if r[-1] != rhs.ndim - 1 else rhs.reshape(-1, k).T
    y = jnp.matmul(left.astype(jnp.float32), right.astype(jnp.float32), precision="highest")
    for scale in (lhs_scale, rhs_scale):
        y = y * scale if scale.size == 1 else y
    return [y.astype(outs[0].dtype).reshape(outs[0].shape)] + [jnp.zeros(o.shape, o.dtype) for o in outs[1:]]


def grouped_kernel(lhs, lhs_scale, rhs, rhs_scale, *others, **static):
    """Rows times the weight of their group, or its transpose."""
    outs = gemm.GroupedGemmPrimitive.abstract(lhs, lhs_scale, rhs, rhs_scale, *others, **static)
    sizes = others[1] if "M" in static else next(s for s in others[1:] if s.size and s.dtype == jnp.int32)
    (m, n), g = outs[0].shape, sizes.shape[0]
    right = rhs.reshape(g, n, -1).transpose(0, 2, 1) if static["rhs_is_trans"] else rhs.reshape(g, -1, n)
    y = jax.lax.ragged_dot(lhs.reshape(m, -1), right, sizes, precision="highest")
    return [y.astype(outs[0].dtype)] + [jnp.zeros(o.shape, o.dtype) for o in outs[1:]]


def quantize_kernel(x, scale, amax, *others, **static):
    """Codes of x times the scale, the scale's inverse, and the greatest value, which delayed scaling keeps."""
    outs = codes.QuantizePrimitive.abstract(x, scale, amax, *others, **static)
    most, axis = float(jnp.finfo(static["out_dtype"]).max), static["flatten_axis"] % x.ndim
    made = jnp.clip(x * scale, -most, most).astype(static["out_dtype"])
    turned = jnp.transpose(made, (*range(axis, x.ndim), *range(axis)))
    given = [made, turned, 1 / scale, 1 / scale, jnp.max(jnp.abs(x)).astype(amax.dtype) + jnp.zeros(amax.shape, amax.dtype)]
    return [g if g.shape == o.shape else jnp.zeros(o.shape, o.dtype) for g, o in zip(given, outs)] + [
        jnp.zeros(o.shape, o.dtype) for o in outs[5:]]


codes = sys.modules["transformer_engine.jax.cpp_extensions.quantization"]
for primitive, function in ((gemm.GemmPrimitive, kernel), (gemm.GroupedGemmPrimitive, grouped_kernel),
                            (codes.QuantizePrimitive, quantize_kernel)):
    mlir.register_lowering(primitive.inner_primitive, mlir.lower_fun(function, multiple_results=True), platform="cpu")

current = []
own = sharding._PXLA_THREAD_RESOURCES


class Resources:
    """XLA:CPU asks the rule on a thread of its own, which has no mesh."""

    @property
    def physical_mesh(self):
        return own.env.physical_mesh if not own.env.physical_mesh.empty else current[-1]


sharding._PXLA_THREAD_RESOURCES = types.SimpleNamespace(env=Resources())


def said(error):
    """An exception as one line: of one inside the rule XLA gives the traceback as text."""
    head = str(error).split("\nSuspected Python Code Location")[0].strip().splitlines() or [""]
    last = ([line for line in head if line.strip() and line[0] != " "] or [""])[-1]
    return f"raises {type(error).__name__}: {last[:110]}"


def run(axes, function, operands, want, resource):
    """One sentence: right, wrong by how much, or what was raised; and the compiled program's text."""
    mesh = Mesh(np.array(jax.devices()[: math.prod(axes.values())]).reshape(tuple(axes.values())), tuple(axes))
    current.append(mesh)
    placed = [jax.device_put(a, NamedSharding(mesh, spec)) for a, spec in operands]
    with mesh, sharding.global_shard_guard(sharding.MeshResource(**resource)):
        try:
            compiled = jax.jit(function(mesh), in_shardings=[a.sharding for a in placed]).lower(*placed).compile()
            got = compiled(*placed)
        except Exception as e:
            return said(e), ""
    if got.shape != want.shape:
        return f"wrong: the result is {got.shape}, not {want.shape}", compiled.as_text()
    error = max(np.abs(np.asarray(s.data) - want[s.index]).max() for s in got.addressable_shards)
    return (f"wrong by up to {error:g}" if error else "right"), compiled.as_text()


def collectives(text):
    """(what it makes, its kind, the name of its operand) of each collective of a compiled program."""
    kinds = "all-gather|all-reduce|all-to-all|collective-permute"
    return re.findall(rf"= (\w+\[[\d,]*\])\S* ({kinds})\((?:\w+\[[\d,]*\]\S* )?%?([\w.-]+)", text)


def integers(*shape):
    return np.random.default_rng(len(shape)).integers(-8, 8, shape).astype(np.float32)


def product(left, right, dims):
    return lambda mesh: lambda x, y: tex.gemm(x, y, contracting_dims=dims)


def experts(info, gradient=False):
    """grouped_dense on each device's experts, or its vjp for the rows; every device has four rows of one of its two
    groups."""
    def program(mesh):
        layer = lambda x, w: dense.grouped_dense(x, w, jnp.array([4, 0], jnp.int32), kernel_fsdp_info=info)

        def block(x, w):
            if not gradient:
                return layer(x, w)
            return jax.vjp(lambda rows: layer(rows, w), jnp.zeros((4, 8), w.dtype))[1](x)[0]

        where = [None, None, None]
        where[0], where[info[1]] = "ep", info[0]
        return jax.shard_map(block, mesh=mesh, in_specs=(P(("ep", "fsdp"), None), P(*where)),
                             out_specs=P(("ep", "fsdp"), None), check_vma=False)
    return program


def programs():
    x, w = integers(8, 4, 8), integers(8, 8)
    a, b = integers(4, 4, 4), integers(4, 4, 4)
    m = integers(8, 8)
    rows, weights = integers(16, 8), integers(4, 8, 6)
    want = np.concatenate([rows[:8] @ weights[0], rows[8:] @ weights[2]])
    back = np.concatenate([want[:8] @ weights[0].T, want[8:] @ weights[2].T])
    tuple_axes, both = ("fsdp", "expert"), ((1,), (0,))
    yield ("#2649 activations and weight over (fsdp, expert)", {"fsdp": 2, "expert": 2}, product(x, w, ((2,), (0,))),
           [(x, P(tuple_axes, None, None)), (w, P(None, tuple_axes))], x @ w, {"fsdp_resource": "fsdp"})
    yield ("two contracted dimensions, each operand split in another", {"x": 2}, product(a, b, ((1, 2), (0, 1))),
           [(a, P(None, None, "x")), (b, P("x", None, None))], np.einsum("mab,abn->mn", a, b), {})
    yield ("two contracted dimensions, both split alike", {"x": 2}, product(a, b, ((1, 2), (0, 1))),
           [(a, P(None, "x", None)), (b, P("x", None, None))], np.einsum("mab,abn->mn", a, b), {})
    yield ("two contracted dimensions, each split over an axis of its own", {"dp": 2, "tp": 2},
           product(a, b, ((1, 2), (0, 1))), [(a, P(None, "tp", "dp")), (b, P("tp", "dp", None))],
           np.einsum("mab,abn->mn", a, b), {"dp_resource": "dp", "tp_resource": "tp"})
    yield ("contracted over (dp, fsdp) and (fsdp, dp)", {"dp": 2, "fsdp": 2}, product(m, m, ((0,), (0,))),
           [(m, P(("dp", "fsdp"), None)), (m, P(("fsdp", "dp"), None))], m.T @ m, {"fsdp_resource": "fsdp"})
    yield ("contracted over (fsdp, dp, tp) and (tp, fsdp)", {"dp": 2, "fsdp": 2, "tp": 2}, product(m, m, both),
           [(m, P(None, ("fsdp", "dp", "tp"))), (m, P(("tp", "fsdp"), None))], m @ m,
           {"fsdp_resource": "fsdp", "tp_resource": "tp"})
    yield ("rows over (dp, tp), columns over dp", {"dp": 2, "tp": 2}, product(m, m, both),
           [(m, P(("dp", "tp"), None)), (m, P(None, "dp"))], m @ m, {"dp_resource": "dp", "tp_resource": "tp"})
    yield ("rows over dp, columns over (dp, tp)", {"dp": 2, "tp": 2}, product(m, m, both),
           [(m, P("dp", None)), (m, P(None, ("dp", "tp")))], m @ m, {"dp_resource": "dp", "tp_resource": "tp"})
    layer = lambda mesh: lambda x, w: dense.grouped_dense(x, w, jnp.array([8, 0, 8, 0], jnp.int32))
    yield ("grouped_dense under jit, nothing split", {"ep": 2}, layer, [(rows, P()), (weights, P())], want, {})
    for d in (1, 2):
        spec = [None, None, None]
        spec[0], spec[d] = "ep", "fsdp"
        yield (f"#3058 grouped_dense, kernel_fsdp_info=('fsdp', {d})", {"ep": 2, "fsdp": 2}, experts(("fsdp", d)),
               [(rows, P(("ep", "fsdp"), None)), (weights, P(*spec))], want, {"fsdp_resource": "fsdp"})
        yield (f"#3058 its gradient, kernel_fsdp_info=('fsdp', {d})", {"ep": 2, "fsdp": 2}, experts(("fsdp", d), True),
               [(want, P(("ep", "fsdp"), None)), (weights, P(*spec))], back, {"fsdp_resource": "fsdp"})


def main():
    astray = 0
    for name, axes, function, operands, want, resource in programs():
        verdict, text = run(axes, function, operands, want, resource)
        astray += verdict != "right"
        moved = ", ".join(f"{kind} {shape}" for shape, kind, _ in collectives(text)) or "nothing moved"
        print(f"{name}: {verdict}" + (f"; {moved}" if text else ""))
    print(f"transformer-engine {importlib.metadata.version('transformer-engine')}, jax {jax.__version__}: "
          f"{astray} programs do not give the right answer")
    return 1 if astray else 0


if __name__ == "__main__":
    sys.exit(main())
