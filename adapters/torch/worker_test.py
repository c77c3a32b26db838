"""The torch worker, run as the harness runs it. Needs the Python of an environment made by scripts/environment."""

import os
import sys
import unittest
import unittest.mock

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, os.pardir, "python"), os.path.join(HERE, os.pardir, "python", "testing")]

import kept
from kept import XY, einsum, reshard

WORKER = os.path.join(HERE, "worker.py")
XYZ = {"axes": [["x", 2], ["y", 2], ["z", 2]]}

# Runs the worker with a torch that was tampered with: argv[2] is Python text.
PATCHED = """
import os, runpy, sys
tamper, sys.argv = sys.argv[2], [sys.argv[1]]
here = os.path.dirname(sys.argv[0])
sys.path[:0] = [here, os.path.join(here, os.pardir, "python")]
import torch
import torch.distributed as dist
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard
exec(tamper)
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def issued(reply):
    return [(e["kind"], e["groups"]) for e in reply["trace"]]


class Worker(kept.Worker):
    worker, patched = WORKER, PATCHED

    def check(self, reply, want):
        """Every block holds what its own slice says."""
        self.assertEqual(reply["type"], "result", reply)
        for block in reply["blocks"]:
            part = want[np.ix_(*[np.concatenate([np.arange(*r) for r in ranges]) for ranges in block["slices"]])]
            np.testing.assert_array_equal(np.array(block["data"]).reshape(part.shape), part)

    def both(self, **options):
        """An honest worker of each engine that this release has."""
        for engine in ("gloo", "local"):
            with self.subTest(engine):
                yield self.start(engine=engine, **options)


class Answers(Worker):
    def test_values_claims_and_slices(self):
        a = np.arange(32.0).reshape(8, 4)
        for driver in self.both():
            for spec in ("f32[8,4]", "f32[8@x.y,4]", "f32[8@y,4@x]", "f32[8,4@y]"):
                reply = driver.run(reshard("f32[8@x.y,4]", spec), [a.ravel()])
                self.check(reply, a)
                self.assertEqual(reply["claims"], [spec])

    def test_uneven_and_empty_shards(self):
        a = np.arange(15.0).reshape(5, 3)
        for driver in self.both():
            reply = driver.run(reshard("f32[5,3]", "f32[5@x.y,3]"), [a.ravel()])
            self.check(reply, a)
            self.assertEqual([b["slices"][0][0] for b in reply["blocks"]], [[0, 2], [2, 3], [3, 4], [4, 5]])
            reply = driver.run(reshard("f32[2,3]", "f32[2@x.y,3]"), [a.ravel()[:6]])
            self.assertEqual([len(b["data"]) for b in reply["blocks"]], [3, 0, 3, 0])
            reply = driver.run(reshard("f32[0@x,3]", "f32[0,3@y]"), [a.ravel()[:0]])
            self.check(reply, a[:0])

    def test_unfinished_operands_parts_and_results(self):
        parts = np.arange(16.0).reshape(4, 4) ** 2
        for driver in self.both():
            self.check(driver.run(reshard("f32[4]+y.x", "f32[4@x]"), [parts.ravel()]), parts.sum(0))
            reply = driver.run(reshard("f32[4]+y.x", "f32[4]+y.x"), [parts.ravel()])
            self.assertEqual(reply["claims"], ["f32[4]+y.x"])
            for block in reply["blocks"]:  # device 2x + y holds part 2y + x
                self.assertIsNone(block["slices"])
                self.assertEqual(block["data"], list(parts[2 * (block["device"] % 2) + block["device"] // 2]))

    def test_products(self):
        a, b = np.arange(32.0).reshape(8, 4) % 7, np.arange(32.0).reshape(4, 8) % 5
        case = einsum("mk,kn->mn", "f32[8@x,4@y]", "f32[4@y,8]", "f32[8@x,8]")
        for op in ("einsum", "mm"):
            for driver in self.both(op=op):
                reply = driver.run(case, [a.ravel(), b.ravel()])
                self.check(reply, a @ b)
                self.assertEqual(issued(reply), [("all-reduce", [[0, 1], [2, 3]])])
        linear = einsum("mk,nk->mn", "f32[8@x,4@y]", "f32[8,4@y]", "f32[8@x,8]")
        self.check(self.start(op="linear").run(linear, [a.ravel(), b.T.ravel()]), a @ b)
        self.assertEqual(self.start(op="linear").run(case)["type"], "unsupported")

    def test_a_free_result_is_laid_out_by_torch_and_its_sums_finished(self):
        reply = self.start().run(einsum("mk,kn->mn", "f32[8@x,4@y]", "f32[4@y,8]", "f32[8,8]?"))
        self.assertEqual(reply["claims"], ["f32[8@x,8]"])
        self.assertEqual(issued(reply), [("all-reduce", [[0, 1], [2, 3]])])

    def test_ways_to_ask(self):
        a = np.arange(8.0)
        reply = self.start(via="full_tensor").run(reshard("f32[8@x.y]", "f32[8]"), [a])
        self.check(reply, a)
        self.assertEqual((reply["claims"], issued(reply)[0][0]), (["f32[8]"], "all-gather"))
        reply = self.start(via="distribute").run(reshard("f32[8]", "f32[8@x]"), [a])
        self.check(reply, a)
        self.assertEqual([e["note"] for e in reply["trace"] if e["kind"] == "send"], ["scatter"])

    def test_device_ids_are_those_of_the_case(self):
        mesh = {**XY, "ids": [3, 1, 0, 2]}
        reply = self.start().run(reshard("f32[4,2]", "f32[4@x,2]", mesh=mesh), [list(range(8))])
        self.check(reply, np.arange(8.0).reshape(4, 2))
        self.assertEqual([b["slices"][0] for b in reply["blocks"]], [[[2, 4]], [[0, 2]], [[2, 4]], [[0, 2]]])
        reply = self.start().run(reshard("f32[4]+x", "f32[4]", mesh=mesh))
        self.assertEqual(sorted(sorted(g) for g in reply["trace"][0]["groups"]), [[0, 3], [1, 2]])

    def test_orders_against_the_mesh_are_strided_shards(self):
        for driver in self.both():
            for n in (8, 7):
                reply = driver.run(reshard(f"f32[{n}]", f"f32[{n}@y.x]"), [list(range(n))])
                self.check(reply, np.arange(float(n)))
                self.assertEqual(reply["claims"], [f"f32[{n}@y.x]"])
                self.assertEqual(reply["blocks"][1]["slices"], [[[4, 6]]])

    def test_uneven_strided_shards_are_right_as_users_cut_them(self):
        a = np.arange(45.0).reshape(9, 5)
        case = reshard("f32[9,5@y.z.x]", "f32[9,5@y.z]", mesh=XYZ)
        for driver in self.both():
            self.check(driver.run(case, [a.ravel()]), a)
        reply = self.start(operands="distribute").run(case, [a.ravel()])
        with self.assertRaises(AssertionError):  # torch cuts these placements otherwise than it joins them
            self.check(reply, a)

    def test_dtypes_move_as_bits(self):
        driver = self.start()
        for dtype in ("s8", "f8e4m3", "f8e5m2"):
            reply = driver.run(reshard(f"{dtype}[120]", f"{dtype}[120@y]"), [list(range(120))])
            self.check(reply, np.arange(120))
        self.check(driver.run(reshard("f64[4@x]", "f64[4]"), [[0.1, 2**-1074, 1e308, -0.0]]),
                   np.array([0.1, 2**-1074, 1e308, -0.0]))

    def test_meshes_of_other_sizes(self):
        for driver in self.both():
            for n in (2, 8, 3, 2):
                mesh = {"axes": [["x", n]]}
                self.check(driver.run(reshard("f32[24@x]", "f32[24]", mesh=mesh), [list(range(24))]), np.arange(24.0))


class Traces(Worker):
    def test_a_move_between_dimensions_is_one_all_to_all(self):
        for driver in self.both():
            reply = driver.run(reshard("f32[4@x,4]", "f32[4,4@x]"))
            self.assertEqual(issued(reply), [("all-to-all", [[0, 2], [1, 3]])])
            self.assertEqual((reply["trace"][0]["in"], reply["trace"][0]["out"]), (32, 32))

    def test_flattened_groups_are_reported_and_used(self):
        case = reshard("f32[8]+x.y.z", "f32[8]", mesh=XYZ)
        plain = self.start().run(case)
        self.assertEqual(len(plain["trace"]), 3)
        self.assertEqual(plain["groups"], [["x"], ["y"], ["z"]])
        flat = self.start(flatten="x.y.z").run(case)
        self.assertEqual(flat["groups"][3:], [["x", "y", "z"]])
        self.check(flat, sum(np.array([k % 7 for k in range(64)]).reshape(8, 8)))

    def test_flattening_what_the_mesh_lacks_is_unsupported(self):
        self.assertEqual(self.start(flatten="x.w").run(reshard("f32[4@x]", "f32[4]"))["type"], "unsupported")

    def test_bytes_of_a_scatter(self):
        for driver in self.both():
            event = driver.run(reshard("f32[8]+x", "f32[8@x]"))["trace"][0]
            self.assertEqual((event["kind"], event["in"], event["out"], event["op"]), ("reduce-scatter", 32, 16, "sum"))


class UnderTheClock(Worker):
    def test_each_rank_times_itself_and_both_results_travel(self):
        a, b = np.arange(32.0).reshape(8, 4) % 7, np.arange(32.0).reshape(4, 8) % 5
        driver = self.start()
        for sync in ("barrier", "window", "none"):
            with self.subTest(sync):
                reply, *both = self.timed(driver, einsum("mk,kn->mn", "f32[8@x,4@y]", "f32[4@y,8]", "f32[8@x,8]"),
                                          [a.ravel(), b.ravel()], sync=sync)
                self.assertEqual(len(reply["clocks"]), 4)
                self.assertEqual(issued(reply), [("all-reduce", [[0, 1], [2, 3]])], "once, not once an iteration")
                for made in both:
                    self.check(made, a @ b)

    def test_who_waits_for_a_window_sleeps_but_for_the_last_millisecond(self):
        import under_clock

        class Planted:
            now = slept = 0

            def monotonic_ns(self):
                self.now += 1000
                return self.now

            def sleep(self, seconds):
                self.now, self.slept = self.now + int(seconds * 1e9), self.slept + seconds

        clock = Planted()
        with unittest.mock.patch.object(under_clock.dist, "broadcast"), unittest.mock.patch.object(under_clock, "time", clock):
            self.assertTrue(under_clock.windows(0, "cpu")(0), "it is there when the time has come")
        self.assertEqual(clock.slept, 18_999_000 / 1e9, "from its second look on, each of which takes a microsecond")

    def test_a_gradient_is_taken_again_and_again(self):
        a, b = np.arange(32.0).reshape(8, 4) % 7, np.arange(32.0).reshape(4, 8) % 5
        _, *both = self.timed(self.start(grad="rhs"), einsum("mk,kn->mn", "f32[8@x,4]", "f32[4,8]", "f32[8@x,8]"),
                              [a.ravel(), b.ravel()])
        for made in both:
            self.check(made, a @ b)

    def test_an_operand_that_is_its_own_result_stays_whole(self):
        for made in self.timed(self.start(), reshard("f32[8@x]", "f32[8@x]"), [list(range(8))])[1:]:
            self.check(made, np.arange(8.0))

    def test_a_simulation_has_no_time(self):
        said = lambda engine: self.begin_alone(engine).hello(XY)["times"]
        self.assertEqual((said("gloo"), said("local")), (True, False))

    def begin_alone(self, engine):
        driver = self.begin(None, options={"engine": engine})
        self.addCleanup(kept.end, driver)
        return driver


REDISTRIBUTE = "real = DTensor.redistribute\ndef redistribute(self, placements):\n    return {}\n" \
               "DTensor.redistribute = redistribute"


class Tampered(Worker):
    """A torch that lies, or does more than it should, is seen."""

    def test_another_layout_shows_in_claim_and_slices(self):
        case = reshard("f32[4]", "f32[4@x]")
        honest = self.start().run(case)
        self.assertEqual((honest["claims"], honest["blocks"][0]["slices"]), (["f32[4@x]"], [[[0, 2]]]))
        for engine in ("gloo", "local"):
            reply = self.start(REDISTRIBUTE.format("self"), engine=engine).run(case)
            self.assertEqual((reply["claims"], reply["blocks"][0]["slices"]), (["f32[4]"], [[[0, 4]]]))

    def test_a_local_tensor_of_another_shape_shows_in_the_slices(self):
        tamper = "real = DTensor.to_local\nDTensor.to_local = lambda self: real(self)[:1]"
        reply = self.start(tamper).run(reshard("f32[4]", "f32[4@x]"))
        self.assertEqual(reply["blocks"][0]["slices"], [[[0, 1]]])

    def test_an_extra_collective_shows_in_the_trace(self):
        case = reshard("f32[4]", "f32[4@x]")
        self.assertEqual(self.start().run(case)["trace"], [])
        twice = "real(real(real(self, placements=placements), placements=[Replicate()] * 2), placements=placements)"
        for engine in ("gloo", "local"):
            found = self.start(REDISTRIBUTE.format(twice), engine=engine).run(case)
            self.assertEqual(issued(found), [("all-gather", [[0, 2], [1, 3]])])

    def test_a_wrong_group_shows_in_the_trace(self):
        case = reshard("f32[4]+x", "f32[4]")
        self.assertEqual(issued(self.start().run(case)), [("all-reduce", [[0, 2], [1, 3]])])
        tamper = ("import torch.distributed._functional_collectives as f\nreal = f.all_reduce\n"
                  "f.all_reduce = lambda t, reduceOp, group: real(t, reduceOp, (group[0], 1))")
        self.assertEqual(issued(self.start(tamper).run(case)), [("all-reduce", [[0, 1], [2, 3]])])

    def wrong(self, tamper):
        """Whether the first result and the last of a timed gather are wrong."""
        both = self.timed(self.start(tamper), reshard("f32[8@x]", "f32[8]"), [list(range(8))])[1:]
        return [any(b["data"] != list(range(8)) for b in made["blocks"]) for made in both]

    def test_what_is_wrong_under_the_clock_shows(self):
        count = "real, calls = DTensor.redistribute, []\ndef redistribute(self, placements):\n" \
                "    calls.append(1)\n    y = real(self, placements=placements)\n" \
                "    return {}\nDTensor.redistribute = redistribute"  # the watched run, 2 to warm up, 10 timed
        self.assertEqual(self.wrong(count.format("y")), [False, False])
        self.assertEqual(self.wrong(count.format("y if len(calls) != 5 else y * 2")), [True, False])
        self.assertEqual(self.wrong(count.format("y if len(calls) != 13 else y * 2")), [False, True])

    def test_a_result_of_before_does_not_stand_for_another(self):
        tamper = "real, made = DTensor.redistribute, []\ndef redistribute(self, placements):\n" \
                 "    made[:] = made or [real(self, placements=placements)]\n    return made[0]\n" \
                 "DTensor.redistribute = redistribute"
        self.assertEqual(self.wrong(tamper), [True, True])

    def test_what_torch_refuses_is_reneged_with_its_words(self):
        reply = self.start(REDISTRIBUTE.format("1 / 0")).run(reshard("f32[4]", "f32[4@x]"))
        self.assertEqual((reply["type"], reply["message"]), ("reneged", "ZeroDivisionError: division by zero"))


if __name__ == "__main__":
    unittest.main()
