"""What both workers of logical axis rules are tried on: a question, and a worker to ask.

To import JAX and Flax takes seconds, and many workers are started: they are forked from this process, which has both;
`as_harness` starts one as the harness does.
"""

import contextlib
import json
import os
import runpy
import signal
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, os.pardir, "python")]

os.environ["JAX_PLATFORMS"] = "cpu"

import drive
import flax.linen
import flax.nnx

XYU = {"axes": [["x", 2], ["y", 2], ["u", 1]]}

KINDS = {str: "name", tuple: "tuple", list: "list", type(None): "none"}


def ask(names, *rules, sizes=(8, 8, 8), mesh=XYU):
    """The protocol's case; a rule is a pair as a user writes it."""
    written = [{"name": name, "value": KINDS[type(v)], "axes": [v] if isinstance(v, str) else list(v or ())}
               for name, v in rules]
    array = f"f32[{','.join(map(str, sizes[: len(names)]))}]"
    return {"mesh": mesh, "op": "resolve", "policy": "first", "names": list(names), "rules": written,
            "operands": [], "chain": [array], "line": f"{names} {rules}"}


class Child:
    """A forked process, with what Popen has."""

    def __init__(self, run):
        self.pid, self.code = os.fork(), None
        if self.pid == 0:
            code = 70
            try:
                run()
            except SystemExit as e:
                code = e.code if isinstance(e.code, int) else 1
            finally:
                os._exit(code)

    def kill(self):
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)

    def wait(self):
        if self.code is None:
            self.code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.code


class Forked(drive.Driver):
    """Runs the worker with a Flax that was tampered with by Python text."""

    def begin(self, command, channel, env, stderr):
        def run():
            null = os.open(os.devnull, os.O_RDWR)
            for standard in range(3):
                os.dup2(null, standard)
            for end in (self.requests, self.replies):  # those of the other side
                os.close(end)
            os.environ.update(env)
            worker, tamper = command
            sys.argv = [worker]
            exec(tamper, {})
            runpy.run_path(worker, run_name="__main__")

        return Child(run)


def start(worker, tamper="", **options):
    driver = Forked([worker, tamper], PLUMB_OPTIONS=json.dumps(options))
    driver.first = driver.hello(XYU)
    return driver


def as_harness(worker):
    driver = drive.Driver([sys.executable, "-I", worker], stderr=subprocess.DEVNULL)
    driver.first = driver.hello(XYU)
    return driver


def end(driver):
    driver.process.kill()
    driver.process.wait()
    driver.replies.close()
    os.close(driver.requests)


class Worker(unittest.TestCase):
    """The worker without options is started once, as the harness does; others live until the next is started."""

    WORKER, PLAIN, OTHER = None, [], []

    def start(self, tamper="", **options):
        plain = not tamper and not options
        kept = self.PLAIN if plain else self.OTHER
        if not plain:
            self.end_other()
        if not kept:
            kept.append(as_harness(self.WORKER) if plain else start(self.WORKER, tamper, **options))
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
