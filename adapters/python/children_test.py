"""A worker whose framework dies of a case: the case is answered for, and the next one needs no new import."""

import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import drive

FAKE = """
import os, signal, sys
sys.path.insert(0, sys.argv[1])
from plumb_worker import Result, serve_in_children, spec_text

print("imported", file=sys.stderr, flush=True)

class Fake:
    def hello(self, mesh):
        print("started", file=sys.stderr, flush=True)
        if os.path.exists(sys.argv[2]):
            os.kill(os.getpid(), signal.SIGSEGV)
        return {"name": "fake", "devices": {"count": 2, "kind": "cpu"}, "capabilities": {}}

    def limit(self, case):
        return None

    def run(self, case, operands, started):
        word, *rest = case.line.split()
        if word == "die":
            os.kill(os.getpid(), int(rest[0]))
        if word == "exit":
            os._exit(int(rest[0]))
        if word == "later":
            signal.setitimer(signal.ITIMER_REAL, 0.05)
        view, shape = operands[0]
        return Result([(d, 0, view, [[[0, 4]]]) for d in (0, 1)], [spec_text("f32", shape, ((),))],
                      notes=[str(os.getpid())])

sys.exit(serve_in_children(Fake()))
"""
HERE = os.path.dirname(os.path.abspath(__file__))
CASE = {"mesh": {"axes": [["x", 2]]}, "op": "reshard", "operands": ["f32[4]"], "chain": ["f32[4]"]}


class Children(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.fatal = os.path.join(self.folder.name, "fatal")
        self.errors = tempfile.TemporaryFile("w+")
        self.driver = drive.Driver([sys.executable, "-I", "-c", FAKE, HERE, self.fatal], stderr=self.errors)

    def tearDown(self):
        self.driver.process.kill()
        self.driver.process.wait()
        self.driver.replies.close()
        self.errors.close()
        self.folder.cleanup()

    def said(self, word):
        self.errors.seek(0)
        return self.errors.read().split().count(word)

    def run_case(self, line):
        return self.driver.run({**CASE, "line": line}, [[1, 2, 3, 4]])

    def test_a_case_that_kills_is_answered_for_and_the_framework_is_imported_once(self):
        self.driver.hello(CASE["mesh"])
        for number, name in ((6, "Aborted"), (11, "Segmentation fault"), (9, "Killed")):
            first = self.run_case("live")
            self.assertEqual(first["blocks"][1]["data"], [1, 2, 3, 4])
            self.assertEqual(self.run_case("live")["notes"], first["notes"])  # one child, many cases
            asked = self.driver.count
            self.assertEqual(self.run_case(f"die {number}"),
                             {"type": "crashed", "id": asked + 1, "message": f"killed by signal {number} ({name})"})
            self.assertNotEqual(self.run_case("live")["notes"], first["notes"])
        self.assertEqual((self.said("imported"), self.said("started")), (1, 4))

    def test_an_exit_is_the_programs(self):
        self.driver.hello(CASE["mesh"])
        self.assertEqual(self.run_case("exit 3"), {"type": "died", "code": 3})

    def test_a_death_in_hello_is_the_programs(self):
        open(self.fatal, "w").close()
        self.assertEqual(self.driver.hello(CASE["mesh"]), {"type": "died", "code": -signal.SIGSEGV})

    def test_a_death_in_the_next_childs_hello_is_the_programs(self):
        self.driver.hello(CASE["mesh"])
        open(self.fatal, "w").close()
        self.assertEqual(self.run_case("die 6")["type"], "crashed")
        self.assertEqual(self.run_case("live"), {"type": "died", "code": -signal.SIGSEGV})

    def test_a_death_between_cases_is_the_programs(self):
        self.driver.hello(CASE["mesh"])
        self.run_case("later")
        self.assertEqual(self.driver.process.wait(timeout=60), -signal.SIGALRM)

    def test_it_ends_with_the_requests(self):
        self.driver.hello(CASE["mesh"])
        self.run_case("live")
        os.close(self.driver.requests)
        self.assertEqual(self.driver.process.wait(timeout=60), 0)

    def test_a_child_dies_with_its_parent(self):
        self.driver.hello(CASE["mesh"])
        child = int(self.run_case("live")["notes"][0])
        self.driver.process.kill()
        self.driver.process.wait()
        for _ in range(600):
            state = subprocess.run(["ps", "-p", str(child), "-o", "stat="], capture_output=True, text=True).stdout
            if state[:1] in ("", "Z"):
                return
            time.sleep(0.1)
        self.fail(f"{child} outlives its parent")


if __name__ == "__main__":
    unittest.main()
