"""The backend of Transformer Engine's rules. Started by the harness as `python -I worker.py`; see README.md."""

import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, os.pardir, "jax"), os.path.join(HERE, os.pardir, "python")]

OPTIONS = {"style": ("live", "plan"), "via": ("gemm", "dense", "shard_map"), "partitioner": ("shardy", "gspmd"), "resources": None,
           "hlo": None}


def checked(options):
    """The options with their defaults; exits with a message on one that is unknown. An empty one is not given."""
    options = {name: value for name, value in options.items() if value}
    for name, value in options.items():
        if name not in OPTIONS:
            sys.exit(f"te: no option {name!r}; there are {', '.join(OPTIONS)}")
        if OPTIONS[name] and value not in OPTIONS[name]:
            sys.exit(f"te: {name}={value} is none of {', '.join(OPTIONS[name])}")
    return {"style": "live", "via": "gemm", "partitioner": "shardy", **options}


def main():
    given = checked(json.loads(os.environ.get("PLUMB_OPTIONS") or "{}"))
    os.environ["JAX_PLATFORMS"] = "cpu"
    try:
        import backend
    except ImportError as e:
        sys.exit(f"te: this Python lacks what Transformer Engine needs ({e}); make an environment with "
                 "scripts/environment te@RELEASE")
    import plumb_worker

    sys.exit(plumb_worker.serve_in_children(backend.Backend(given)))


if __name__ == "__main__":
    main()
