"""Is this jitted function partitioned rightly? In three lines of your own program:

    import sys; sys.path.append("PLUMBLINE/adapters/jax")
    from plumb_prove import prove
    print(prove(step, state, batch))

Arrays or shapes (jax.ShapeDtypeStruct) will do, and a mesh of devices that are not there (jax.sharding.AbstractMesh):
nothing is run. The function is lowered here and compiled in a process of its own, for as many virtual CPU devices as its
mesh has; XLA dumps the module before and after its partitioner there, and `plumb prove` compares what they compute.
"""

import dataclasses
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

MOST = 2048  # devices that XLA makes of a CPU
ROOT = pathlib.Path(__file__).resolve().parents[2]


@dataclasses.dataclass
class Answer:
    """True where proven. `text` is what plumb prints, `found` the same as data, `folder` the dumps where they are kept."""

    found: dict
    text: str
    folder: str = ""

    def __bool__(self):
        return self.found.get("finding") == "proven"

    def __str__(self):
        return self.text


def tool():
    """The built plumb: $PLUMB, one beside this file, or one on the path."""
    named = os.environ.get("PLUMB")
    if named and not os.access(named, os.X_OK):
        raise FileNotFoundError(f"$PLUMB names no program: {named}")
    for path in (named, ROOT / "build" / "bin" / "plumb", shutil.which("plumb")):
        if path and os.access(path, os.X_OK):
            return str(path)
    raise FileNotFoundError(f"there is no plumb; build it with {ROOT / 'scripts' / 'plumb'} --build-only, or name it in $PLUMB")


def lowered(jitted, args, kwargs):
    """The function as StableHLO, with its shardings."""
    from jax._src import source_info_util

    source_info_util.register_exclusion(__file__)  # a user's line is not here
    if not hasattr(jitted, "trace"):
        raise TypeError(f"expected a function of jax.jit, got {type(jitted).__name__}")
    text = jitted.trace(*args, **kwargs).lower(lowering_platforms=("cpu",)).as_text(debug_info=True)
    if partitions(text) < 2:
        raise ValueError("it is compiled for one device: give the function shardings of a mesh")
    if partitions(text) > MOST:
        raise ValueError(f"its mesh has {partitions(text):,} devices, and XLA makes {MOST:,} of a CPU at most: take a mesh with fewer "
                         "along some axis, or compile it for a TPU that is not there and run `plumb prove` on the dumps: "
                         f"{ROOT / 'reference' / 'hlo' / 'README.md'}, On more devices, and for a TPU")
    return text


def partitions(text):
    """How many devices it is for. Where only the mesh says so, and no argument is laid out, JAX leaves it open."""
    told = re.search(r"mhlo.num_partitions = (\d+)", text)
    meshes = [re.findall(r"=(\d+)", axes) for axes in re.findall(r"sdy\.mesh @\w+ = <\[([^\]]*)\]", text)]
    orders = [re.findall(r"\d+", order) for order in re.findall(r"<=\[([\d,]+)\]", text)]
    return max([int(told[1]) if told else 1, *(math.prod(map(int, sizes)) for sizes in meshes + orders)])


def dump(text, folder, passes):
    """Compiles StableHLO in another process, in which XLA dumps its modules into the folder."""
    with tempfile.TemporaryDirectory(prefix="plumb-prove-") as temporary:
        program = pathlib.Path(temporary, "program.mlir")
        count = partitions(text)
        program.write_text(re.sub(r"mhlo.num_partitions = \d+", f"mhlo.num_partitions = {count}", text))
        flags = [f"--xla_force_host_platform_device_count={count}", f"--xla_dump_to={folder}",
                 "--xla_dump_hlo_as_text", "--xla_dump_large_constants",
                 f"--xla_dump_hlo_pass_re={'.*' if passes else 'spmd.*|shardy.*|sharding.*'}"]
        environment = {**os.environ, "JAX_PLATFORMS": "cpu", "XLA_FLAGS": " ".join(flags)}
        child = subprocess.run([sys.executable, __file__, str(program)], env=environment, capture_output=True, text=True)
    if child.returncode:
        said = [line for line in child.stderr.splitlines() if line.strip()]
        said = [line for line in said if re.match(r"[\w.]+(Error|Exception|Interrupt): ", line)] or said  # not what JAX adds below
        ended = f"signal {-child.returncode}" if child.returncode < 0 else f"exit code {child.returncode}"
        raise RuntimeError(f"XLA did not compile it ({ended}): " + (said[-1] if said else "it said nothing"))


def compile_here(path):
    """What the other process does: a module of StableHLO, for the devices that XLA_FLAGS make."""
    import jax
    import numpy as np
    from jax._src.interpreters import mlir
    from jaxlib import _jax, xla_client
    from jaxlib.mlir import ir

    text = pathlib.Path(path).read_text()
    with mlir.make_ir_context():
        module = ir.Module.parse(text)
        main = next(f for f in module.body.operations if getattr(f, "sym_name", None) and f.sym_name.value == "main")
        told = lambda kind: ["mhlo.sharding" in ir.DictAttr(a) or "sdy.sharding" in ir.DictAttr(a)
                             for a in (main.attributes[kind] if kind in main.attributes else [])]
        parameters, results = told("arg_attrs"), told("res_attrs")
        devices = jax.devices()
        options = xla_client.CompileOptions()
        options.num_replicas, options.num_partitions = 1, len(devices)
        build = options.executable_build_options
        build.num_replicas, build.num_partitions = 1, len(devices)
        build.device_assignment = xla_client.DeviceAssignment.create(np.arange(len(devices)).reshape(1, -1))
        build.use_spmd_partitioning, build.use_shardy_partitioner = True, "sdy." in text
        build.allow_spmd_sharding_propagation_to_parameters = [not laid for laid in parameters] or [True]
        build.allow_spmd_sharding_propagation_to_output = [not laid for laid in results] or [True]
        devices[0].client.compile_and_load(module, _jax.DeviceList(tuple(devices)), options)


def prove(jitted, *args, flags=(), folder=None, passes=False, **kwargs):
    """An Answer: whether the function, compiled for these arguments, computes partitioned what it computes whole.

    `flags` go to `plumb prove`; `folder` keeps the dumps; with `passes` XLA dumps the module after every pass, each is
    judged, and the first wrong one is named.
    """
    tool()  # or say so before XLA compiles for minutes
    with tempfile.TemporaryDirectory(prefix="plumb-prove-") as temporary:
        where = os.path.abspath(folder or temporary)
        os.makedirs(where, exist_ok=True)
        if os.listdir(where):
            raise FileExistsError(f"{where}: expected an empty folder, or none")
        dump(lowered(jitted, args, kwargs), where, passes)
        return asked(where, [*flags, *["--passes"] * passes], folder is not None)


def asked(folder, flags=(), kept=True):
    """What `plumb prove` says of a folder of dumps."""
    said = subprocess.run([tool(), "prove", folder, "--json", *flags], capture_output=True, text=True)
    if not said.stdout:
        raise ValueError(said.stderr.strip())
    text = said.stdout
    if not kept:  # nobody can go back there
        text = text.replace(f"{folder}: ", "").replace(f"plumb prove {folder}", "prove(..., folder='DIR'), plumb prove DIR")
    found = json.loads(text)
    passes = [f"{one['finding']:11} {one['pass']}" for one in found.get("passes", [])]
    return Answer(found, "\n".join([*passes, found["text"].rstrip("\n")]), folder if kept else "")


if __name__ == "__main__":
    compile_here(sys.argv[1])
