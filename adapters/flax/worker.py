"""The Flax backend: one process, many cases. Started by the harness as `python -I worker.py`; see README.md."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, os.pardir, "jax"), os.path.join(HERE, os.pardir, "python")]
os.environ["JAX_PLATFORMS"] = "cpu"

OPTIONS = {
    "resolver": ("logical_to_mesh_axes", "logical_to_mesh_sharding", "with_logical_constraint", "from_sharding_rules",
                 "get_pspec", "get_var_pspec", "get_named_sharding", "get_abstract_model", "Param"),
    "rules": ("argument", "context", "both"),
    "names": ("tuple", "list"),
}


def main():
    try:
        import flax
    except ImportError as e:
        sys.exit(f"flax: this Python has no Flax ({e}); make an environment with scripts/environment flax@RELEASE")
    import plumb_worker
    import resolvers
    import resolving

    options = plumb_worker.checked("flax", OPTIONS)

    class Backend(resolving.Backend):
        def hello(self, mesh):
            return {"name": f"flax@{flax.__version__}", "versions": resolving.versions(flax=flax.__version__),
                    **super().hello(mesh)}

    sys.exit(plumb_worker.serve(Backend(options, resolvers.ALL, resolvers.NEEDS_DATA, resolvers.NEEDS_RULES)))


if __name__ == "__main__":
    main()
