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
import unittest.mock

HERE = pathlib.Path(__file__).resolve().parent
PLUMB = os.environ.get("PLUMB") or str(HERE.parent / "build/bin/plumb")
os.environ["PLUMB"] = PLUMB
sys.path.insert(0, str(HERE))
from night import cost, history, judging  # noqa: E402

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
        self.assertIn(f"square: {wrong} regressions\n", second.out)
        self.assertIn("square: 1 new kind of finding", second.out)
        self.assertIn(f"square: {wrong} regressions", self.page("index"))
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

    def test_a_waiver_that_is_over_is_said_and_one_that_is_not_holds(self):
        self.assertEqual(self.night("1").returncode, 0)
        self.is_now(LIAR)
        self.configure(more='waivers = "waivers"\n')
        row = "wrong on ./mine until {} for an/issue: op=reshard"
        for until, code in (("2999-12-31", 0), ("2001-01-31", 1)):
            (self.folder / "waivers").write_text(row.format(until) + "\n")
            shutil.rmtree(self.folder / "history/nights/2", ignore_errors=True)
            second = self.night("2")
            self.assertEqual((second.returncode, "regressions" in second.out), (code, code == 1), second.out + second.err)
            self.assertEqual("a waiver is over since 2001-01-31: wrong on ./mine" in second.out, code == 1)
            self.assertEqual("2001-01-31: over" in self.page("coverage"), code == 1)

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

    def test_a_night_in_which_nothing_ran_is_passed_over_by_the_next(self):
        self.night("1")
        self.is_now(f"exec {PLUMB}-liar")  # without a fault: it does not start
        nothing = self.night("2")
        self.assertEqual(nothing.returncode, 2, nothing.err)
        self.assertTrue(nothing.out.startswith("nothing ran\nsquare: ./mine did not run: "), nothing.out)
        self.is_now(LIAR)
        wrong = self.night("3")
        self.assertEqual((wrong.returncode, wrong.err), (1, ""))
        self.assertIn("regressions", wrong.out)
        self.assertEqual(self.told("3")["rows"][0]["before"], "1")
        self.is_now(HONEST)
        self.assertEqual(self.night("4").returncode, 0)

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
        for kind in ("jsonl", "js"):
            kept = sorted(file.parent.name for file in (self.folder / "history/nights").glob(f"*/*.{kind}"))
            self.assertEqual(kept, ["0399", "0400", "0401"])
        self.assertEqual(len(list((self.folder / "history/pages/nights").glob("*"))), 3)
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

    def test_parts_that_begin_side_by_side_and_another_scheduler_are_one_night(self):
        parts = HERE / "nightly-parts"
        whole = lambda *words: subprocess.run([parts, self.folder / "config", "4", *words], capture_output=True, text=True,
                                              env={**os.environ, "PLUMB_NIGHT": words[0].strip("-")})
        self.configure(more="[[bench]]\nname = 'gather'\nflags = \"\"\"'on x=2: reshard f32[8@x] -> f32[8]' --iterations 3\"\"\"\n")
        here = whole("--here")
        self.assertEqual(here.returncode, 0, here.stderr)
        self.assertEqual(self.told("here")["rows"][0]["statuses"], {"./mine": {"pass": 60}})
        self.assertEqual(self.told("here")["rows"][1]["statuses"], {"local": {"pass": 1}})
        commands = whole("--print").stdout.splitlines()
        self.assertEqual(len(commands), 5)
        for command in commands:
            self.assertEqual(subprocess.run(["bash", "-c", command]).returncode, 0, command)
        self.assertEqual((self.told("print")["before"], self.told("print")["rows"][0]["counts"]), ("here", {"same": 60}))

    def test_what_makes_a_night_red_is_chosen(self):
        self.assertEqual(self.night("1").returncode, 0)
        self.is_now(LIAR)
        for chosen, code in ((["regression"], 1), (["new kind"], 1), (["vanished", "slower"], 0), ([], 0)):
            self.configure()
            config = self.folder / "config"
            config.write_text(f"fail-on = {json.dumps(chosen)}\n{config.read_text()}")
            shutil.rmtree(self.folder / "history/nights/2", ignore_errors=True)
            night = self.night("2")
            self.assertEqual(night.returncode, code, (chosen, night.out))
            report = (self.folder / "history/nights/2/square.xml").read_text()
            self.assertEqual("<failure" in report, "regression" in chosen, chosen)
            self.assertIn("new", self.page("index"))

    def test_slower_alone_makes_no_night_red_and_is_timed_again_where_it_does(self):
        """A bench of a program that says how long it took: the same bits, as many nanoseconds as it is told."""
        rows = [{"became": became, "again": again} for became, again in
                (("SLOWER", 3), ("SLOWER", 2), ("SLOWER", 0), ("FASTER", 3), ("UNSURE", 3), ("SAME", 3))]
        self.assertEqual([judging.is_slower(time) for time in rows], [True] + [False] * 5)
        told = {"rows": [{"name": "row", "kinds": [], "findings": [], "times": rows}]}
        self.assertEqual(judging.bad(told | {"fail_on": judging.FAIL_ON}), [])
        self.assertEqual(judging.bad(told | {"fail_on": ["slower"]}), ["row: 1 slower"])
        self.assertEqual(judging.bad({"rows": [told["rows"][0] | {"times": rows[1:]}], "fail_on": ["slower"]}), [])

    def test_a_row_is_timed_again_while_something_is_slower_each_time(self):
        said = self.folder / "then.jsonl"
        said.write_text('{"backend":"b"}\n')
        times = lambda *all_times: [{"case": str(n), "backend": "b", "became": one} for n, one in enumerate(all_times)]
        for answers, again, runs in (((("SLOWER",),) * 3, [3], 3), ((("SAME",),), [0], 1), ((("SLOWER",), ("UNSURE",)), [1], 2),
                                     ((("SLOWER", "SAME"), ("SLOWER", "SLOWER"), ("SLOWER", "SLOWER")), [3, 0], 3)):
            asked, left = [], list(answers)
            first = times(*["SLOWER"] * len(answers[0]))
            record = self.folder / "again.jsonl"
            with unittest.mock.patch.multiple(judging, plumb=lambda base, *words: (asked.append(words), record.write_text("")) and
                                              unittest.mock.Mock(returncode=0), compared=lambda *words: {"times": times(*left.pop(0))}):
                judging.slow_again({"flags": ["--suite", "s"], "backends": ["b"], "kind": "bench"}, self.folder, self.folder, said, first)
            self.assertEqual(([one["again"] for one in first], len(asked)), (again, runs))
            self.assertEqual([one["became"] for one in first], ["SLOWER" if times == 3 else "UNSURE" for times in again])
            self.assertEqual(asked[0][:3], ("bench", "--suite", "s"))

    def test_a_release_of_before_that_is_still_here_is_timed_side_by_side(self):
        """And so settles what was UNSURE; where it is gone, what was SLOWER is timed alone."""
        then, record = self.folder / "then.jsonl", self.folder / "again.jsonl"
        then.write_text('{"run":"r"}\n{"backend":"jax@1"}\n{"backend":"other@1"}\n')
        row = {"flags": ["--suite", "s"], "backends": ["jax@2"], "kind": "bench"}
        for here, became, again, runs in ((True, "UNSURE", 3, 3), (True, "SLOWER", 3, 3), (False, "SLOWER", 3, 4), (False, "UNSURE", None, 1)):
            asked, compared = [], []
            time = {"case": "c", "backend": "jax", "became": became}

            def plumb(base, *words):
                asked.append(words)
                record.write_text('{"run":"r"}\n' + "".join(f'{{"backend":"{one}"}}\n' for one in words if one.startswith("jax@")))
                return unittest.mock.Mock(returncode=judging.BAD if "jax@1" in words and not here else 0)

            def compare(row, base, was, now):
                compared.append([was.read_text(), now.read_text()])
                return {"times": [time | {"became": "SLOWER"}]}
            with unittest.mock.patch.multiple(judging, plumb=plumb, compared=compare):
                judging.slow_again(row, self.folder, self.folder, then, [time])
            self.assertEqual((time.get("again"), time["became"], len(asked)), (again, "SLOWER" if here else became, runs))
            self.assertEqual(time.get("beside"), "jax@1" if here else None)
            self.assertIn("jax@1", asked[0])
            if here:
                self.assertEqual(compared[0], ['{"run":"r"}\n{"backend":"jax@1"}\n', '{"run":"r"}\n{"backend":"jax@2"}\n'])
            self.assertEqual([file.name for file in self.folder.glob("again*")], [])

    def test_a_step_in_a_series_is_marked(self):
        import random
        draw = random.Random(1)
        values = [draw.gauss(1, 0.01) * (1.12 if night >= 60 else 1) for night in range(72)]
        bytes_moved = lambda took: 1.6 if took < 1.06 else 1.6000000000000003  # the same logarithms, summed in another order
        night = lambda took, cases=9: history.Night("n", None, {"rows": [{
            "name": "row", "machine": "m", "backends": ["b"], "costs": [{"backend": "b", "op": "reshard", "devices": 4, "cases": cases,
                                                                        "bytes": bytes_moved(took),
                                                                        "compile": None, "run": None, "bench": took}]}]})
        found = cost.series([night(value) for value in values])
        marked = cost.marks(found)
        if marked is None:
            self.skipTest(f"scripts/environment {cost.OTAVA}")
        self.assertEqual([mark[0] for marks in marked["bench"].values() for mark in marks], [60])
        self.assertEqual([mark for marks in marked["bytes"].values() for mark in marks], [])
        others = cost.marks(cost.series([night(value, 9 if n < 60 else 7) for n, value in enumerate(values)]))
        self.assertEqual([mark for marks in others["bench"].values() for mark in marks], [], "a mean of fewer cases is another mean")

    def test_every_two_nights_have_what_a_page_needs_to_compare_them(self):
        self.assertEqual(self.night("1").returncode, 0)
        self.is_now(LIAR)
        self.night("2")
        for name in ("1", "2"):
            call = (self.folder / "history/pages/nights" / name / "square.js").read_text()
            called, row, said = json.loads(f"[{call.removeprefix('night(').removesuffix(');' + chr(10))}]")
            self.assertEqual((called, row), (name, "square"))
            of = said["backends"]["./mine"]
            statuses = [list(said["becomes"])[ord(letter) - ord("a")] for letter in of["statuses"]]
            lines = (self.folder / f"history/pages/lines/{of['lines']}.js").read_text()
            _, lines = json.loads(f"[{lines.removeprefix('lines(').removesuffix(');' + chr(10))}]")
            records = [json.loads(line) for line in (self.folder / "history/nights" / name / "square.jsonl").read_text().splitlines()]
            self.assertEqual(dict(zip(lines, statuses)), {one["case"]: one["status"] for one in records if "case" in one})
            self.assertEqual([at for at, _ in of["kinds"]], [at for at, status in enumerate(statuses) if status == "wrong"])
        self.assertEqual(len(list((self.folder / "history/lines").glob("*"))), 1)  # the same lines, once

    def test_lines_of_nights_that_are_forgotten_are_too(self):
        self.night("1")
        self.configure(flags="'on x=2: reshard f32[4]+* -> f32[4]+*'")
        for n, files in ((2, 2), (3, 2), (4, 1)):
            self.night(str(n))
            self.assertEqual(len(list((self.folder / "history/lines").glob("*"))), files)

    def test_what_nobody_reads_is_refused(self):
        for text, said in (("keeps = 3", "has no keeps"), ('fail-on = ["slow"]', "fail-on has no slow, only regression, "), ("", "there has to be a [[judge]]"), ("x", "config"),
                           ('[[judge]]\nflags = ""', "needs a name"), ("judge = 3", "judge has to be a table, as in [[judge]]"),
                           ('keep = "all"', "keep has to be a whole number above 0"), ("keep = 0", "keep has to be"),
                           ("history = 5", "history has to be a text"), ('[[judge]]\nname = "x"\nbackends = "local"', "backends has to be a list of texts"),
                           ('[[judge]]\nname = "x"\nflags = "\\"open"', "x: flags: No closing quotation"),
                           ('[[judge]]\nname = "x"\nwaivers = "none"', "x: there is no file none"), ("\udcff", "can't decode byte 0xff")):
            (self.folder / "config").write_bytes(text.encode(errors="surrogateescape"))
            night = self.night("1")
            self.assertEqual((night.returncode, said in night.err), (2, True), night.err)

    def test_the_end_of_a_night_that_cannot_be_read_is_named(self):
        self.night("1")
        (self.folder / "history/nights/1/night.json").write_text("{")
        second = self.night("2")
        self.assertEqual(second.returncode, 2, second.err)
        self.assertIn("nights/1/night.json: ", second.err)
        self.assertNotIn("Traceback", second.err)


if __name__ == "__main__":
    unittest.main()
