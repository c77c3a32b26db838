"""The MaxText backend: one process, many cases. Started by the harness as `python -I worker.py`; see README.md."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE] + [os.path.join(HERE, os.pardir, room) for room in ("flax", "jax", "python")]
os.environ["JAX_PLATFORMS"] = "cpu"


def main():
    import plumb_worker

    try:
        import flax
        from importlib.metadata import version
        release = version("maxtext")
    except ImportError as e:
        sys.exit(f"maxtext: this Python has no MaxText ({e}); make an environment with "
                 f"{plumb_worker.row(HERE)['mend']}")
    import imported
    import resolving
    import maxtext_resolvers

    options = plumb_worker.checked(HERE)
    finder = imported.start()
    resolvers, called = maxtext_resolvers.of(finder)

    class Backend(resolving.Backend):
        def hello(self, mesh):
            return {"name": f"maxtext@{release}",
                    "versions": resolving.versions(maxtext=release, flax=flax.__version__,
                                                   called=called[options["resolver"]],
                                                   **{"stood in for": ", ".join(sorted(finder.stood_in))}),
                    **super().hello(mesh)}

    sys.exit(plumb_worker.serve(Backend(options, resolvers)))


if __name__ == "__main__":
    main()
