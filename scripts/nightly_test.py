"""scripts/nightly: nights as they come and as they fail, on the embedded backend and on liars."""

import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
PLUMB = os.environ.get("PLUMB") or str(HERE.parent / "build/bin/plumb")
os.environ["PLUMB"] = PLUMB
LINES = "'on x=2,y=2: reshard f32[4,4]+* -> f32[4,4]+*' --sample 60"
HONEST, LIAR = f"exec {PLUMB}-local", f'PLUMB_OPTIONS=\'{{"fault":"drops-part"}}\' exec {PLUMB}-liar'


class Nights(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="plumb-nightly-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.is_now(HONEST)
        self.configure()

    def configure(self, backends='["./mine"]', flags=LINES, more=""):
        (self.folder / "config").write_text(f'keep = 3\n[[judge]]\nname = "square"\nflags = """{flags}"""\nbackends = {backends}\n{more}')

    def is_now(self, script):
        """What stands behind the backend ./mine."""
        (self.folder / "mine").write_text(f"#!/bin/sh\n{script}\n")
        (self.folder / "mine").chmod(0o755)

    def begun(self, *words, **more):
        return subprocess.Popen([sys.executable, "-B", HERE / "nightly", self.folder / "config", *words], text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)

    def night(self, name, *words, **more):
        process = self.begun("--night", name, *words, **more)
        process.out, process.err = process.communicate()
        return process

    def wait_for(self, name, process):
        """A night that has begun."""
        while not (self.folder / "history/nights" / name).exists():
            self.assertIsNone(process.poll(), "it ended before it began")
            time.sleep(0.01)

    def told(self, name):
        return json.loads((self.folder / "history/nights" / name / "night.json").read_text())

    def page(self, name):
        return (self.folder / "history/pages" / f"{name}.html").read_text()

    def whole(self, text):
        self.assertTrue(text.startswith("<!doctype html>") and text.endswith("</html>\n"))

    def check_links(self):
        """Every page is whole, leads to pages that are there, and asks nobody else."""
        pages = sorted((self.folder / "history/pages").rglob("*.html"))
        self.assertGreaterEqual(len(pages), 6)
        for page in pages:
            text = page.read_text()
            self.whole(text)
            for link in re.findall(r'(?:href|src)="([^"]*)"', text):
                if not link.startswith("data:"):
                    self.assertTrue((page.parent / link).exists(), f"{page.name}: {link}")
            self.assertNotRegex(text, r'(?:href|src)="(?:https?:)?//')

    def test_the_first_night_has_nothing_to_be_worse_than(self):
        self.is_now(LIAR)
        first = self.night("1")
        self.assertEqual((first.returncode, first.out), (0, "nothing is worse: the first night\n"), first.err)
        self.check_links()
        self.assertEqual(len(list((self.folder / "history/pages/map").glob("*.html"))), 1)
        self.assertIn("wrong", self.page("index"))

    def test_a_liar_in_the_place_of_an_honest_program_is_said(self):
        self.assertEqual(self.night("1").returncode, 0)
        self.is_now(LIAR)
        second = self.night("2")
        self.assertEqual(second.returncode, 1, second.err)
        row = self.told("2")["rows"][0]
        wrong = sum(kind["number"] for kind in row["kinds"] if kind["change"] == "regression")
        self.assertGreater(wrong, 5)
        self.assertEqual(wrong, row["statuses"]["./mine"]["wrong"])
        self.assertIn(f"square: {wrong} regression", second.out)
        self.assertIn("square: 1 new kind of finding", second.out)
        self.assertIn(f"square: {wrong} regression", self.page("index"))
        self.assertIn("pass", self.page("compare"))
        kinds = list((self.folder / "history/pages/kind").glob("*.html"))
        self.assertEqual(len(kinds), 1)
        text = kinds[0].read_text()
        self.assertIn("First seen in 2, last in 2", text)
        self.assertRegex(text, r"device|dev ")  # drawn device by device
        self.assertIn("plumb run --backend ./mine", text)
        self.check_links()
        report = (self.folder / "history/nights/2/square.xml").read_text()
        self.assertEqual(report.count("<failure"), wrong)
        self.is_now(HONEST)
        third = self.night("3")
        self.assertEqual(third.returncode, 0, third.out)
        self.assertEqual(sum(kind["number"] for kind in self.told("3")["rows"][0]["kinds"] if kind["change"] == "fixed"), wrong)

    def test_what_is_right_when_it_is_judged_again_is_flaky(self):
        self.assertEqual(self.night("1").returncode, 0)
        (self.folder / "once").touch()
        self.is_now(f"if rm {self.folder}/once 2>/dev/null; then {LIAR}; fi\n{HONEST}")
        second = self.night("2")
        row = self.told("2")["rows"][0]
        self.assertEqual(len(row["flaky"]), sum(kind["number"] for kind in row["kinds"] if kind["change"] == "regression"))
        self.assertNotIn("regression", second.out)

    def test_a_backend_that_is_not_there_is_named_and_the_others_run(self):
        self.configure('["jax@0.0.1", "./mine"]')
        night = self.night("1")
        self.assertEqual(night.returncode, 2, night.err)
        self.assertIn("square: jax@0.0.1 did not run: ", night.out)
        self.assertEqual(self.told("1")["rows"][0]["statuses"], {"./mine": {"pass": 60}})
        self.assertIn("jax@0.0.1", self.page("index"))

    def test_a_full_disk_leaves_the_pages_of_before_and_a_night_that_goes_on(self):
        self.assertEqual(self.night("1").returncode, 0)
        before = self.page("index")
        full = self.night("2", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000)))
        self.assertEqual(full.returncode, 3, full.out)
        self.assertIn("the night is not over", full.err)
        self.assertFalse((self.folder / "history/nights/2/night.json").exists())
        self.assertEqual(self.page("index"), before)
        self.assertEqual(self.night("2").returncode, 0)
        self.assertEqual(self.told("2")["rows"][0]["statuses"], {"./mine": {"pass": 60}})

    def test_a_night_that_was_killed_is_named_and_not_compared_with(self):
        self.assertEqual(self.night("1").returncode, 0)
        self.is_now(f"sleep 0.3\n{HONEST}")
        killed = self.begun("--night", "2", start_new_session=True)
        self.wait_for("2", killed)
        os.killpg(killed.pid, signal.SIGKILL)
        killed.communicate()
        self.is_now(HONEST)
        third = self.night("3")
        self.assertEqual(third.returncode, 0, third.err)
        self.assertEqual(self.told("3")["before"], "1")
        self.assertIn("cut short, and not gone on with: 2", self.page("index"))
        self.assertEqual(self.night("2").returncode, 0)
        self.assertNotIn("cut short", self.page("index"))
        self.assertEqual(self.night("2").returncode, 2)

    def test_two_at_once_are_locked_apart(self):
        self.is_now(f"sleep 1\n{HONEST}")
        first = self.begun("--night", "1")
        self.wait_for("1", first)
        second = self.night("2")
        self.assertEqual((second.returncode, "another night is running" in second.err), (2, True))
        first.communicate()
        self.assertEqual(first.returncode, 0)

    def test_four_hundred_nights_are_pages_and_their_records_are_not_kept(self):
        self.is_now(LIAR)
        self.night("0001")
        one = self.folder / "history/nights/0001"
        for n in range(2, 401):
            shutil.copytree(one, one.with_name(f"{n:04}"))
        night = self.night("0401")
        self.assertEqual(night.returncode, 0, night.err)
        kept = sorted(record.parent.name for record in (self.folder / "history/nights").glob("*/*.jsonl"))
        self.assertEqual(kept, ["0399", "0400", "0401"])
        kind = next((self.folder / "history/pages/kind").glob("*.html")).read_text()
        self.assertIn("First seen in 0001, last in 0401", kind)
        self.check_links()

    def test_parts_become_one_night_and_a_missing_one_is_named(self):
        self.assertEqual(self.night("1").returncode, 0)
        for part in (1, 2, 4):
            self.assertEqual(self.night("2", "--shard", f"{part}/4").returncode, 0)
        second = self.night("2", "--merge", "4")
        self.assertEqual(second.returncode, 2, second.err)
        self.assertIn("part 3/4 is missing", second.out)
        self.assertIn("part 3/4 is missing", self.page("index"))
        row = self.told("2")["rows"][0]
        self.assertEqual(row["statuses"], {"./mine": {"pass": 45}})
        self.assertEqual((row["counts"].get("vanished", 0), row["counts"]["not compared"]), (0, 15))
        for part in (1, 2, 3, 4):
            self.night("3", "--shard", f"{part}/4")
        self.assertEqual(self.night("3", "--merge", "4").returncode, 0)
        self.assertEqual(self.told("3")["rows"][0]["statuses"], {"./mine": {"pass": 60}})

    def test_what_nobody_reads_is_refused(self):
        for text, said in (("keeps = 3", "has no keeps"), ("", "there has to be a [[judge]]"), ("x", "config"),
                           ('[[judge]]\nflags = ""', "needs a name")):
            (self.folder / "config").write_text(text)
            night = self.night("1")
            self.assertEqual((night.returncode, said in night.err), (2, True), night.err)


if __name__ == "__main__":
    unittest.main()
