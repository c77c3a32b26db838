"""MaxText's own training step: model, optimizer and `train_step` as it releases them, small. It asks for Python 3.12;
with JAX 0.10.2 and flax 0.12.8, or 0.9.1 and 0.12.4. Packages for data, logs and storage, which a step does not use, are
stood in for where they are missing:

    python3.12 -m venv MAXTEXT; MAXTEXT/bin/pip install jax==0.10.2 flax==0.12.8 optax jinja2 pydantic omegaconf qwix \
        aqtp jaxtyping sentencepiece pathwaysutils; MAXTEXT/bin/pip install --no-deps maxtext==0.2.5
"""

import importlib.abc
import importlib.machinery
import os
import sys
import types
from unittest.mock import MagicMock

import jax
import jax.experimental.xla_metadata
from jax.sharding import AxisType, Mesh

from programs.training import LAYERS, LENGTH, MESH, sizes


class Stand(types.ModuleType):
    """A package that is not there: its classes make nothing, all else is a mock."""

    __path__, __version__ = [], "99"

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        made = {"__init__": lambda self, *args, **kwargs: None, "__class_getitem__": classmethod(lambda kind, of: kind)}
        return type(name, (), made) if name[0].isupper() else MagicMock()


class Stands(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Where MaxText imports what is not installed."""

    def find_spec(self, name, path, target=None):
        frame = sys._getframe(1)
        while frame and "importlib" in frame.f_code.co_filename:
            frame = frame.f_back
        parent = sys.modules.get(name.rpartition(".")[0])
        inside = path is None or not getattr(parent, "__file__", None)  # a stand, or a mere folder such as scripts/packaging
        if name.split(".")[0] in ("maxtext", "jax", "jaxlib", "flax") or not inside or not frame or "maxtext" not in frame.f_code.co_filename:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        return Stand(spec.name)

    def exec_module(self, module):
        pass


sys.meta_path.append(Stands())
if not hasattr(jax.experimental.xla_metadata, "must_fuse_call"):  # of later releases of JAX; for kernels of TPUs
    jax.experimental.xla_metadata.must_fuse_call = lambda f=None, **_: f if callable(f) else lambda g: g

from flax.core.spmd import logical_axis_rules
from maxtext.configs import pyconfig
from maxtext.trainers.pre_train import train, train_compile
from maxtext.utils import maxtext_utils, sharding


class Step:
    """A jitted function that is lowered on a mesh and under rules of its own."""

    def __init__(self, config, mesh, jitted):
        self.config, self.mesh, self.jitted = config, mesh, jitted

    def lower(self, *args):
        with jax.set_mesh(self.mesh), logical_axis_rules(self.config.logical_axis_rules):
            return self.jitted.lower(*args)


def maxtext(mesh):
    _, model, heads, hidden, vocabulary = sizes(mesh)
    base = os.path.join(os.path.dirname(train.__file__), "..", "..", "configs", "base.yml")
    values = {"run_name": "small", "hardware": "cpu", "enable_checkpointing": False, "dataset_type": "synthetic",
              "per_device_batch_size": 1, "base_emb_dim": model, "base_num_query_heads": heads, "base_num_kv_heads": heads,
              "base_mlp_dim": hidden, "base_num_decoder_layers": LAYERS, "head_dim": 4, "vocab_size": vocabulary,
              "max_target_length": LENGTH, "ici_data_parallelism": mesh.shape["dp"], "ici_fsdp_parallelism": mesh.shape["fsdp"],
              "ici_tensor_parallelism": mesh.shape["tp"], "skip_jax_distributed_system": True, "attention": "dot_product",
              "dtype": "float32", "override_model_config": True, "base_output_directory": os.curdir}
    config = pyconfig.initialize(["", base, *(f"{key}={value}" for key, value in values.items())])
    devices = maxtext_utils.create_device_mesh(config, mesh.devices.ravel().tolist())
    own = Mesh(devices, config.mesh_axes, axis_types=(AxisType.Auto,) * len(config.mesh_axes))
    with jax.set_mesh(own):
        arguments, _, laid, _, graph = train_compile.get_shaped_inputs(own, config)
        of_parameters, laid = sharding.maybe_update_params_sharding_with_opt(config, laid)
        laid = sharding.build_zero1_input_state_mesh_shardings(config, laid, of_parameters)
        where = sharding.get_input_data_sharding(config, own)
        step, *rest = maxtext_utils.get_functional_train_with_signature(train.train_step, where, laid, graph, config, of_parameters)
        names = ("in_shardings", "out_shardings", "static_argnums", "donate_argnums")
    return Step(config, own, jax.jit(step, **dict(zip(names, rest)))), arguments


PROGRAMS = {"maxtext": (MESH, AxisType.Auto, maxtext)}
