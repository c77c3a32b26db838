"""Transformer Engine's released Python without its compiled core.

What stands in: the package's own __init__ (which looks for the core), the extension module `transformer_engine_jax`
(enumerations, versions, a device of compute capability 90, no kernels), and two names of flax where flax is not
installed. Nothing of what decides layouts is replaced; kernels.py gives the inner primitives a CPU lowering.
"""

import functools
import importlib
import importlib.metadata
import importlib.util
import inspect
import os
import sys
import types

# The order in which the core numbers them.
ENUMERATIONS = {
    "JAXX_Scaling_Mode": ("NO_SCALING", "DELAYED_TENSOR_SCALING", "MXFP8_1D_SCALING", "CURRENT_TENSOR_SCALING",
                          "NVFP4_1D_SCALING", "NVFP4_2D_SCALING"),
    "JAXX_Collective_Op": ("NONE", "ALL_GATHER", "REDUCE_SCATTER"),
    "JAXX_Quantize_Layout": ("ROWWISE", "COLWISE", "ROWWISE_COLWISE"),
}
capability = 90


class Member(int):
    """A number of an enumeration, which the core's have under `value` too."""

    @property
    def value(self):
        return int(self)


class Members:
    """An enumeration of the core: any name is a member, numbered as it is met."""

    def __init__(self, names=()):
        for number, name in enumerate(names):
            setattr(self, name, Member(number))

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        number = Member(len(vars(self)))
        setattr(self, name, number)
        return number


def no_grouped_kernel(*_):
    raise RuntimeError("no cublas here: the grouped kernel that needs no list of sizes is absent")


FUNCTIONS = {
    "get_device_compute_capability": lambda *_: capability,
    "registrations": lambda: {},
    "get_cublasLt_version": lambda: 130000, "get_cuda_version": lambda: 13000, "get_cudnn_version": lambda: 92000,
    "get_num_compute_streams": lambda: 4, "get_cgemm_num_max_streams": lambda: 3,
    "nvte_built_with_cublasmp": lambda: False, "is_collective_gemm_with_cublasmp": lambda: False,
    "get_grouped_gemm_setup_workspace_size": no_grouped_kernel,
}


def be(device):
    """Has the device be of another compute capability: autocast takes the recipe of MXFP8 from 100 on alone."""
    global capability
    if device != capability:
        capability = device
        utils = sys.modules["transformer_engine.jax.quantize.device_utils"]
        utils.get_device_compute_capability.cache_clear()
        utils.is_fp8_gemm_with_all_layouts_supported.cache_clear()


def absent(name):
    def function(*_, **__):
        raise RuntimeError(f"{name} is in Transformer Engine's compiled core, which is not here")

    return function


class Core(types.ModuleType):
    """transformer_engine_jax."""

    def __getattr__(self, name):
        if name.startswith("_") or name.startswith("get_ep_instance_state"):
            raise AttributeError(name)  # the expert-parallel core is looked for by name
        enumeration = name[0].isupper()
        made = Members(ENUMERATIONS.get(name, ())) if enumeration else FUNCTIONS.get(name) or absent(name)
        setattr(self, name, made)
        return made


def bare(name, folder):
    """A package entered without running its __init__."""
    package = types.ModuleType(name)
    package.__path__ = [folder]
    sys.modules[name] = package
    return package


def stand_in_for_flax():
    """The two names that the modules import from flax, where flax is not installed: a type, and one for attention."""
    if importlib.util.find_spec("flax"):
        return
    for name in ("flax", "flax.core", "flax.core.frozen_dict", "flax.linen"):
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].__path__ = []
    sys.modules["flax.core.frozen_dict"].FrozenDict = dict
    sys.modules["flax.linen"].make_attention_mask = absent("make_attention_mask")


def has_gspmd_rules():
    """Whether the release gives its rules to GSPMD: from the 2.14 era on not on a JAX after 0.9.1, and it says so."""
    return getattr(sys.modules["transformer_engine.jax.cpp_extensions.base"], "_JAX_GSPMD_SUPPORTED", True)


def take_over_rules():
    """Rules are given to JAX through custom_partitioning.def_partition. Releases of the 2.14 era and before pass
    infer_sharding_from_operands, which newer JAX no longer takes. And an exception in a rule is told to `on_raised`."""
    from jax.experimental.custom_partitioning import custom_partitioning

    plain = custom_partitioning.def_partition
    taken = inspect.signature(plain).parameters

    def def_partition(self, *positional, **keywords):
        if "infer_sharding_from_operands" not in taken:
            keywords.pop("infer_sharding_from_operands", None)
        rules = {name: told(rule) if callable(rule) else rule for name, rule in keywords.items()}
        return plain(self, *positional, **rules)

    custom_partitioning.def_partition = def_partition


on_raised = []  # functions of an exception


def told(rule):
    @functools.wraps(rule)
    def asked(*positional, **keywords):
        try:
            return rule(*positional, **keywords)
        except Exception as e:
            for function in on_raised:
                function(e)
            raise

    return asked


def load():
    """The modules of transformer_engine.jax as (cpp_extensions, dense, sharding, quantize)."""
    spec = importlib.util.find_spec("transformer_engine")
    if spec is None:
        raise ImportError("No module named 'transformer_engine'")
    os.environ["NVTE_PROJECT_BUILDING"] = "1"  # its word for: do not load the core
    os.environ.pop("NVTE_JAX_CUSTOM_CALLS_RE", None)
    os.environ["NVTE_JAX_CUSTOM_CALLS"] = "true"  # its own primitives, not jax.lax.dot_general
    folder = list(spec.submodule_search_locations)[0]
    bare("transformer_engine", folder)
    sys.modules["transformer_engine_jax"] = Core("transformer_engine_jax")
    common = importlib.import_module("transformer_engine.common")
    common.load_framework_extension = lambda *_, **__: None
    stand_in_for_flax()
    take_over_rules()
    bare("transformer_engine.jax", os.path.join(folder, "jax"))
    names = ("cpp_extensions", "dense", "sharding", "quantize")
    return tuple(importlib.import_module("transformer_engine.jax." + name) for name in names)


def modules():
    """Its Flax modules: transformer_engine.jax.flax.module, without what stands beside them."""
    if not hasattr(importlib.import_module("flax.linen"), "Module"):
        sys.exit("te: via=module is Flax's, which this environment lacks; make it anew with "
                 f"scripts/environment te@{release()}")
    bare("transformer_engine.jax.flax", os.path.join(sys.modules["transformer_engine.jax"].__path__[0], "flax"))
    return importlib.import_module("transformer_engine.jax.flax.module")


def release():
    return importlib.metadata.version("transformer-engine")
