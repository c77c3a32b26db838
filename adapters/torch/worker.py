"""The torch backend: DTensor over real ranks or simulated ones. Started as `python -I worker.py`; see README.md."""

import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, os.pardir, "python")]

import plumb_worker  # noqa: E402


def checked(options=None):
    """The options with their defaults; refuses one that is unknown."""
    options = plumb_worker.checked(HERE, options)
    flatten = options["flatten"]
    if flatten not in ("none", "contiguous", "all") and not re.fullmatch(r"\w+(\.\w+)+(/\w+(\.\w+)+)*", flatten):
        there_are = plumb_worker.row(HERE)["options"]["flatten"]["help"].partition(": ")[2]
        plumb_worker.refuse(f"torch: flatten={flatten} is none of {there_are}")
    sets = [sorted(axes.split(".")) for axes in flatten.split("/")]
    if any(a == b for axes in sets for a, b in zip(axes, axes[1:])):
        plumb_worker.refuse(f"torch: flatten={flatten} names an axis twice in a set")
    if any(sets.count(axes) > 1 for axes in sets):
        plumb_worker.refuse(f"torch: flatten={flatten} names a set of axes twice")
    return options


def main(arguments):
    given = checked()
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    try:
        import torch.distributed.tensor  # noqa: F401
    except ImportError as e:
        sys.exit(f"torch: this Python has no torch with DTensor ({e}); make an environment with "
                 f"{plumb_worker.row(HERE)['mend']}")
    import backend

    if arguments == ["--probe"]:
        import probe

        sys.exit(probe.main(backend.Backend, given))
    if arguments:
        sys.exit(f"torch: unknown arguments {arguments}; --probe is the only one")
    sys.exit(plumb_worker.serve(backend.Backend(given)))


if __name__ == "__main__":
    main(sys.argv[1:])
