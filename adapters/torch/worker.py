"""The torch backend: DTensor over real ranks or simulated ones. Started as `python -I worker.py`; see README.md."""

import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, os.pardir, "python")]

OPTIONS = {"engine": ("gloo", "local", "nccl"), "flatten": None, "grad": ("lhs", "rhs"), "op": ("einsum", "mm", "linear"),
           "via": ("redistribute", "full_tensor", "distribute")}
STANDARD = {"engine": "gloo", "flatten": "none", "op": "einsum", "via": "redistribute"}


def checked(options):
    """The options with their defaults; exits with a message on one that is unknown. An empty one is not given."""
    options = {name: value for name, value in options.items() if value}
    for name, value in options.items():
        if name not in OPTIONS:
            sys.exit(f"torch: no option {name!r}; there are {', '.join(OPTIONS)}")
        if OPTIONS[name] and value not in OPTIONS[name]:
            sys.exit(f"torch: {name}={value} is none of {', '.join(OPTIONS[name])}")
    flatten = options.get("flatten", "none")
    if flatten not in ("none", "contiguous", "all") and not re.fullmatch(r"\w+(\.\w+)+(/\w+(\.\w+)+)*", flatten):
        sys.exit(f"torch: flatten={flatten} is none of none, contiguous, all, or sets of axes such as dp.tp/pp.tp")
    sets = [sorted(axes.split(".")) for axes in flatten.split("/")]
    if any(a == b for axes in sets for a, b in zip(axes, axes[1:])):
        sys.exit(f"torch: flatten={flatten} names an axis twice in a set")
    if any(sets.count(axes) > 1 for axes in sets):
        sys.exit(f"torch: flatten={flatten} names a set of axes twice")
    return {**STANDARD, **options}


def main(arguments):
    given = checked(json.loads(os.environ.get("PLUMB_OPTIONS") or "{}"))
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    try:
        import torch.distributed.tensor  # noqa: F401
    except ImportError as e:
        sys.exit(f"torch: this Python has no torch with DTensor ({e}); make an environment with "
                 "scripts/environment torch@RELEASE")
    import backend
    import plumb_worker

    if arguments == ["--probe"]:
        import probe

        sys.exit(probe.main(backend.Backend, given))
    if arguments:
        sys.exit(f"torch: unknown arguments {arguments}; --probe is the only one")
    sys.exit(plumb_worker.serve(backend.Backend(given)))


if __name__ == "__main__":
    main(sys.argv[1:])
