"""The worker's loop, in a process of its own, with a backend that does what the line says."""

import os
import signal
import struct
import subprocess
import sys
import tempfile
import unittest

import drive
from plumb_worker.clock import Stages, Timing, timed
from plumb_worker.loop import Arena, Malformed, Result, answer, fetched, last_lines

FAKE = """
import sys
sys.path.insert(0, sys.argv[1])
from plumb_worker import Limit, Result, serve, spec_text

class Fake:
    def hello(self, mesh):
        print("noise on standard output", flush=True)
        return {"name": "fake", "devices": {"count": 2, "kind": "cpu"}, "capabilities": {}}

    def limit(self, case):
        return Limit("too odd", "the fake") if case.line == "odd" else None

    def run(self, case, operands, started):
        started()
        if case.line == "raise":
            raise RuntimeError("first line\\nsecond line")
        view, shape = operands[0]
        if case.line == "huge":
            return Result([(0, 0, bytes(1 << 24), None)], [None])
        half = len(view) // 2
        blocks = [(0, 0, view[:half], [[[0, 2]]]), (1, 0, view[half:], None)]
        return Result(blocks, [spec_text("f32", shape, ((case.axes[0],),))], trace=[{"kind": "send"}],
                      compile_seconds=0.5, run_seconds=[0.25], notes=["a note"])

sys.exit(serve(Fake()))
"""
HERE = os.path.dirname(os.path.abspath(__file__))
COMMAND = [sys.executable, "-I", "-c", FAKE, HERE]
CASE = {"mesh": {"axes": [["x", 2]]}, "op": "reshard", "operands": ["f32[4]"], "chain": ["f32[4@x]"], "line": "a"}


class Loop(unittest.TestCase):
    def setUp(self):
        self.errors = tempfile.TemporaryFile("w+")
        self.driver = drive.Driver(COMMAND, stderr=self.errors)

    def tearDown(self):
        self.driver.process.kill()
        self.driver.process.wait()
        self.driver.replies.close()
        self.errors.close()

    def said(self):
        self.errors.seek(0)
        return self.errors.read()

    def hello(self):
        return self.driver.hello(CASE["mesh"])

    def test_hello(self):
        self.assertEqual(self.hello(), {"type": "hello", "version": 1, "name": "fake", "capabilities": {},
                                        "devices": {"count": 2, "kind": "cpu"}})

    def test_a_result_with_its_blocks(self):
        self.hello()
        reply = self.driver.run(CASE, [[1, 2, 3, 4]])
        self.assertEqual(reply["blocks"], [{"device": 0, "result": 0, "slices": [[[0, 2]]], "data": [1, 2]},
                                           {"device": 1, "result": 0, "slices": None, "data": [3, 4]}])
        self.assertEqual((reply["id"], reply["claims"], reply["trace"]), (1, ["f32[4@x]"], [{"kind": "send"}]))
        self.assertEqual((reply["times"], reply["notes"]), ({"compile": 0.5, "run": [0.25]}, ["a note"]))

    def test_many_cases_while_the_arena_grows(self):
        self.hello()
        for n in (4, 40, 4000, 400000, 4):
            case = {**CASE, "operands": [f"f32[{n}]"], "chain": [f"f32[{n}@x]"]}
            blocks = self.driver.run(case, [list(range(n))])["blocks"]
            self.assertEqual(blocks[0]["data"] + blocks[1]["data"], list(range(n)))

    def test_a_limit(self):
        self.hello()
        self.assertEqual(self.driver.run({**CASE, "line": "odd"}),
                         {"type": "unsupported", "id": 1, "reason": "too odd", "source": "the fake"})

    def test_an_exception_is_reneged_and_the_next_case_runs(self):
        self.hello()
        reply = self.driver.run({**CASE, "line": "raise"})
        self.assertEqual((reply["type"], reply["message"]), ("reneged", "RuntimeError: first line"))
        self.assertIn("second line", reply["detail"])
        self.assertEqual(self.driver.run(CASE)["type"], "result")

    def test_blocks_that_the_arena_cannot_hold(self):
        self.hello()
        reply = self.driver.run({**CASE, "line": "huge"})
        self.assertEqual(reply["type"], "reneged")
        self.assertIn("MemoryError: blocks and table need", reply["message"])

    def test_it_ends_with_its_requests(self):
        self.hello()
        self.assertEqual(self.driver.close(), 0)

    def test_an_interrupt_is_the_harness_to_handle(self):
        self.hello()
        os.kill(self.driver.process.pid, signal.SIGINT)
        self.assertEqual(self.driver.run(CASE)["type"], "result")

    def test_what_is_not_on_the_page_ends_it_with_a_message(self):
        far = {"type": "run", "id": 1, "line": "", "arena": 64, "free": 0,
               "operands": [{"offset": 0, "bytes": 99, "shape": [4]}],
               "case": {**CASE, "operands": [drive.spec("f32[4]")], "chain": [drive.spec("f32[4@x]")]}}
        table = [([3], "not a message"), ({"type": "dance"}, "unexpected message of type 'dance'"),
                 ({"type": "run", "id": 1}, "run: KeyError"), (far, "the file is shorter"),
                 ({**far, "arena": 0}, "past the arena's 0 bytes")]
        for message, words in table:
            with self.subTest(words):
                self.tearDown()
                self.setUp()
                self.hello()
                self.assertEqual(self.driver.ask(message), {"type": "died", "code": 2})
                self.assertIn(words, self.said())

    def test_another_version(self):
        hello = {"type": "hello", "versions": [7], "arena": self.driver.arena.name, "mesh": CASE["mesh"]}
        reply = self.driver.ask(hello)
        self.assertEqual(reply, {"type": "died", "code": 2})
        self.assertIn("speaks version 1", self.said())

    def test_no_channel(self):
        env = {k: v for k, v in os.environ.items() if not k.startswith("PLUMB_")}
        child = subprocess.run(COMMAND, env=env, capture_output=True, text=True)
        self.assertEqual(child.returncode, 2)
        self.assertIn("no channel", child.stderr)


class Timed(unittest.TestCase):
    def test_the_clock_is_around_each_batch_alone_and_the_first_result_stays(self):
        made = []
        stages = Stages(lambda: made.append(len(made)) or made[-1])
        first, last, clock = timed(stages, Timing(warmups=2, iterations=3, batch=2))
        self.assertEqual(made, list(range((2 + 3) * 2)))
        self.assertEqual((first, last), (5, 9))
        self.assertEqual(len(clock), 1 + 2 * 3)
        self.assertEqual(clock[1:], sorted(clock[1:]))

    def test_of_one_iteration_first_and_last_are_one(self):
        self.assertEqual(timed(Stages(lambda: 5), Timing(0, 1, 1))[:2], (5, 5))

    def test_what_happens_around_the_clock(self):
        done = []
        log = lambda word, value=None: lambda *_: done.append(word) or value
        agreed = lambda timing, longest: done.append("agree") or (lambda i: done.append("meet") or i != 1)
        row = timed(Stages(log("run", 1), log("keep"), log("wipe"), log("ready"), agreed), Timing(1, 3, 1))[2]
        self.assertEqual(" ".join(done), "ready run agree wipe ready meet run keep ready meet run wipe ready meet run keep")
        self.assertEqual(row[3:5], [-1, -1], "it came late")
        self.assertEqual(row.count(-1), 2)

    def test_a_timed_case_keeps_its_blocks_and_gives_either(self):
        with tempfile.NamedTemporaryFile() as file:
            file.truncate(4096)
            arena, kept = Arena(file.name), []
            result = Result([(0, 0, bytes([2, 2]), None)], [None], first=[(0, 0, bytes([1, 1]), None)],
                            clock=[[7, 10, 20], [7, 11, 21]])
            backend = type("Fake", (), {"limit": lambda s, c: None, "run": lambda s, c, o, started: result})()
            request = {"type": "bench", "id": 1, "line": "", "arena": 4096, "free": 0, "operands": [], "warmups": 0,
                       "iterations": 1, "batch": 1, "sync": "none",
                       "case": {**CASE, "operands": [drive.spec("f32[4]")], "chain": [drive.spec("f32[4@x]")]}}
            reply = answer(backend, arena, request, None, kept)
            at = reply["clock"]["offset"]
            self.assertEqual(reply["clock"]["ranks"], 2)
            self.assertEqual(struct.unpack("<6q", arena.bytes[at:at + 48]), (7, 10, 20, 7, 11, 21))
            self.assertEqual(reply["notes"], ["the time of a whole program, dispatch included"])
            self.assertEqual(reply["table"]["offset"], 0, "no block lies before it")
            for first, data in ((True, 1), (False, 2)):
                again = fetched(arena, {"id": 2, "arena": 4096, "free": 64, "first": first}, kept)
                self.assertEqual(again["id"], 2)
                self.assertEqual(bytes(arena.bytes[64:66]), bytes([data, data]))
        with self.assertRaises(Malformed):
            fetched(arena, {"id": 3, "arena": 4096, "free": 64}, [])


class LastLines(unittest.TestCase):
    def test_they_name_no_folder_of_the_machine(self):
        try:
            exec(compile("raise ValueError('no')", "/somewhere/env/lib/site-packages/jax/x.py", "exec"))
        except ValueError as error:
            message, detail = last_lines(error)
        self.assertEqual(message, "ValueError: no")
        self.assertIn('File "site-packages/jax/x.py", line 1', detail)
        self.assertNotIn(os.path.dirname(os.path.abspath(__file__)), detail)


if __name__ == "__main__":
    unittest.main()
