"""What the tests of workers share: cases by their specs, and workers that are kept from test to test."""

import json
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import drive

XY = {"axes": [["x", 2], ["y", 2]]}


def reshard(*specs, mesh=XY):
    return {"mesh": mesh, "op": "reshard", "operands": list(specs[:1]), "chain": list(specs[1:]),
            "line": " ".join(specs)}


def einsum(letters, left, right, *chain, mesh=XY):
    ins, out = letters.split("->")
    lhs, rhs = ins.split(",")
    return {"mesh": mesh, "op": "einsum", "lhs": lhs, "rhs": rhs, "out": out, "operands": [left, right],
            "chain": list(chain), "line": letters}


def greeted(driver):
    reply = driver.hello(XY)
    assert reply["type"] == "hello", reply
    return driver


def end(driver):
    driver.process.kill()
    driver.process.wait()
    driver.replies.close()
    driver.arena.close()


class Worker(unittest.TestCase):
    """Tests of one program, `worker`. `patched` is Python that runs the program argv[1] with a framework that the Python
    in argv[2] has tampered with."""

    worker = patched = None
    honest = {}  # those that were not tampered with, by program and options: a start takes longer than most tests

    def begin(self, noise, tamper=None, options=None):
        """A new worker, which says its warnings to the file `noise`. Whoever begins it ends it."""
        command = [sys.executable, "-I", "-B"] + (["-c", self.patched, self.worker, tamper] if tamper else [self.worker])
        return drive.Driver(command, stderr=noise, PLUMB_OPTIONS=json.dumps(options or {}))

    def timed(self, driver, case, data, **how):
        """The reply to `bench`, and the first result and the last, of which both came out as `check` wants them."""
        timing = {"warmups": 1, "iterations": 5, "batch": 2, "sync": "barrier", **how}
        reply = driver.run(case, data, timing)
        self.assertEqual(reply["type"], "result", reply)
        self.assertIn("the time of a whole program, dispatch included", reply["notes"])
        for row in reply["clocks"]:
            self.assertEqual(len(row), 1 + 2 * timing["iterations"])
            in_time = [when for when in row[1:] if when >= 0]
            self.assertEqual(in_time, sorted(in_time), "an iteration is left before the next is entered")
        self.assertEqual(len({row[0] for row in reply["clocks"]}), 1, "one machine, one clock")
        return reply, driver.fetch(True), driver.fetch(False)

    def start(self, tamper=None, **options):
        key = json.dumps([self.worker, options], sort_keys=True)
        if tamper is None and key in self.honest:
            return self.honest[key]
        with tempfile.TemporaryFile() as noise:  # a file, as the harness gives: what was warned is read back from it
            driver = self.begin(noise, tamper, options)
        if tamper is None:
            self.honest[key] = driver
            unittest.addModuleCleanup(end, driver)
        else:
            self.addCleanup(end, driver)
        return greeted(driver)
