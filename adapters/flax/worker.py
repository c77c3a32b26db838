"""The Flax backend: one process, many cases. Started by the harness as `python -I worker.py`; see README.md."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, os.pardir, "jax"), os.path.join(HERE, os.pardir, "python")]
os.environ["JAX_PLATFORMS"] = "cpu"


def main():
    import plumb_worker

    try:
        import flax
    except ImportError as e:
        sys.exit(f"flax: this Python has no Flax ({e}); make an environment with {plumb_worker.row(HERE)['mend']}")
    import resolvers
    import resolving

    options = plumb_worker.checked(HERE)

    class Backend(resolving.Backend):
        def hello(self, mesh):
            return {"name": f"flax@{flax.__version__}", "versions": resolving.versions(flax=flax.__version__),
                    **super().hello(mesh)}

    sys.exit(plumb_worker.serve(Backend(options, resolvers.ALL, resolvers.NEEDS_DATA, resolvers.NEEDS_RULES)))


if __name__ == "__main__":
    main()
