"""The limits: every one is shown by a refusal of this release, and a limit that is not refused does not hold."""

import os
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, os.pardir, "python")]
os.environ["JAX_PLATFORMS"] = "cpu"

import backend
import limits
from plumb_worker.limits import Table, as_case

# Rows that some releases have lifted, or had not yet; and those that some routes do not have.
NOT_EVERYWHERE = {"grouped product on explicit axes", "unreduced needs Shardy", "uneven argument", "uneven result"}


class Limits(unittest.TestCase):
    def test_every_row_is_refused_in_the_words_it_expects(self):
        worker = [sys.executable, "-I", os.path.join(HERE, "worker.py"), "--probe"]
        child = subprocess.run(worker, capture_output=True, text=True)
        self.assertEqual(child.returncode, 0, child.stdout)
        state = {}
        for line in child.stdout.splitlines():
            _, name, answer = line.split(": ", 2)
            state.setdefault(name, set()).add(answer.split(":")[0])
        self.assertEqual(set(state), {row.name for row in limits.ROWS})
        for name, answers in state.items():
            allowed = {"refused"} | ({"not a limit here"} if name in NOT_EVERYWHERE else set())
            self.assertLessEqual(answers, allowed, name)

    def test_a_row_that_jax_does_not_refuse_does_not_hold(self):
        worker = backend.Backend({"style": "auto", "partitioner": "shardy", "route": "out"})
        worker.hello({"axes": [["x", 2]]})
        case = as_case(limits._reshard("f32[4@x]", "f32[4]"))
        planted = limits.Row("planted", "no all-gather", lambda c: True, "all-gather",
                             limits._reshard("f32[4@x]", "f32[4]"))
        self.assertIsNone(Table([planted], worker.refusal, "").find(case))
        uneven = next(r for r in limits.ROWS if r.name == "uneven argument")
        row, words = Table([uneven], worker.refusal, "").find(as_case(uneven.probe))
        self.assertIn("5", words)
        self.assertNotIn(os.path.dirname(HERE), worker.refusal(uneven.probe))

    def test_an_uneven_result_of_a_constraint_comes_out_whole(self):
        backend.Backend({"style": "auto", "partitioner": "shardy", "route": "out"}).hello({"axes": [["x", 2]]})
        import jax
        mesh = jax.sharding.Mesh(jax.devices()[:2], ("x",))
        where = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("x"))
        for size, whole in ((5, True), (4, False)):
            y = jax.jit(lambda x: jax.lax.with_sharding_constraint(2 * x, where))(jax.numpy.arange(size))
            self.assertEqual(y.sharding.is_fully_replicated, whole)
        row = next(r for r in limits.ROWS if r.name == "uneven result of a constraint")
        said = lambda *specs: bool(row.holds(as_case(limits._reshard(*specs))))
        self.assertEqual([said("f32[5]", "f32[5@x]"), said("f32[4]", "f32[4@x]"), said("f32[5]", "f32[5@x]", "f32[5]")], [True, False, False])

    def test_every_probe_is_a_case_of_its_row(self):
        for row in limits.ROWS:
            if row.probe:
                self.assertTrue(row.holds(as_case(row.probe)), row.name)


if __name__ == "__main__":
    unittest.main()
