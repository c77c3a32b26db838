"""The backend of Transformer Engine's rules. Started by the harness as `python -I worker.py`; see README.md."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, os.pardir, "jax"), os.path.join(HERE, os.pardir, "python")]


def main():
    import dump
    import plumb_worker

    given = plumb_worker.checked(HERE)
    dump.check(given)
    os.environ["JAX_PLATFORMS"] = "cpu"
    try:
        import backend
    except ImportError as e:
        sys.exit(f"te: this Python lacks what Transformer Engine needs ({e}); make an environment with "
                 f"{plumb_worker.row(HERE)['mend']}")

    sys.exit(plumb_worker.serve_in_children(backend.Backend(given)))


if __name__ == "__main__":
    main()
