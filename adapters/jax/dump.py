"""HLO as XLA dumps it: the module as the partitioner gets it, as it leaves it, and after all passes.

Option hlo=DIR keeps a folder there for each case; trace=partitioned reads the module as the partitioner leaves it.
"""

import contextlib
import glob
import hashlib
import os
import tempfile

import plumb_worker


def check(options):
    """Refuses hlo= where nothing can be written there."""
    if not options.get("hlo"):
        return
    try:
        os.makedirs(options["hlo"], exist_ok=True)
        tempfile.TemporaryFile(dir=options["hlo"]).close()
    except OSError as e:
        plumb_worker.refuse(f"hlo={options['hlo']}: {e.strerror}")


@contextlib.contextmanager
def folder(options, case):
    """Where XLA dumps the case's modules; None where nobody asked for them."""
    if options.get("hlo"):
        path = os.path.join(os.path.abspath(options["hlo"]), hashlib.sha256(case.line.encode()).hexdigest()[:16])
        os.makedirs(path, exist_ok=True)
        for old in glob.glob(os.path.join(path, "*")):
            os.remove(old)
        with open(os.path.join(path, "case"), "w", encoding="utf-8") as f:
            f.write(case.line + "\n")
        yield path
    elif options.get("trace") == "partitioned":
        with tempfile.TemporaryDirectory(prefix="plumb-hlo-") as path:
            yield path
    else:
        yield None


def options(path):
    if not path:
        return None
    return {"xla_dump_to": path, "xla_dump_hlo_as_text": True, "xla_dump_large_constants": True,
            "xla_dump_hlo_pass_re": "spmd.*|shardy.*|sharding.*"}


def partitioned(path):
    """The text of the module as the partitioner leaves it. One that XLA does not partition, on one device, has none:
    its text is empty."""
    found = glob.glob(os.path.join(path, "*.after_spmd-partitioning.*"))
    if len(found) > 1:
        raise RuntimeError(f"XLA dumped {len(found)} partitioned modules of one program")
    if not found:
        return ""
    with open(found[0], encoding="utf-8") as f:
        return f.read()
