"""Laws of the rule, asked as data over random questions, without the harness.

    python -I laws_test.py           200 questions
    python -I laws_test.py 20000     as many as that

The answer does not change when axes are renamed and the resources with them; and only the resources' names decide.
Whether an answer computes the product is the judge's: suites/te-plans.cases on te,style=plan.
"""

import os
import random
import sys
import unittest
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, os.pardir, "jax"), os.path.join(HERE, os.pardir, "python")]
os.environ["JAX_PLATFORMS"] = "cpu"
warnings.simplefilter("ignore")  # the rule warns of tp in the activations

import backend
import kernels
from plumb_worker import Case
from plumb_worker.case import parse_spec, spec_text

FORMS = [("mk", "kn", "mn"), ("bsk", "kn", "bsn"), ("mn", "kn", "mk"), ("mk", "mn", "kn"), ("bsk", "bsn", "kn"),
         ("mab", "abn", "mn")]
RESOURCES = ("dp", "fsdp", "tp", "ep")
COUNT = int(sys.argv.pop()) if sys.argv[-1].isdigit() else 200


def layout_of(random, rank, axes):
    split = [[] for _ in range(rank)]
    for axis in random.sample(axes, len(axes)):
        if (d := random.randrange(rank + 1)) < rank:
            split[d].append(axis)
    return split


def question(random):
    """(letters, splits of both operands) over some of the axes a, b, c."""
    axes = ["a", "b", "c"][: random.choice([1, 2, 2, 3])]
    form = random.choice(FORMS)
    return form, axes, [layout_of(random, len(letters), axes) for letters in form[:2]]


def case_of(form, axes, splits, names):
    """The question with its axes named."""
    specs = [parse_spec(spec_text("f32", [8] * len(letters), [[names[a] for a in d] for d in split]))
             for letters, split in zip(form, splits)]
    result = parse_spec(spec_text("f32", [8] * len(form[2]), [[]] * len(form[2])) + "?")
    return Case({"mesh": {"axes": [[names[a], 2] for a in axes]}, "op": "einsum", "lhs": form[0], "rhs": form[1],
                 "out": form[2], "operands": specs, "chain": [result]})


class Asked:
    """The rule, with resources given to axes by name."""

    def __init__(self, resources):
        self.backend = backend.Backend(
            {"style": "plan", "via": "gemm", "partitioner": "shardy", "resources": resources})

    def __call__(self, case, names):
        """The answer in the question's axes; the type of the exception where the rule raises."""
        try:
            result = self.backend.run(case, [], lambda: None)
        except Exception as e:
            return type(e).__name__
        back = {name: a for a, name in names.items()}
        said = [parse_spec(t)["split"] for t in (*result.plan["operands"], result.plan["result"])]
        sums = sorted(back[a] for step in result.trace if step["kind"] == "all-reduce" for a in step["axes"])
        return [[[back[a] for a in d] for d in split] for split in said], sums


def differ(count, seed=0):
    """The first question whose answer changes with the names of its axes; None if none does."""
    draw = random.Random(seed)
    one, other = {"a": "a", "b": "b", "c": "c"}, {"a": "q", "b": "fsdp", "c": "m"}
    for _ in range(count):
        form, axes, splits = question(draw)
        given = dict(zip(axes, draw.sample(RESOURCES, len(axes))))
        said = []
        for names in (one, other):
            asked = ASKED
            asked.backend.resources = {r: (names[a],) for a, r in given.items()}
            said.append(asked(case_of(form, axes, splits, names), names))
        if said[0] != said[1]:
            return form, splits, given, said
    return None


class Laws(unittest.TestCase):
    def test_renaming_axes_changes_nothing(self):
        self.assertIsNone(differ(COUNT))

    def test_a_rule_that_goes_by_names_is_caught(self):
        rule = kernels.module().GemmPrimitive
        honest = rule._parse_operand_output_specs
        sharding = sys.modules["transformer_engine.jax.sharding"]

        def by_name(*arguments, **keywords):
            resource = kernels.module().global_mesh_resource
            kernels.module().global_mesh_resource = lambda: sharding.MeshResource(fsdp_resource="fsdp")
            try:
                return honest(*arguments, **keywords)
            finally:
                kernels.module().global_mesh_resource = resource

        rule._parse_operand_output_specs = staticmethod(by_name)
        try:
            self.assertIsNotNone(differ(200))
        finally:
            rule._parse_operand_output_specs = staticmethod(honest)


if __name__ == "__main__":
    ASKED = Asked("")
    ASKED.backend.hello({"axes": [["a", 8]]})
    unittest.main(warnings="ignore")
