"""Other ways to ask torch for a layout or a product: checkpoints, FSDP2, torch.compile. Needs the Python of an environment."""

import os
import sys
import unittest

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, os.pardir, "python"), os.path.join(HERE, os.pardir, "python", "testing")]

from kept import einsum, reshard
from worker_test import Worker, XYZ, issued


class Checkpoints(Worker):
    def test_what_is_saved_on_one_layout_is_loaded_into_another(self):
        a = np.arange(45.0).reshape(9, 5)
        driver = self.start(via="checkpoint")
        for before in ("f32[9@x.y,5]", "f32[9,5@y]", "f32[9@y.x,5]", "f32[9,5]"):
            for after in ("f32[9@y,5@x]", "f32[9,5@x.y]", "f32[9,5]"):
                reply = driver.run(reshard(before, after), [a.ravel()])
                self.check(reply, a)
                self.assertEqual(reply["claims"], [after])
                self.assertNotIn("trace", reply, "files move the data, not collectives")

    def test_nothing_stays_of_the_one_before(self):
        driver = self.start(via="checkpoint")
        for data in (np.arange(8.0), np.arange(8.0) ** 2):
            self.check(driver.run(reshard("f32[8@x]", "f32[8@y]"), [data]), data)

    def test_a_load_that_reads_nothing_shows(self):
        tamper = "import torch.distributed.checkpoint as dcp\ndcp.load = lambda *args, **more: None"
        reply = self.start(tamper, via="checkpoint").run(reshard("f32[8@x]", "f32[8@y]"), [list(range(8))])
        self.assertTrue(np.isnan(reply["blocks"][0]["data"]).all(), "bytes that no data have")

    def test_what_a_checkpoint_does_not_hold(self):
        for case in (reshard("f32[8]+x", "f32[8]"), reshard("f32[8]", "f32[8]?"),
                     einsum("mk,kn->mn", "f32[4,4]", "f32[4,4]", "f32[4,4]")):
            self.assertEqual(self.start(via="checkpoint").run(case)["type"], "unsupported")


class Fsdp(Worker):
    def test_a_weight_is_gathered(self):
        a = np.arange(36.0).reshape(9, 4)
        for before, after in (("f32[9@x,4]", "f32[9,4]"), ("f32[9@y.x,4]", "f32[9@y,4]"), ("f32[9@x,4@y]", "f32[9,4@y]"),
                              ("f32[9@y,4@x]", "f32[9@y,4]")):
            reply = self.start(via="fsdp").run(reshard(before, after), [a.ravel()])
            self.check(reply, a)
            self.assertEqual(reply["claims"], [after])
            found = [(kind, group) for kind, groups in issued(reply) for group in groups]  # apart where pieces are unlike
            self.assertEqual(sorted(found), [("all-gather", [0, 2]), ("all-gather", [1, 3])])

    def test_its_gradient_is_scattered(self):
        parts = np.arange(64.0).reshape(2, 8, 4) ** 2
        for before, after in (("f32[8,4]", "f32[8@x,4]"), ("f32[8@y,4]", "f32[8@y.x,4]"), ("f32[8,4@y]", "f32[8@x,4@y]")):
            for left, want in (("+x", parts.sum(0)), ("+avg(x)", parts.mean(0))):
                reply = self.start(via="fsdp").run(reshard(before + left, after), [parts.ravel()])
                self.check(reply, want)
                self.assertEqual(reply["claims"], [after])
                self.assertEqual(issued(reply), [("reduce-scatter", [[0, 2], [1, 3]])])

    def test_over_replicas_it_is_all_reduced_too(self):
        parts = np.arange(64.0).reshape(8, 8)
        reply = self.start(via="fsdp").run(reshard("f32[8]+x.y.z", "f32[8@z]", mesh=XYZ), [parts.ravel()])
        self.assertEqual(reply["type"], "unsupported", "two axes are all that it has")
        reply = self.start(via="fsdp").run(reshard("f32[8]+x.y", "f32[8@y]", mesh=XYZ), [parts[:4].ravel()])
        self.check(reply, parts[:4].sum(0))
        self.assertEqual([kind for kind, _ in issued(reply)], ["reduce-scatter", "all-reduce"])

    def test_what_it_does_not_do(self):
        for before, after in (("f32[8@x.y]", "f32[8]"), ("f32[8]", "f32[8@x]"), ("f32[8@x]", "f32[8@y]"), ("f32[8]+x", "f32[8]"),
                              ("f32[8]+max(x)", "f32[8@x]"), ("s32[8@x]", "s32[8]"), ("f32[4,3@x]", "f32[4,3]")):
            self.assertEqual(self.start(via="fsdp").run(reshard(before, after))["type"], "unsupported", before)

    def test_parts_that_do_not_reach_the_gradient_show(self):
        tamper = "real = torch.Tensor.backward\n" \
                 "torch.Tensor.backward = lambda self: real(self * (2 if dist.get_rank() == 1 else 1))"
        parts = np.arange(16.0).reshape(2, 8) + 1
        reply = self.start(tamper, via="fsdp").run(reshard("f32[8]+x", "f32[8@x]"), [parts.ravel()])
        with self.assertRaises(AssertionError):
            self.check(reply, parts.sum(0))


class Compiled(Worker):
    def test_products_and_reshards(self):
        a, b = np.arange(32.0).reshape(8, 4) % 7, np.arange(32.0).reshape(4, 8) % 5
        for driver in self.both(compile="aot_eager"):
            reply = driver.run(einsum("mk,kn->mn", "f32[8@x,4@y]", "f32[4@y,8]", "f32[8@x,8]"), [a.ravel(), b.ravel()])
            self.check(reply, a @ b)
            self.assertNotIn("trace", reply)
            self.check(driver.run(reshard("f32[8@x,4]", "f32[8,4@x.y]"), [a.ravel()]), a)

    def test_it_is_compiled(self):
        tamper = "def refuse(*args, **more):\n    raise RuntimeError('a compiler that refuses')\n" \
                 "import torch._dynamo.backends.debugging as debugging\ndebugging.aot_eager = refuse\n" \
                 "torch._dynamo.backends.registry._COMPILER_FNS['aot_eager'] = refuse"
        reply = self.start(tamper, compile="aot_eager").run(reshard("f32[8@x]", "f32[8]"))
        self.assertEqual(reply["type"], "reneged")
        self.assertIn("BackendCompilerFailed", reply["message"])

    def test_what_eager_torch_refuses_is_a_limit_here_too(self):
        self.assertEqual(self.start(compile="aot_eager").run(reshard("f32[4]", "f32[4]+x"))["type"], "unsupported")


class Bmm(Worker):
    def test_batches(self):
        a, b = np.arange(64.0).reshape(4, 4, 4) % 7, np.arange(64.0).reshape(4, 4, 4) % 5
        case = einsum("bmk,bkn->bmn", "f32[4@x,4,4@y]", "f32[4@x,4@y,4]", "f32[4@x,4,4]")
        for driver in self.both(op="bmm"):
            self.check(driver.run(case, [a.ravel(), b.ravel()]), a @ b)
        self.assertEqual(self.start(op="bmm").run(einsum("mk,kn->mn", "f32[4,4]", "f32[4,4]", "f32[4,4]"))["type"], "unsupported")


if __name__ == "__main__":
    unittest.main()
