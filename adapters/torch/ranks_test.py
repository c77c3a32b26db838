"""Worlds of ranks that die, fail or stay away: one verdict each, and nothing left behind."""

import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, os.pardir, "python"), os.path.join(HERE, os.pardir, "python", "testing")]

import kept
import worker_test
from kept import reshard

CASE = reshard("f32[4@x]", "f32[4]")


def children(pid):
    listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True).stdout
    return [int(p) for p in listed.split()]


def gone(pids, seconds=10):
    """Whether none of these processes lives any more."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if not any(os.path.exists(f"/proc/{p}") for p in pids):
            return True
        time.sleep(0.05)
    return False


class Ranks(worker_test.Worker):
    def start(self, tamper=None):
        self.words = tempfile.TemporaryFile("w+")
        self.addCleanup(self.words.close)
        driver = self.begin(self.words, tamper)
        self.addCleanup(kept.end, driver)
        return kept.greeted(driver)

    def said(self):
        self.words.seek(0)
        return self.words.read()

    def test_ranks_live_on_from_case_to_case(self):
        driver = self.start()
        driver.run(CASE)
        before = children(driver.process.pid)
        driver.run(CASE)
        self.assertEqual(len(before), 4)
        self.assertEqual(children(driver.process.pid), before)

    def test_a_killed_rank_ends_the_worker_the_same_way(self):
        driver = self.start()
        driver.run(CASE)
        pids = children(driver.process.pid)
        os.kill(pids[2], signal.SIGKILL)
        self.assertEqual(driver.run(CASE), {"type": "died", "code": -signal.SIGKILL})
        self.assertIn("rank 2 of 4 was killed by SIGKILL", self.said())
        self.assertTrue(gone(pids))

    def test_a_rank_that_aborts_in_the_middle(self):
        driver = self.start("real = DTensor.redistribute\n"
                            "def redistribute(self, **k):\n"
                            "    if dist.get_rank() == 1: os.abort()\n"
                            "    return real(self, **k)\n"
                            "DTensor.redistribute = redistribute")
        self.assertEqual(driver.run(CASE), {"type": "died", "code": -signal.SIGABRT})
        self.assertIn("rank 1 of 4 was killed by SIGABRT", self.said())

    def test_one_rank_raises_and_the_others_wait_for_it(self):
        driver = self.start("real = DTensor.redistribute\n"
                            "def redistribute(self, **k):\n"
                            "    if dist.get_rank() == 1 and self.shape[0] == 4: raise ValueError('rank 1 will not')\n"
                            "    return real(self, **k)\n"
                            "DTensor.redistribute = redistribute")
        driver.run(reshard("f32[8@x]", "f32[8]"))
        before = children(driver.process.pid)
        reply = driver.run(CASE)
        self.assertEqual((reply["type"], reply["message"]), ("reneged", "ValueError: rank 1 will not"))
        self.assertIn("on rank 1", reply["detail"])
        self.assertTrue(gone(before))
        self.assertEqual(driver.run(reshard("f32[8@x]", "f32[8]"))["type"], "result")

    def test_a_rank_that_never_joins(self):
        driver = self.start("import rank, ranks, time\nranks.JOIN = 3\n"
                            "real = rank.join\n"
                            "def join(number, *a):\n"
                            "    if number == 3: time.sleep(1000)\n"
                            "    return real(number, *a)\n"
                            "rank.join = join")
        reply = driver.run(CASE)
        self.assertEqual(reply["type"], "reneged")
        self.assertIn("rank 3 did not join", reply["message"])
        self.assertEqual(children(driver.process.pid), [])

    def test_no_rank_outlives_the_worker(self):
        driver = self.start()
        driver.run(CASE)
        pids = children(driver.process.pid)
        driver.process.kill()
        self.assertTrue(gone(pids))

    def test_a_rank_that_prints_harms_nobody(self):
        driver = self.start("real = DTensor.redistribute\n"
                            "def redistribute(self, **k):\n"
                            "    print('{\"type\":\"result\"}', flush=True)\n"
                            "    return real(self, **k)\n"
                            "DTensor.redistribute = redistribute")
        self.assertEqual(driver.run(CASE)["claims"], ["f32[4]"])


if __name__ == "__main__":
    unittest.main()
