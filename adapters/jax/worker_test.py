"""The JAX worker, run as the harness runs it. Needs the Python of an environment made by scripts/environment."""

import os
import sys
import tempfile
import unittest

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, os.pardir, "python"), os.path.join(HERE, os.pardir, "python", "testing")]

import drive
import kept
from kept import XY, einsum, reshard

WORKER = os.path.join(HERE, "worker.py")

# Runs the worker with a JAX that was tampered with: argv[2] is Python text.
PATCHED = """
import runpy, sys
tamper, sys.argv = sys.argv[2], [sys.argv[1]]
import jax
exec(tamper)
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def grouped(form, left, right, out, sizes):
    return {"mesh": XY, "op": "grouped", "form": form, "sizes": [sizes], "operands": [left, right], "chain": [out],
            "line": form}


class Worker(kept.Worker):
    worker, patched = WORKER, PATCHED

    def check(self, reply, want):
        """Every block holds what its own slice says."""
        self.assertEqual(reply["type"], "result", reply)
        for block in reply["blocks"]:
            part = want[tuple(slice(*ranges[0]) for ranges in block["slices"])]
            np.testing.assert_array_equal(np.array(block["data"]).reshape(part.shape), part)


class Answers(Worker):
    def test_values_claims_and_slices(self):
        a = np.arange(32.0).reshape(8, 4)
        b = (np.arange(32.0) % 5).reshape(4, 8)
        for partitioner in ("shardy", "gspmd"):
            for style in ("auto", "explicit"):
                with self.subTest(f"{partitioner} {style}"):
                    driver = self.start(partitioner=partitioner, style=style)
                    for spec in ("f32[8,4]", "f32[8@y.x,4]", "f32[8@x,4@y]", "f32[8,4@y]"):
                        reply = driver.run(reshard("f32[8@x.y,4]", spec), [a.ravel()])
                        self.check(reply, a)
                        self.assertEqual(reply["claims"], [spec])
                    reply = driver.run(einsum("mk,kn->mn", "f32[8@x,4@y]", "f32[4@y,8]", "f32[8@x,8@y]"),
                                       [a.ravel(), b.ravel()])
                    self.check(reply, a @ b)

    def test_a_chain_passes_through_its_inner_layouts(self):
        for style in ("auto", "explicit"):
            driver = self.start(style=style)
            direct, chain = (driver.run(reshard("f32[8,8@x]", *more, "f32[8,8@x]"), [list(range(64))])
                             for more in ((), ("f32[8@x,8]",)))
            self.check(chain, np.arange(64.0).reshape(8, 8))
            self.assertEqual([e["kind"] for e in direct["trace"]], [])
            self.assertEqual([e["kind"] for e in chain["trace"]], ["all-to-all", "all-to-all"])

    def test_routes_ask_for_the_same_layouts_otherwise(self):
        a, b = np.arange(32.0).reshape(8, 4) % 7, np.arange(32.0).reshape(4, 8) % 5
        product = einsum("mk,kn->mn", "f32[8@x,4@y]", "f32[4@y,8]", "f32[8@y,8@x]")
        for route in ("out", "inside", "uncommitted", "donate"):
            with self.subTest(route):
                driver = self.start(route=route)
                for spec in ("f32[8@y,4@x]", "f32[8@x,4]"):
                    reply = driver.run(reshard("f32[8@x,4]", spec), [a.ravel()])
                    self.check(reply, a)
                    self.assertEqual(reply["claims"], [spec])
                reply = driver.run(product, [a.ravel(), b.ravel()])
                self.check(reply, a @ b)
                self.assertEqual(reply["claims"], ["f32[8@y,8@x]"])
        self.assertEqual(self.start(route="inside", style="explicit").run(product)["type"], "unsupported")

    def test_a_product_by_hand_over_the_axes_of_which_nothing_but_a_sum_moves(self):
        a, b = np.arange(32.0).reshape(8, 4) % 7, np.arange(32.0).reshape(4, 8) % 5
        told = "import jax\ndef shard_map(f, *, mesh, in_specs, out_specs, axis_names):\n" \
               "    raise RuntimeError(f'{[tuple(s) for s in (*in_specs, out_specs)]}, {sorted(axis_names)}')\njax.shard_map = shard_map"
        asked = [
            (("f32[8@x,4@y]", "f32[4@y,8]", "f32[8@x,8]"), [("x", "y"), ("y", None), ("x", None)], ["x", "y"]),
            (("f32[8@x.y,4]", "f32[4,8]", "f32[8@x,8@y]"), [("x", None), (None, None), ("x", None)], ["x"]),
            (("f32[8,4@y.x]", "f32[4@y,8]", "f32[8@x,8]"), [(None, "y"), ("y", None), (None, None)], ["y"]),
        ]
        honest, caught = self.start(route="shard_map"), self.start(told, route="shard_map")
        for specs, *by_hand in asked:
            case = einsum("mk,kn->mn", *specs)
            self.assertEqual(caught.run(case, [a.ravel(), b.ravel()])["message"], f"RuntimeError: {by_hand[0]}, {by_hand[1]}")
            self.check(honest.run(case, [a.ravel(), b.ravel()]), a @ b)
        for specs in (("f32[8,4@x.y]", "f32[4@y.x,8]", "f32[8,8]"), ("f32[8@x,4]", "f32[4@x,8]", "f32[8,8]")):
            self.assertEqual(honest.run(einsum("mk,kn->mn", *specs))["type"], "unsupported")

    def test_each_route_is_its_own_program(self):
        case = reshard("f32[8@x,4]", "f32[8@x,4]")
        told = "import jax\nreal = jax.jit\ndef jit(f, **k):\n" \
               "    raise RuntimeError(' '.join(sorted(k)))\njax.jit = jit"
        asked = {"out": "in_shardings out_shardings", "inside": "", "uncommitted": "",
                 "donate": "donate_argnums in_shardings out_shardings"}
        for route, keywords in asked.items():
            reply = self.start(told, route=route).run(case, [list(range(32))])
            self.assertEqual(reply["message"].strip(), f"RuntimeError: {keywords}".strip())
        for route, given in (("inside", "4"), ("uncommitted", "1")):  # devices that hold the operand
            seen = "import jax\nreal = jax.jit\nclass Told:\n    def __init__(self, f, k): self.made = real(f, **k)\n" \
                   "    def trace(self, *a):\n        self.a = a\n        n = len(a[0].sharding.device_set) if a[0].sharding else 1\n" \
                   "        raise RuntimeError(str(n))\njax.jit = lambda f, **k: Told(f, k)"
            self.assertEqual(self.start(seen, route=route).run(case, [list(range(32))])["message"], f"RuntimeError: {given}")

    def test_grouped(self):
        x, w = np.arange(32.0).reshape(8, 4) % 7, np.arange(24.0).reshape(2, 4, 3) % 5
        y = np.concatenate([x[:3] @ w[0], x[3:] @ w[1]])
        driver = self.start()
        reply = driver.run(grouped("fwd", "f32[8@x,4]", "f32[2@y,4,3]", "f32[8@x,3]", [3, 5]), [x.ravel(), w.ravel()])
        self.check(reply, y)
        reply = driver.run(grouped("dgrad", "f32[8@x,3]", "f32[2,4,3]", "f32[8@x,4]", [3, 5]), [y.ravel(), w.ravel()])
        self.check(reply, np.concatenate([y[:3] @ w[0].T, y[3:] @ w[1].T]))
        reply = driver.run(grouped("wgrad", "f32[8@x,4]", "f32[8@x,3]", "f32[2@x,4,3]", [3, 5]), [x.ravel(), y.ravel()])
        self.check(reply, np.stack([x[:3].T @ y[:3], x[3:].T @ y[3:]]))

    def test_unfinished_operands_parts_and_results(self):
        parts = np.arange(16.0).reshape(4, 4) ** 2
        driver = self.start(style="explicit")
        self.check(driver.run(reshard("f32[4]+y.x", "f32[4@x]"), [parts.ravel()]), parts.sum(0))
        reply = driver.run(reshard("f32[4]+y.x", "f32[4]+y.x"), [parts.ravel()])
        self.assertEqual(reply["claims"], ["f32[4]+y.x"])
        for block in reply["blocks"]:  # device 2x + y holds part 2y + x
            self.assertIsNone(block["slices"])
            self.assertEqual(block["data"], list(parts[2 * (block["device"] % 2) + block["device"] // 2]))

    def test_device_ids_are_those_of_the_case(self):
        mesh = {**XY, "ids": [3, 1, 0, 2]}
        reply = self.start().run(reshard("f32[4@x,2@y]", "f32[4@x,2]", mesh=mesh), [list(range(8))])
        self.assertEqual([b["device"] for b in reply["blocks"]], [3, 1, 0, 2])
        self.assertEqual(reply["trace"][0]["groups"], [[3, 1], [0, 2]])
        self.check(reply, np.arange(8.0).reshape(4, 2))

    def test_single_collectives(self):
        driver = self.start(style="shard_map")
        parts = np.arange(16.0).reshape(2, 8)
        table = [("f32[8]+x", "f32[8]", "all-reduce"), ("f32[8]+x", "f32[8@x]", "reduce-scatter"),
                 ("f32[8,2@x]", "f32[8,2]", "all-gather"), ("f32[8@y.x,2]", "f32[8@y,2@x]", "all-to-all")]
        for source, target, kind in table:
            want = parts.sum(0) if "+" in source else parts.reshape(8, 2)
            reply = driver.run(reshard(source, target), [parts.ravel()])
            self.check(reply, want)
            self.assertEqual([e["kind"] for e in reply["trace"]], [kind])
        self.assertEqual(driver.run(reshard("f32[8@x]", "f32[8@y]"))["type"], "unsupported")

    def test_dtypes_move_as_bits(self):
        driver = self.start()
        for dtype in ("s8", "f8e4m3", "f8e5m2", "e8m0"):
            reply = driver.run(reshard(f"{dtype}[120@x]", f"{dtype}[120@y]"), [list(range(120))])
            self.check(reply, np.arange(120))
        self.check(driver.run(reshard("f64[4@x]", "f64[4]"), [[0.1, 2**-1074, 1e308, -0.0]]),
                   np.array([0.1, 2**-1074, 1e308, -0.0]))
        self.check(driver.run(reshard("f32[4@x]", "f32[4]"), [[1, 2, 3, 4]]), np.arange(1.0, 5))

    def test_more_devices_than_at_first(self):
        driver = self.start()
        wide = {"axes": [["x", 128]]}
        self.check(driver.run(reshard("f32[4@x]", "f32[4]"), [[1, 2, 3, 4]]), np.arange(1.0, 5))
        self.check(driver.run(reshard("f32[128@x]", "f32[128]", mesh=wide), [list(range(128))]), np.arange(128.0))
        self.check(driver.run(reshard("f32[4@x]", "f32[4]"), [[1, 2, 3, 4]]), np.arange(1.0, 5))

    def test_a_worker_that_holds_gpus_is_alone(self):
        self.assertIs(self.start().hello(XY)["alone"], False)
        gpus = ("import types\nreal = jax.devices\njax.default_backend = lambda: 'gpu'\n"
                "jax.devices = lambda *kind: real(*kind) if kind else [\n"
                "    types.SimpleNamespace(platform='gpu', device_kind='a GPU', id=n) for n in range(8)]")
        self.assertIs(self.start(gpus, platform="gpu").hello(XY)["alone"], True)

    def test_hlo_where_nothing_can_be_written_is_refused_before_hello(self):
        with tempfile.TemporaryFile() as noise:
            driver = drive.Driver([sys.executable, "-I", "-B", WORKER], noise, PLUMB_OPTIONS='{"hlo": "/proc/nope"}')
            self.addCleanup(kept.end, driver)
            self.assertEqual(driver.hello(XY), {"type": "died", "code": 2})

    def test_hlo_is_kept_on_request(self):
        with tempfile.TemporaryDirectory() as folder:
            self.start(hlo=folder).run(reshard("f32[4@x]", "f32[4]"))
            of_the_case, = os.listdir(folder)
            kept = os.listdir(os.path.join(folder, of_the_case))
        self.assertTrue(any("before_optimizations" in name for name in kept), kept)
        self.assertTrue(any("after_spmd-partitioning" in name for name in kept), kept)

    def test_products_have_the_precision_of_the_option(self):
        case = einsum("mk,kn->mn", "f32[8@x,8]", "f32[8,8]", "f32[8@x,8]")
        for precision, said in ("highest", True), ("default", False):
            with tempfile.TemporaryDirectory() as folder:
                self.start(hlo=folder, precision=precision).run(case, [[1] * 64, [1] * 64])
                texts = [open(os.path.join(at, f)).read() for at, _, files in os.walk(folder) for f in files if f.endswith(".txt")]
            self.assertEqual(any("operand_precision={highest,highest}" in text for text in texts), said, precision)

    def test_the_trace_as_the_partitioner_leaves_it(self):
        case = einsum("mk,kn->mn", "bf16[8@x,8@y]", "bf16[8@y,8]", "bf16[8@x,8]")
        ones = [[1] * 64, [1] * 64]
        compiled, left = (self.start(trace=t).run(case, ones)["trace"] for t in ("compiled", "partitioned"))
        self.assertEqual([(e["kind"], e["dtype"], e["in"]) for e in compiled], [("all-reduce", "f32", 128)])
        self.assertEqual([(e["kind"], e["dtype"], e["in"]) for e in left], [("all-reduce", "bf16", 64)])
        self.assertEqual(compiled[0]["groups"], left[0]["groups"])
        alone = reshard("f32[4]", "f32[4]", mesh={"axes": [["x", 1]]})
        self.assertEqual(self.start(trace="partitioned").run(alone)["trace"], [])

    def test_a_rematerialization_is_noted(self):
        case = reshard("f32[4@y.x,4]", "f32[4@x,4@y]")
        self.assertNotIn("notes", self.start().run(case))
        with tempfile.TemporaryDirectory() as folder:
            mesh = {"axes": [["x", 2], ["y", 2], ["z", 2]]}
            case = reshard("f32[8@x,8@y]", "f32[8@z.y.x,8]", mesh=mesh)
            notes = [self.start(partitioner=p).run(case).get("notes") for p in ("shardy", "gspmd")]
        self.assertIn(["involuntary full rematerialization"], notes)


class UnderTheClock(Worker):
    def test_a_program_is_timed_as_one_and_both_results_travel(self):
        reply, *both = self.timed(self.start(), reshard("f32[8,2@x]", "f32[8@y,2]"), [list(range(16))])
        self.assertEqual(len(reply["clocks"]), 1, "one process")
        for made in both:
            self.check(made, np.arange(16.0).reshape(8, 2))


    def test_operands_that_are_given_away_are_new_ones_in_each_iteration(self):
        driver, case = self.start(route="donate"), reshard("f32[8,2@x]", "f32[8,2@x]", "f32[8@y,2]")
        for iterations in (1, 2, 5):
            for made in self.timed(driver, case, [list(range(16))], iterations=iterations, batch=1)[1:]:
                self.check(made, np.arange(16.0).reshape(8, 2))
        same = reshard("f32[8,2@x]", "f32[8,2@x]")  # its result has the memory of its operand
        for made in self.timed(driver, same, [list(range(16))], batch=1)[1:]:
            self.check(made, np.arange(16.0).reshape(8, 2))
        refused = driver.run(case, [list(range(16))], {"warmups": 1, "iterations": 5, "batch": 2, "sync": "barrier"})
        self.assertEqual(refused["type"], "unsupported")
        self.assertIn("--batch 1", refused["reason"])

    def test_what_was_made_before_stands_for_no_iteration(self):
        tamper = ("real = jax.stages.Lowered.compile\nclass Once:\n    def __init__(self, made): self.made, self.kept = made, None\n"
                  "    def __getattr__(self, name): return getattr(self.made, name)\n    def __call__(self, *a):\n"
                  "        self.kept = self.made(*a) if self.kept is None else self.kept\n        return self.kept\n"
                  "jax.stages.Lowered.compile = lambda *a, **k: Once(real(*a, **k))")
        for style, target in (("auto", "f32[8@y,2]"), ("auto", "f32[8,2@x]"), ("explicit", "f32[8@y,2]"), ("explicit", "f32[8,2@x]+y")):
            with self.subTest(f"{style} {target}"):
                driver, case = self.start(tamper, style=style), reshard("f32[8,2@x]" + "+y" * target.endswith("+y"), target)
                data = [list(range(32 if target.endswith("+y") else 16))]
                self.assertEqual(driver.run(case, data)["type"], "result")
                for how in ({"warmups": 1, "iterations": 1}, {"warmups": 0, "iterations": 2}, {"warmups": 1, "iterations": 5}):
                    reply = driver.run(case, data, {"batch": 1, "sync": "barrier", **how})
                    self.assertEqual(reply["type"], "reneged", reply)
                    self.assertIn("deleted", reply["message"])


class Tampered(Worker):
    """A JAX that lies, or does more than it should, is seen."""

    JIT = "real = jax.jit\ndef jit(f, **k):\n    return {}\njax.jit = jit\n"

    def test_another_layout_shows_in_claim_and_slices(self):
        honest = self.start().run(reshard("f32[4]", "f32[4@x]"))
        self.assertEqual((honest["claims"], honest["blocks"][0]["slices"]), (["f32[4@x]"], [[[0, 2]]]))
        tamper = self.JIT.format("real(f, **{**k, 'out_shardings': k['in_shardings'][0]})")
        reply = self.start(tamper).run(reshard("f32[4]", "f32[4@x]"))
        self.assertEqual((reply["claims"], reply["blocks"][0]["slices"]), (["f32[4]"], [[[0, 4]]]))

    def test_slices_are_those_of_the_shard(self):
        tamper = ("real = vars(jax.Shard)['index'].__get__\njax.Shard.index = property(lambda s: tuple("
                  "i if i.start is None else slice(i.start + 1, i.stop + 1) for i in real(s, type(s))))")
        reply = self.start(tamper).run(reshard("f32[4]", "f32[4@x]"))
        self.assertEqual(reply["blocks"][0]["slices"], [[[1, 3]]])

    def test_an_extra_collective_shows_in_the_trace(self):
        case = reshard("f32[4@x]", "f32[4@x]")
        self.assertEqual(self.start().run(case)["trace"], [])
        tamper = self.JIT.format(
            "real(lambda x: jax.lax.with_sharding_constraint(x, jax.sharding.NamedSharding("
            "k['in_shardings'][0].mesh, jax.sharding.PartitionSpec())) + 0, **k)")
        found = self.start(tamper).run(case)["trace"]
        self.assertEqual([(e["kind"], e["groups"]) for e in found], [("all-gather", [[0, 2], [1, 3]])])

    def test_a_wrong_group_shows_in_the_trace(self):
        case = reshard("f32[4]+x", "f32[4]")
        groups = lambda driver: driver.run(case)["trace"][0]["groups"]
        self.assertEqual(groups(self.start(style="shard_map")), [[0, 2], [1, 3]])
        tamper = "real = jax.lax.psum\njax.lax.psum = lambda x, axes: real(x, 'y')"
        self.assertEqual(groups(self.start(tamper, style="shard_map")), [[0, 1], [2, 3]])

    def test_what_jax_refuses_is_reneged_with_its_words(self):
        tamper = self.JIT.format("1 / 0")
        driver = self.start(tamper)
        reply = driver.run(reshard("f32[4]", "f32[4@x]"))
        self.assertEqual((reply["type"], reply["message"]), ("reneged", "ZeroDivisionError: division by zero"))

    def test_an_abort_costs_the_case_alone(self):
        tamper = self.JIT.format("os.abort() if 'x' in k['in_shardings'][0].spec else real(f, **k)")
        driver = self.start(f"import os\n{tamper}")
        for _ in range(2):
            reply = driver.run(reshard("f32[4@x]", "f32[4]"))
            self.assertEqual(reply, {"type": "crashed", "id": driver.count, "message": "killed by signal 6 (Aborted)"})
            self.assertEqual(driver.run(reshard("f32[4]", "f32[4@x]"))["type"], "result")


if __name__ == "__main__":
    unittest.main()
