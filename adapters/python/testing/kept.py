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
