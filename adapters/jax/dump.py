"""HLO kept on request: option hlo=DIR puts a folder there for each case, with the module as the partitioner
gets it, as it leaves it, and after all passes, as XLA names them."""

import hashlib
import os


def folder(root, case):
    if not root:
        return None
    path = os.path.join(os.path.abspath(root), hashlib.sha256(case.line.encode()).hexdigest()[:16])
    os.makedirs(path, exist_ok=True)
    with open(os.path.join(path, "case"), "w", encoding="utf-8") as f:
        f.write(case.line + "\n")
    return path


def options(path):
    if not path:
        return None
    return {"xla_dump_to": path, "xla_dump_hlo_as_text": True, "xla_dump_hlo_pass_re": "spmd.*|shardy.*|sharding.*"}
