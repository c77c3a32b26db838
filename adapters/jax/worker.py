"""The JAX backend: one process, many cases. Started by the harness as `python -I worker.py`; see README.md."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, os.pardir, "python")]


def main(arguments):
    import dump
    import plumb_worker

    given = plumb_worker.checked(HERE)
    dump.check(given)
    if "platform" in given:
        os.environ["JAX_PLATFORMS"] = {"cpu": "cpu", "gpu": "cuda,cpu"}[given["platform"]]
    try:
        import jax  # noqa: F401
    except ImportError as e:
        sys.exit(f"jax: this Python has no JAX ({e}); make an environment with {plumb_worker.row(HERE)['mend']}")
    import backend

    if arguments == ["--probe"]:
        import probe

        sys.exit(probe.main(backend.Backend, given))
    if arguments:
        sys.exit(f"jax: unknown arguments {arguments}; --probe is the only one")
    sys.exit(plumb_worker.serve_in_children(backend.Backend(given)))


if __name__ == "__main__":
    main(sys.argv[1:])
