"""The rules of the release in whose environment this runs: as installed, edited, and asked badly."""

import atexit
import contextlib
import dataclasses
import functools
import importlib.metadata
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import numpy

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, os.pardir, "python")]

import drive
import resources

WORKER = os.path.join(HERE, "worker.py")
RELEASE = importlib.metadata.version("transformer-engine")
NUMBER = tuple(int(n) for n in RELEASE.split(".")[:2])
OLD = NUMBER < (2, 14)  # before the fix of NVIDIA/TransformerEngine#2649


def einsum(letters, left, right, result, mesh=(("fsdp", 2), ("expert", 2))):
    lhs, rest = letters.split(",")
    rhs, out = rest.split("->")
    return {"mesh": {"axes": [list(axis) for axis in mesh]}, "op": "einsum", "lhs": lhs, "rhs": rhs, "out": out,
            "operands": [left, right], "chain": [result]}


def grouped(form, sizes, left, right, result, mesh):
    return {"mesh": {"axes": [list(axis) for axis in mesh]}, "op": "grouped", "form": form, "sizes": [sizes],
            "operands": [left, right], "chain": [result]}


def quantize(scheme, operand, codes, scales, mesh=(("fsdp", 2), ("expert", 2))):
    return {"mesh": {"axes": [list(axis) for axis in mesh]}, "op": "quantize", "scheme": scheme, "operands": [operand],
            "chain": [codes, scales]}


def worker(package=None, stderr=subprocess.DEVNULL, **options):
    """The worker; from another copy of the package where one is given."""
    command = [sys.executable, "-I", "-B", WORKER]
    if package:
        start = f"import runpy, sys; sys.path.insert(0, {package!r}); runpy.run_path({WORKER!r}, run_name='__main__')"
        command = [sys.executable, "-I", "-B", "-c", start]
    return drive.Driver(command, stderr=stderr, PLUMB_OPTIONS=json.dumps(options))


@functools.lru_cache(maxsize=None)
def installed(options):
    """(driver, hello) of a worker with the installed package, which lasts for all tests: a start takes seconds."""
    driver = worker(**dict(options))
    atexit.register(driver.close)
    return driver, driver.hello({"axes": [["x", 4]]})


def ask(cases, package=None, **options):
    """(hello, one reply for each case)."""
    if not package:
        driver, hello = installed(tuple(options.items()))
        return hello, [driver.run(case) for case in cases]
    driver = worker(package, **options)
    with contextlib.closing(driver):
        hello = driver.hello(cases[0]["mesh"])
        return hello, [driver.run(case) for case in cases]


REPORTED = einsum("bsk,kn->bsn", "f32[8@fsdp.expert,4,8]", "f32[8,8@fsdp.expert]", "f32[8@fsdp.expert,4,8]")


class Live(unittest.TestCase):
    def test_says_whose_rules_and_whose_kernels(self):
        hello, _ = ask([REPORTED])
        self.assertEqual(hello["name"], f"te@{RELEASE}")
        self.assertEqual(hello["versions"]["rules"], f"rules of Transformer Engine {RELEASE}, kernels ours")
        self.assertRegex(hello["versions"]["rule source"], r"^[0-9a-f]{16}$")

    def test_gathers_the_weight_and_not_the_activations(self):
        _, (reply,) = ask([REPORTED])
        gathered = [step["in"] for step in reply["trace"] if step["kind"] == "all-gather"]
        self.assertEqual(gathered, [256] if OLD else [64], "256 bytes of activations, 64 of weight on each device")

    def test_one_sum_where_both_are_split(self):
        _, replies = ask([einsum("mk,kn->mn", "f32[4,8@x]", "f32[8@x,4]", "f32[4,4]", (("x", 2),)),
                          einsum("mk,mn->kn", "f32[8@x,4]", "f32[8@x,4]", "f32[4,4]", (("x", 2),)),
                          einsum("mn,kn->mk", "f32[8@x,4]", "f32[4,4]", "f32[8@x,4]", (("x", 2),))])
        self.assertEqual([[s["kind"] for s in r["trace"]] for r in replies], [["all-reduce"], ["all-reduce"], []])

    def test_dense_and_its_gradients(self):
        cases = [REPORTED, einsum("bsn,kn->bsk", "f32[8@fsdp,4,8]", "f32[6,8]", "f32[8@fsdp,4,6]"),
                 einsum("bsk,bsn->kn", "f32[8@fsdp,4,6]", "f32[8@fsdp,4,8]", "f32[6,8]")]
        _, by_gemm = ask(cases)
        for via in ("dense", "module"):
            for one, other in zip(by_gemm, ask(cases, via=via)[1]):
                self.assertEqual(other["type"], "result", other)
                self.assertEqual([b["data"] for b in one["blocks"]], [b["data"] for b in other["blocks"]])

    def test_a_module_contracts_two_dimensions(self):
        mesh = (("dp", 2), ("tp", 2))
        cases = [einsum("mab,abn->mn", "f32[4@dp,4,4]", "f32[4,4,4@tp]", "f32[4@dp,4@tp]", mesh),
                 einsum("mab,abn->mn", "f32[4@dp,4@tp,4]", "f32[4@tp,4,4]", "f32[4@dp,4]", mesh)]
        for one, other in zip(ask(cases)[1], ask(cases, via="module")[1]):
            self.assertEqual(other["type"], "result", other)
            self.assertEqual([b["data"] for b in one["blocks"]], [b["data"] for b in other["blocks"]])
        _, (reply,) = ask([quantize("fp8", "f32[4,8]", "f8e4m3[4,8]", "f32[]")], via="module")
        self.assertEqual(reply["reason"], "via=module multiplies")

    def test_the_first_product_of_an_mlp_and_its_gradients(self):
        cases = [REPORTED, einsum("bsn,kn->bsk", "f32[8@fsdp,4,8]", "f32[8,8@expert]", "f32[8@fsdp,4,8]"),
                 einsum("bsk,bsn->kn", "f32[8@fsdp,4,8]", "f32[8@fsdp,4,8]", "f32[8,8@expert]")]
        for one, other in zip(ask(cases)[1], ask(cases, via="mlp")[1]):
            self.assertEqual(other["type"], "result", other)
            self.assertEqual([b["data"] for b in one["blocks"]], [b["data"] for b in other["blocks"]])
        refused = [(einsum("mk,kn->mn", "f32[4,8]", "f32[8,4]", "f32[4,4]"), "gives back as many as it took"),
                   (einsum("mab,abn->mn", "f32[4,4,4]", "f32[4,4,4]", "f32[4,4]"), "one dimension of features"),
                   (einsum("mk,kn->mn", "f32[8,32]~fp8", "f32[32,32]~fp8", "f32[8,32]"), "would be quantized too"),
                   (grouped("fwd", [4, 4], "f32[8,4]", "f32[2,4,4]", "f32[8,4]", (("x", 2),)), "via=mlp multiplies")]
        for (case, reason), reply in zip(refused, ask([case for case, _ in refused], via="mlp")[1]):
            self.assertIn(reason, reply.get("reason", ""), reply)

    def test_experts_on_their_own_devices(self):
        mesh = (("ep", 2), ("fsdp", 2))
        _, replies = ask([
            grouped("fwd", [4, 4], "f32[8@ep,4]", "f32[2@ep,4,6]", "f32[8@ep,6]", (("ep", 2),)),
            grouped("fwd", [4, 4], "f32[8@ep.fsdp,4]", "f32[2@ep,4,6@fsdp]", "f32[8@ep.fsdp,6]", mesh),
            grouped("fwd", [3, 5], "f32[8@ep,4]", "f32[2@ep,4,6]", "f32[8@ep,6]", (("ep", 2),)),
        ], via="shard_map")
        self.assertEqual([(r["type"], r.get("trace")) for r in replies[:1]], [("result", [])])
        if NUMBER < (2, 15):  # it gathers the weight, and multiplies by what it had before
            self.assertEqual(replies[1]["claims"], ["f32[8@ep.fsdp,3]"])
        else:
            self.assertIn("FSDP sharding for grouped_dense is not supported yet", replies[1]["message"])
        self.assertEqual(replies[2]["reason"], "rows of another device's experts")

    def test_grouped_dense_has_no_rule_under_jit(self):
        _, (reply,) = ask([grouped("fwd", [3, 5], "f32[8,4]", "f32[2,4,6]", "f32[8,6]", (("ep", 2),))])
        self.assertEqual(reply["type"], "reneged")
        self.assertIn("Sharding rule has 1 operands", reply["message"])


class Plan(unittest.TestCase):
    def test_says_how_operands_meet(self):
        half = {k: [s.replace("f32", "bf16") for s in REPORTED[k]] for k in ("operands", "chain")}
        _, (reply, other) = ask([REPORTED, {**REPORTED, **half}], style="plan")
        wanted = (["f32[8,4,8]", "f32[8,8@fsdp.expert]"] if OLD else ["f32[8@fsdp.expert,4,8]", "f32[8,8]"])
        self.assertEqual([reply["plan"]["operands"], other["type"]], [wanted, "result"])
        self.assertEqual(reply["claims"], ["f32[8@fsdp.expert,4,8]"])

    def test_a_plan_agrees_with_the_program(self):
        cases = [REPORTED, einsum("mk,kn->mn", "f32[4@fsdp,8@expert]", "f32[8@expert,4@fsdp]", "f32[4@fsdp,4]")]
        (_, plans), (_, programs) = ask(cases, style="plan"), ask(cases)
        for plan, program in zip(plans[1:], programs[1:]):
            self.assertEqual([(s["kind"], s["in"], s["out"]) for s in plan["trace"]],
                             [(s["kind"], s["in"], s["out"]) for s in program["trace"]])

    def test_resources_name_the_axes(self):
        case = einsum("bsk,kn->bsn", "f32[8@data,4,8]", "f32[8,8@data]", "f32[8@data,4,8]", (("data", 2), ("other", 2)))
        wants = lambda **options: ask([case], style="plan", **options)[1][0]["plan"]["operands"]
        self.assertEqual(wants(), ["f32[8,4,8]", "f32[8,8@data]"], "the axis has no name that the rule knows")
        self.assertEqual(wants(resources="fsdp:data"), ["f32[8@data,4,8]", "f32[8,8]"])
        self.assertEqual(wants(resources="tp:data"), ["f32[8,4,8]", "f32[8,8@data]"])


class Edited(unittest.TestCase):
    """The rule that decides is the installed one: an edited copy of the package answers differently."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        installed = os.path.dirname(importlib.util.find_spec("transformer_engine").origin)
        self.package = folder.name
        ignored = shutil.ignore_patterns("pytorch", "lib", "*.so")
        shutil.copytree(installed, os.path.join(folder.name, "transformer_engine"), ignore=ignored)
        self.file = os.path.join(folder.name, "transformer_engine", "jax", "cpp_extensions", "gemm.py")

    def edit(self, old, new):
        with open(self.file, encoding="utf-8") as f:
            text = f.read()
        self.assertTrue(old in text, old)
        with open(self.file, "w", encoding="utf-8") as f:
            f.write(text.replace(old, new))

    def test_a_sum_that_is_left_out(self):
        case = einsum("mk,kn->mn", "f32[4,8@x]", "f32[8@x,4]", "f32[4,4]", (("x", 2),))
        hello, (whole,) = ask([case])
        self.edit("jax.lax.psum(", "(lambda x, _: x)(")
        rule = "        gsr = global_mesh_resource()\n"
        self.edit(rule, rule + "        print('{\"type\": \"noise\"}', flush=True)\n")  # is not the channel
        edited, (broken,) = ask([case], self.package)
        self.assertNotEqual(hello["versions"]["rule source"], edited["versions"]["rule source"])
        self.assertEqual(broken["trace"], [])
        self.assertNotEqual([b["data"] for b in whole["blocks"]], [b["data"] for b in broken["blocks"]])
        _, (plan,) = ask([case], self.package, style="plan")
        self.assertEqual(plan["trace"], [])

    def test_an_amax_that_is_not_reduced(self):
        case = quantize("fp8", "f32[4,8@fsdp]", "f8e4m3[4,8@fsdp]", "f32[]", (("fsdp", 2),))
        _, hello = installed((("via", "dense"),))
        folder = os.path.dirname(self.file)
        self.file = os.path.join(folder, "amax.py" if "amax.py" in os.listdir(folder) else "quantization.py")
        self.edit("jax.lax.pmax, gmesh.fsdp_resource", "jax.lax.pmax, None")
        driver = worker(self.package, via="dense")
        with contextlib.closing(driver):
            edited = driver.hello(case["mesh"])
            reply = driver.run(case, [list(range(32))])
        for rule in ("rule source", "amax rule source"):
            self.assertNotEqual(hello["versions"][rule], edited["versions"][rule])
        self.assertEqual(len({scale for b in reply["blocks"] if b["result"] == 1 for scale in b["data"]}), 2)

    def test_an_exception_inside_the_rule(self):
        self.edit("        gsr = global_mesh_resource()\n", "        raise RuntimeError('planted in the rule')\n")
        for style in ("live", "plan"):
            _, (reply,) = ask([REPORTED], self.package, style=style)
            self.assertEqual(reply["type"], "reneged")
            self.assertIn("planted in the rule", reply["message"] + reply["detail"])


class Gspmd(unittest.TestCase):
    def test_a_rule_that_raises_costs_its_case(self):
        plain = einsum("mk,kn->mn", "f32[8@x,8]", "f32[8,8]", "f32[8@x,8]", (("x", 2),))
        raises = einsum("mk,kn->mn", "f32[8@dp.tp,8]", "f32[8,8@dp]", "f32[8@dp.tp,8]", (("dp", 2), ("tp", 2)))
        with tempfile.TemporaryFile("w+") as said:
            driver = worker(stderr=said, partitioner="gspmd")
            with contextlib.closing(driver):
                driver.hello(plain["mesh"])
                replies = [driver.run(case) for case in (plain, raises, plain)]
            said.seek(0)
            words = said.read().strip().splitlines()
        if tuple(map(int, importlib.metadata.version("jax").split("."))) > (0, 9, 1) and not OLD:
            self.assertEqual(replies[0]["reason"], "this release has no rules for GSPMD on a JAX after 0.9.1")
        else:
            said = [r.get("message", r["type"]) for r in replies]
            self.assertEqual(said, ["result", "killed by signal 6 (Aborted)", "result"])
            self.assertTrue(any(line.startswith("DuplicateSpecError: ") for line in words), words)


class Fp8(unittest.TestCase):
    def test_one_scale_where_the_amax_is_reduced(self):
        alone = quantize("fp8", "f32[4,8@fsdp]", "f8e4m3[4,8@fsdp]", "f32[]", (("fsdp", 2),))
        both = quantize("fp8", "f32[4,8@fsdp.expert]", "f8e4m3[4,8@fsdp.expert]", "f32[]")
        for options, of_both in (({}, 1), ({"via": "dense"}, 2)):
            driver, _ = installed(tuple(options.items()))
            replies = [driver.run(case, [list(range(32))]) for case in (alone, both)]
            if NUMBER == (2, 9) and options:  # its rule names a tuple of axes inside a tuple
                self.assertIn("nested tuple", replies.pop()["message"])
            scales = [len({scale for b in r["blocks"] if b["result"] == 1 for scale in b["data"]}) for r in replies]
            self.assertEqual(scales, [1, of_both][: len(scales)], "dense takes the amax over fsdp alone")

    def test_a_product_of_codes(self):
        case = einsum("mk,kn->mn", "f32[16,32@x]~fp8", "f32[32@x,16]~fp8", "f32[16,16]", (("x", 2),))
        same = [[k % 7 for k in range(512)]] * 2  # each device's part has the largest: one scale in any scope
        for options in ({}, {"via": "dense"}):
            driver, hello = installed(tuple(options.items()))
            want = numpy.matmul(*(numpy.reshape(x, shape) for x, shape in zip(same, ((16, 32), (32, 16))))).ravel()
            for got, wanted in zip(driver.run(case, same)["blocks"][0]["data"], want):
                self.assertLess(abs(got - wanted), wanted / 7, "codes have three bits of fraction")
            self.assertIn("jnp" if not options else "ours", hello["versions"]["codes"])

    def test_a_module_quantizes_as_dense_does(self):
        mesh = (("fsdp", 2), ("tp", 2))
        cases = [einsum("mk,kn->mn", "f32[32@fsdp,32]~fp8", "f32[32@fsdp,32@tp]~fp8", "f32[32@fsdp,32@tp]", mesh),
                 einsum("mn,kn->mk", "f32[32@fsdp,32@tp]~fp8e5", "f32[32,32@tp]~fp8", "f32[32@fsdp,32]", mesh),
                 einsum("mk,mn->kn", "f32[32@fsdp,32]~fp8", "f32[32@fsdp,32@tp]~fp8e5", "f32[32,32@tp]", mesh),
                 einsum("mk,kn->mn", "f32[64@fsdp,64]~mxfp8", "f32[64@fsdp,64@tp]~mxfp8", "f32[64@fsdp,64@tp]", mesh),
                 einsum("mn,kn->mk", "f32[64@fsdp,64@tp]~mxfp8e5", "f32[64,64@tp]~mxfp8", "f32[64@fsdp,64]", mesh)]
        # Every device's part has the largest: one scale in any scope, so that recipes differ in no bit.
        values = [[[(n * step + step) % 61 for n in range(4096 if "~mx" in case["operands"][0] else 1024)] for step in (7, 11)] for case in cases]
        asked = lambda **options: [installed(tuple(options.items()))[0].run(case, of) for case, of in zip(cases, values)]
        by_dense = asked(via="dense")
        for recipe in ("current", "delayed"):
            for case, one, other in zip(cases, by_dense, asked(via="module", recipe=recipe)):
                if one["type"] != "result":
                    self.assertLess(NUMBER, (2, 10), one)
                    continue
                self.assertEqual(other["type"], "result", other)
                self.assertEqual([b["data"] for b in one["blocks"]], [b["data"] for b in other["blocks"]], (case, recipe))

    def test_delayed_scaling_scales_by_the_largest_of_all_devices(self):
        case = einsum("mk,kn->mn", "f32[16@dp,32]~fp8", "f32[32,16]~fp8", "f32[16@dp,16]", (("dp", 2),))
        x, w = numpy.ones((16, 32)), numpy.eye(32, 16)
        x[3] = 448 / 17  # on the first device, and one of the other is 17 codes of it, of which f8e4m3 makes 16
        made = {recipe: installed((("via", "module"), ("recipe", recipe)))[0].run(case, [x.ravel().tolist(), w.ravel().tolist()])
                for recipe in ("current", "delayed")}
        if NUMBER < (2, 10) and any(reply["type"] != "result" for reply in made.values()):
            return
        below = {recipe: {round(value, 3) for b in reply["blocks"][1:] for value in b["data"]} for recipe, reply in made.items()}
        self.assertEqual(below["current"], {1}, "AmaxScope does not name dp: the other device has a scale of its own")
        self.assertEqual(below["delayed"], {0.941}, "the history has the largest of all devices")

    def test_a_product_of_blocks(self):
        of_block = numpy.repeat(2.0 ** numpy.arange(2), 32)  # every block of 32 along the contracted dimension has another scale
        x, w = (numpy.arange(64 * 64).reshape(64, 64) * step % 15 - 7 for step in (7, 11))  # such integers are codes times a scale
        x, w = x * of_block, w / of_block[:, None] * 2.0 ** (numpy.arange(64) % 3)
        for left, right in (("[64@x,64]", "[64,64]"), ("[64,64@x]", "[64@x,64]"), ("[64@x,64]", "[64,64@x]")):
            case = einsum("mk,kn->mn", f"f32{left}~mxfp8", f"f32{right}~mxfp8", "f32[64,64]", (("x", 2),))
            for options in ({}, {"via": "dense"}):
                driver, _ = installed(tuple(options.items()))
                reply = driver.run(case, [x.ravel().tolist(), w.ravel().tolist()])
                if NUMBER < (2, 9):
                    self.assertIn("since 2.9", reply["reason"])
                    continue
                if NUMBER == (2, 9) and not options:  # its jnp quantizers give gemm more than it takes
                    self.assertEqual(reply["type"], "reneged")
                    continue
                self.assertEqual(reply["blocks"][0]["data"], (x @ w).ravel().tolist(), (left, right, options))

    def test_blocks_of_rows_and_of_columns(self):
        values = [(n * 37 % 101 - 50) * 2 ** (n // 64 % 5) for n in range(64 * 64)]
        for scales in ("e8m0[64@x,2]", "e8m0[2@x,64]"):
            case = quantize("mxfp8", "f32[64@x,64]", "f8e4m3[64@x,64]", scales, (("x", 2),))
            one, other = (installed(of)[0].run(case, [values]) for of in ((), (("via", "dense"),)))
            if NUMBER < (2, 10):  # 2.9's jnp quantizers give another tensor
                self.assertTrue(other["type"] == "result" or "since 2.9" in other["reason"], other)
                continue
            self.assertEqual([b["data"] for b in one["blocks"]], [b["data"] for b in other["blocks"]], scales)

    def test_delayed_scaling_moves_the_history(self):
        case = quantize("fp8", "f32[4@x,4]", "f8e4m3[4@x,4]", "f32[]", (("x", 2),))
        case["operands"] += ["f32[3]", "f32[]"]
        case["chain"] += ["f32[3]", "f32[]"]
        for options in ({}, {"via": "dense"}):
            driver, _ = installed(tuple(options.items()))
            reply = driver.run(case, [list(range(16)), [0, 5, 60], [2]])
            of = lambda result: next(b["data"] for b in reply["blocks"] if b["result"] == result)
            self.assertEqual((of(1), of(2)), ([0.5], [0, 60, 15]), reply)
            self.assertEqual(of(3)[0], numpy.float32(448) / numpy.float32(60))


class BadInput(unittest.TestCase):
    def test_options(self):
        @dataclasses.dataclass
        class MeshResource:
            dp_resource: str = None
            fsdp_resource: str = None

        table = [({"resources": "foo:x"}, "resources: no resource 'foo'; this release has dp, fsdp"),
                 ({"resources": "fsdp"}, "resources: expected RESOURCE:AXIS"),
                 ({"resources": "fsdp:"}, "resources: expected RESOURCE:AXIS"),
                 ({"resources": "fsdp:a."}, "resources: expected RESOURCE:AXIS"),
                 ({"resources": "fsdp:a/fsdp:b"}, "resources: fsdp stands twice")]
        for options, words in table:
            with self.assertRaises(resources.Unknown) as raised:
                resources.parsed(options["resources"], MeshResource)
            self.assertIn(words, str(raised.exception))

    def test_a_worker_says_it_and_ends(self):
        env = {**os.environ, "PLUMB_OPTIONS": json.dumps({"resources": "foo:x"})}
        ended = subprocess.run([sys.executable, "-I", "-B", WORKER], env=env, capture_output=True, text=True)
        self.assertEqual(ended.returncode, 2)
        self.assertRegex(ended.stderr, "^te: resources: no resource 'foo'; this release has dp, tp")

    def test_limits_are_said_before_the_framework_is_called(self):
        mesh = (("x", 2), ("y", 2))
        square = "f32[32,32]"
        table = [(einsum("bmk,bkn->bmn", "f32[2,4,4]", "f32[2,4,4]", "f32[2,4,4]", mesh), "no batch dimensions"),
                 (einsum("mkb,kn->mbn", "f32[4,4,4]", "f32[4,4]", "f32[4,4,4]", mesh), "at one end"),
                 (einsum("mk,kn->nm", "f32[4,4]", "f32[4,4]", "f32[4,4]", mesh), "left operand's dimensions first"),
                 (einsum("mk,kn->mn", "f32[5@x,4]", "f32[4,4]", "f32[5,4]", mesh), "uneven split of an argument"),
                 (einsum("mk,kn->mn", square + "~fp8", square, square, mesh), "both operands or none"),
                 (einsum("mk,kn->mn", square + "~mxfp8", square + "~fp8", square, mesh), "in blocks or none"),
                 (einsum("mk,kn->mn", "f32[32,32@x]~mxfp8", "f32[32@x,32]~mxfp8", square, mesh),
                  "whole blocks of 32 of each device's" if NUMBER > (2, 8) else "since 2.9"),
                 (einsum("mk,kn->mn", square + "~mxfp8e5", square + "~mxfp8e5", square, mesh), "two e5m2 operands"),
                 (einsum("mk,kn->mn", square + "~fp8e5", square + "~fp8e5", square, mesh), "two e5m2 operands"),
                 (quantize("mxfp8", "f32[4,40]", "f8e4m3[4,40]", "e8m0[4,2]"), "whole blocks of 32"),
                 (quantize("fp8", "f32[4,8]", "f8e4m3[4,8]", "f32[4]"), "one scale for the whole array"),
                 (quantize("fp8", "f32[8]", "f8e4m3[8]", "f32[]"), "flatten an array to a matrix")]
        for case, words in table:
            _, (reply,) = ask([case])
            if NUMBER == (2, 9) and "blocks of 32 of each" in words:
                continue  # its jnp quantizers give gemm more than it takes
            self.assertEqual(reply["type"], "unsupported", reply)
            self.assertIn(words, reply["reason"])
        _, (reply,) = ask([table[0][0]], resources="fsdp:q", style="plan")
        self.assertEqual(reply["reason"], "resources name the axis q, which the mesh has not")


if __name__ == "__main__":
    unittest.main(warnings="ignore")
