"""What both workers of logical axis rules are tried on: a question, and a worker run as the harness runs it."""

import json
import os
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, os.pardir, "python")]

import drive

XYU = {"axes": [["x", 2], ["y", 2], ["u", 1]]}

# Runs the worker with a Flax that was tampered with: argv[2] is Python text.
PATCHED = """
import runpy, sys
tamper, sys.argv = sys.argv[2], [sys.argv[1]]
exec(tamper)
runpy.run_path(sys.argv[0], run_name="__main__")
"""
KINDS = {str: "name", tuple: "tuple", list: "list", type(None): "none"}


def ask(names, *rules, sizes=(8, 8, 8), mesh=XYU):
    """The protocol's case; a rule is a pair as a user writes it."""
    written = [{"name": name, "value": KINDS[type(v)], "axes": [v] if isinstance(v, str) else list(v or ())}
               for name, v in rules]
    array = f"f32[{','.join(map(str, sizes[: len(names)]))}]"
    return {"mesh": mesh, "op": "resolve", "policy": "first", "names": list(names), "rules": written,
            "operands": [], "chain": [array], "line": f"{names} {rules}"}


def start(worker, tamper=None, **options):
    command = [sys.executable, "-I"] + (["-c", PATCHED, worker, tamper] if tamper else [worker])
    driver = drive.Driver(command, stderr=subprocess.DEVNULL, PLUMB_OPTIONS=json.dumps(options))
    driver.first = driver.hello(XYU)
    return driver


def end(driver):
    driver.process.kill()
    driver.process.wait()
    driver.replies.close()


class Worker(unittest.TestCase):
    """The worker without options is started once, for a start takes longer than most tests; others, which hold some
    hundred MB each, live until the next is started."""

    WORKER, PLAIN, OTHER = None, [], []

    def start(self, tamper=None, **options):
        plain = tamper is None and not options
        kept = self.PLAIN if plain else self.OTHER
        if not plain:
            self.end_other()
        if not kept:
            kept.append(start(self.WORKER, tamper, **options))
        return kept[0]

    @classmethod
    def end_other(cls):
        while cls.OTHER:
            end(cls.OTHER.pop())

    @classmethod
    def tearDownClass(cls):
        cls.end_other()
        while cls.PLAIN:
            end(cls.PLAIN.pop())

    def claim(self, driver, *question, **more):
        """The claim, or the type of the error that says there is no layout."""
        reply = driver.run(ask(*question, **more))
        if reply["type"] == "refused":
            return reply["message"].split(":")[0]
        self.assertEqual(reply["type"], "result", reply)
        return reply["claims"][0]
