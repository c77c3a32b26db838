"""Is this jitted function partitioned rightly? In three lines of your own program:

    import sys; sys.path.append("PLUMBLINE/adapters/jax")
    from plumb_prove import prove
    print(prove(step, state, batch))

Arrays or shapes (jax.ShapeDtypeStruct) will do: nothing is run, only compiled. XLA dumps the module before and after
its partitioner, and `plumb prove` compares what they compute.
"""

import dataclasses
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

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
    built = [os.environ.get("PLUMB"), ROOT / "build" / "bin" / "plumb", shutil.which("plumb")]
    for path in built:
        if path and os.access(path, os.X_OK):
            return str(path)
    raise FileNotFoundError(f"there is no plumb; build it with {ROOT / 'scripts' / 'plumb'} --build-only, or name it in $PLUMB")


def dump(jitted, args, kwargs, folder, passes):
    """Compiles the function so that XLA dumps its modules into the folder."""
    options = {"xla_dump_to": folder, "xla_dump_hlo_as_text": True, "xla_dump_large_constants": True,
               "xla_dump_hlo_pass_re": ".*" if passes else "spmd.*|shardy.*|sharding.*"}
    jitted.lower(*args, **kwargs).compile(compiler_options=options)


def prove(jitted, *args, flags=(), folder=None, passes=False, **kwargs):
    """An Answer: whether the function, compiled for these arguments, computes partitioned what it computes whole.

    `flags` go to `plumb prove`; `folder` keeps the dumps; with `passes` XLA dumps the module after every pass, so that
    the first wrong one is named.
    """
    with tempfile.TemporaryDirectory(prefix="plumb-prove-") as temporary:
        where = os.path.abspath(folder or temporary)
        os.makedirs(where, exist_ok=True)
        if os.listdir(where):
            raise FileExistsError(f"{where}: expected an empty folder, or none")
        dump(jitted, args, kwargs, where, passes)
        return asked(where, flags, folder is not None)


def asked(folder, flags=(), kept=True):
    """What `plumb prove` says of a folder of dumps."""
    said = subprocess.run([tool(), "prove", folder, "--json", *flags], capture_output=True, text=True)
    if not said.stdout:
        raise ValueError(said.stderr.strip())
    found = json.loads(said.stdout)
    return Answer(found, found["text"].rstrip("\n"), folder if kept else "")
