"""scripts/nightly: what nights that come to their end say."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest
import unittest.mock
import xml.etree.ElementTree

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "testing")]
import nights  # noqa: E402
from nights import HONEST, LIAR, LINES  # noqa: E402
from night import again as night_again, cost, history, judging, pages, tool  # noqa: E402


class NightsThatEnd(nights.Nights):
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
            for said in (second.out, self.page("coverage")):
                self.assertEqual("waivers:1: this waiver expired on 2001-01-31 (an/issue)" in said, code == 1)

    def test_a_waiver_that_is_not_needed_any_more_is_said(self):
        self.configure(flags=LINES.replace("--sample 60", "--where is=unfinished"), more='waivers = "waivers"\n')
        row = "wrong on ./mine until 2999-12-31 for an/issue: op=reshard"
        (self.folder / "waivers").write_text(f"# mine\n{row}\n")
        self.is_now(LIAR)
        self.assertEqual(self.night("1").returncode, 0)
        self.is_now(HONEST)
        second = self.night("2")
        self.assertEqual(second.returncode, 1, second.err)
        self.assertRegex(second.out, r"square: waivers:2: \d+ of its cases ran on ./mine and none was wrong: the waiver is not needed")
        for name in ("index", "coverage"):
            self.assertIn("the waiver is not needed", self.page(name))
        for part in (1, 2, 4):
            self.night("3", "--shard", f"{part}/4")
        self.assertNotIn("not needed", self.night("3", "--merge", "4").out, "the part that is missing may need it")

    def failing(self, name):
        """What the JUnit of a night says that does not hold, as the night says it; the names of all its cases."""
        file = self.folder / f"history/nights/{name}/night.junit.xml"
        if shutil.which("xmllint"):
            schema = HERE.parent / "harness/report/junit-10.xsd"
            subprocess.run(["xmllint", "--noout", "--schema", schema, file], check=True, capture_output=True)
        suites = xml.etree.ElementTree.parse(file).getroot()
        red = lambda suite: sum(len(case) for case in suite)
        for suite in suites:
            self.assertEqual(red(suite), int(suite.get("failures")) + int(suite.get("errors")))
        said = [(suite.get("name").removeprefix("night."), case.get("name"), case[0].get("message"))
                for suite in suites for case in suite if len(case)]
        return said, [case.get("name") for suite in suites for case in suite]

    def test_junit_of_a_night_has_all_that_makes_it_red_and_the_same_cases_each_night(self):
        self.configure('["./mine", "jax@0.0.1"]', more='waivers = "waivers"\n')
        (self.folder / "waivers").write_text("hung on ./mine until 2001-01-31 for an/issue: op=reshard\n")
        first = self.night("1")
        said, names = self.failing("1")
        self.assertEqual([(row, what) for row, what, _ in said], [("square", "jax@0.0.1 runs"), ("square", f"waiver {names[-1].removeprefix('waiver ')}")])
        self.assertEqual(names[:-1], ["./mine runs", "jax@0.0.1 runs", *judging.FAIL_ON])
        self.is_now(LIAR)
        second = self.night("2")
        self.assertEqual((first.returncode, second.returncode), (1, 1))
        said, again = self.failing("2")
        self.assertEqual(again, names)
        self.assertEqual([what for _, what, _ in said], ["jax@0.0.1 runs", "regression", judging.NEW, names[-1]])
        lines = {f"{row}: {words}" if not what.endswith(" runs") else f"{row}: {what[:-5]} did not run: {words}" for row, what, words in said}
        self.assertEqual(lines, {line for line in second.out.splitlines() if not line.startswith(" ")})
        self.configure()
        for part in (1, 2, 4):
            self.night("3", "--shard", f"{part}/4")
        self.night("3", "--merge", "4")
        self.assertIn(("parts", "part 3/4", "it is missing: what it would have judged is not compared"), self.failing("3")[0])

    def test_what_is_right_when_it_is_judged_again_is_flaky(self):
        self.assertEqual(self.night("1").returncode, 0)
        (self.folder / "once").touch()
        self.is_now(f"if rm {self.folder}/once 2>/dev/null; then {LIAR}; fi\n{HONEST}")
        second = self.night("2")
        row = self.told("2")["rows"][0]
        self.assertEqual(len(row["flaky"]), sum(kind["number"] for kind in row["kinds"] if kind["change"] == "regression"))
        self.assertNotIn("regression", second.out)

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
        other = self.night("33", "--merge", "4")
        self.assertEqual((other.returncode, other.err), (2, "nightly: there is no part of a night 33; did you mean 3?\n"))
        self.configure(flags="--suite smoke")
        other = self.night("3", "--merge", "4")
        self.assertEqual(other.returncode, 2, "judged by another configuration")
        self.assertIn("part 1/4 of the night 3 was judged by another configuration", other.err)
        self.configure()
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
        why = pages.why_paced({"became": "UNSURE", "again": 2, "beside": "jax@1", "besides": "the limit was slower as well"})
        self.assertEqual(why, "the limit was slower as well; slower again 2 times of 3; side by side with jax@1")

    def test_a_row_is_timed_again_while_something_is_slower_each_time(self):
        said = self.folder / "then.jsonl"
        said.write_text('{"backend":"b"}\n')
        times = lambda *all_times: [{"case": str(n), "backend": "b", "became": one} for n, one in enumerate(all_times)]
        for answers, again, runs in (((("SLOWER",),) * 3, [3], 3), ((("SAME",),), [0], 1), ((("SLOWER",), ("UNSURE",)), [1], 2),
                                     ((("SLOWER", "SAME"), ("SLOWER", "SLOWER"), ("SLOWER", "SLOWER")), [3, 0], 3)):
            asked, left = [], list(answers)
            first = times(*["SLOWER"] * len(answers[0]))
            record = self.folder / night_again.AGAIN
            with unittest.mock.patch.multiple(tool, plumb=lambda base, *words: (asked.append(words), record.write_text("")) and
                                              unittest.mock.Mock(returncode=0), compared=lambda *words: {"times": times(*left.pop(0))}):
                night_again.slow_again({"flags": ["--suite", "s"], "backends": ["b"], "kind": "bench", "base": self.folder}, self.folder, said, first)
            self.assertEqual(([one["again"] for one in first], len(asked)), (again, runs))
            self.assertEqual([one["became"] for one in first], ["SLOWER" if times == 3 else "UNSURE" for times in again])
            self.assertEqual(asked[0][:3], ("bench", "--suite", "s"))

    def test_a_release_of_before_that_is_still_here_is_timed_side_by_side(self):
        """And so settles what was UNSURE; where it is gone, what was SLOWER is timed alone."""
        then, record = self.folder / "then.jsonl", self.folder / night_again.AGAIN
        then.write_text('{"run":"r"}\n{"backend":"jax@1"}\n{"backend":"other@1"}\n')
        row = {"flags": ["--suite", "s"], "backends": ["jax@2"], "kind": "bench", "base": self.folder}
        for here, became, again, runs in ((True, "UNSURE", 3, 3), (True, "SLOWER", 3, 3), (False, "SLOWER", 3, 4), (False, "UNSURE", None, 1)):
            asked, compared = [], []
            time = {"case": "c", "backend": "jax", "became": became}

            def plumb(base, *words):
                asked.append(words)
                record.write_text('{"run":"r"}\n' + "".join(f'{{"backend":"{one}"}}\n' for one in words if one.startswith("jax@")))
                return unittest.mock.Mock(returncode=tool.BAD if "jax@1" in words and not here else 0)

            def compare(row, was, now):
                now.with_suffix(".xml").touch()
                compared.append([was.read_text(), now.read_text()])
                return {"times": [time | {"became": "SLOWER"}]}
            with unittest.mock.patch.multiple(tool, plumb=plumb, compared=compare):
                night_again.slow_again(row, self.folder, then, [time])
            self.assertEqual((time.get("again"), time["became"], len(asked)), (again, "SLOWER" if here else became, runs))
            self.assertEqual(time.get("beside"), "jax@1" if here else None)
            self.assertIn("jax@1", asked[0])
            if here:
                self.assertEqual(compared[0], ['{"run":"r"}\n{"backend":"jax@1"}\n', '{"run":"r"}\n{"backend":"jax@2"}\n'])
            self.assertEqual([file.name for file in self.folder.glob(".again*")], [])

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

    def test_a_page_that_compares_two_nights_sees_passes_that_rest_on_less_as_plumb_compare_does(self):
        self.night("1")
        self.is_now(HONEST.replace("exec", 'PLUMB_OPTIONS=\'{"data":"none"}\' exec'))
        self.assertEqual(self.night("2").returncode, 1)
        said, status = {}, {}
        for name in ("1", "2"):
            call = (self.folder / "history/nights" / name / "square.js").read_text()
            said[name] = json.loads(f"[{call.removeprefix('night(').removesuffix(');' + chr(10))}]")[2]
            status[name] = [list(said[name]["becomes"])[ord(letter) - ord("a")] for letter in said[name]["backends"]["./mine"]["statuses"]]
        self.assertEqual((set(status["1"]), set(status["2"])), ({"pass"}, {"pass (plan)"}))
        self.assertEqual(said["2"]["becomes"]["pass"]["pass (plan)"], "coverage lost")
        self.assertEqual(self.told("2")["rows"][0]["counts"], {"coverage lost": 60})
        self.assertEqual(said["2"]["becomes"]["pass (plan)"]["pass"], "coverage gained")
        self.assertEqual({one: said["2"]["becomes"][one]["pass (clones)"] for one in ("wrong", "unrun", "pass (plan)", "pass (clones)", "pass (in place)")},
                         {"wrong": "fixed", "unrun": "not compared", "pass (plan)": "coverage gained", "pass (clones)": "same",
                          "pass (in place)": "coverage lost"})

    def test_lines_of_nights_that_are_forgotten_are_too(self):
        self.night("1")
        self.configure(flags="'on x=2: reshard f32[4]+* -> f32[4]+*'")
        for n, files in ((2, 2), (3, 2), (4, 1)):
            self.night(str(n))
            self.assertEqual(len(list((self.folder / "history/lines").glob("*"))), files)


if __name__ == "__main__":
    unittest.main()
