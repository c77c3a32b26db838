"""scripts/nightly: nights that cannot begin, are cut short, or have a backend that does not run."""
import fcntl
import json
import os
import pathlib
import resource
import shutil
import signal
import sys
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "testing")]
import nights  # noqa: E402
from nights import HONEST, LIAR, PLUMB  # noqa: E402


class NightsThatFail(nights.Nights):
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

    def test_a_backend_that_does_not_start_is_no_first_night_that_is_well(self):
        for number, (script, said) in enumerate((("exit 7", "exited with code 7 (in start)"), ("echo no >/dev/fd/$PLUMB_REPLIES; sleep 9", "the reply to hello: "))):
            self.is_now(script)
            self.configure('["./mine", "local"]')
            first = self.night(f"{number}a")
            self.assertEqual(first.returncode, 2, first.err)
            self.assertIn("square: ./mine did not run: it does not start: ", first.out)
            self.assertIn(said, first.out)
            for words in ("Did not run", "it does not start: "):
                self.assertIn(words, self.page("index"))
            self.configure()
            alone = self.night(f"{number}b")
            self.assertEqual((alone.returncode, alone.out.splitlines()[0]), (2, "nothing ran"), alone.err)

    def test_a_backend_is_compared_with_the_night_in_which_it_answered_last(self):
        """It is broken in one night, and wrong in the next: no new beginning."""
        self.configure('["./mine", "local"]')
        self.assertEqual(self.night("1").returncode, 0)
        self.is_now("exit 7")
        broken = self.night("2")
        self.assertEqual(broken.returncode, 1, broken.err)
        self.is_now(LIAR)
        third = self.night("3")
        self.assertEqual(third.returncode, 1, third.err)
        row = self.told("3")["rows"][0]
        self.assertEqual((row["before"], row["others"]), ("2", {"./mine": "1"}))
        wrong = row["statuses"]["./mine"]["wrong"]
        self.assertEqual(row["counts"], {"regression": wrong, "same": 120 - wrong})
        self.assertIn("./mine did not answer in 2: it is compared with 1", self.page("compare"))
        self.assertEqual(list((self.folder / "history/nights/3").glob(".*")), [])

    def test_a_record_of_before_that_cannot_be_read_ends_the_night(self):
        self.night("1")
        record = self.folder / "history/nights/1/square.jsonl"
        record.write_text(record.read_text().replace('"status":"pass"', '"status":"great"', 1))
        second = self.night("2")
        self.assertEqual(second.returncode, 2, second.out)
        self.assertRegex(second.err, r"nightly: plumb compare: .*/1/square.jsonl:2: this line is not a record")

    def test_a_full_disk_leaves_the_pages_of_before_and_a_night_that_goes_on(self):
        self.assertEqual(self.night("1").returncode, 0)
        before = self.page("index")
        full = self.night("2", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000)))
        self.assertEqual(full.returncode, 3, full.out)
        self.assertIn("the night is not over", full.err)
        self.assertIn("--resume goes on", full.err)
        self.assertFalse((self.folder / "history/nights/2/night.json").exists())
        self.assertEqual(self.page("index"), before)
        self.assertEqual(self.ended("--resume").returncode, 0)
        self.assertEqual(self.told("2")["rows"][0]["statuses"], {"./mine": {"pass": 60}})

    def test_pages_for_which_there_is_no_room_are_written_later(self):
        full = self.night("1", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (3000000, 3000000)))
        self.assertEqual((full.returncode, full.out), (3, "nothing is worse: the first night\n"), full.err)
        self.assertIn("the pages are not written: ", full.err)
        self.assertIn("raise the limit\n  when that is mended, scripts/nightly CONFIG --pages goes on", full.err)
        self.assertEqual(self.ended("--pages").returncode, 0)
        self.check_links()

    def test_a_history_that_cannot_be_written_is_said_before_anything_runs(self):
        self.is_now(f"touch {self.folder}/ran; {HONEST}")
        (self.folder / "file").touch()
        for place, said in (("file", "this is a file, not a folder"), ("file/history", "a part of this path is a file"),
                            ("/proc/history", "it is not there, and cannot be made"), ("/sys", "history: /sys: this ")):
            config = self.folder / "config"
            self.configure()
            config.write_text(f'history = "{place}"\n{config.read_text()}')
            night = self.night("1")
            self.assertEqual((night.returncode, said in night.err), (2, True), night.err)
            self.assertNotRegex(night.err, r"Errno|Traceback")
        self.assertFalse((self.folder / "ran").exists())

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
        self.assertIn("nightly: a new night begins, 3; cut short before: 2\n", third.err)
        self.assertEqual(self.told("3")["before"], "1")
        self.assertIn("cut short, and not gone on with: 2", self.page("index"))
        misspelt = self.night("2x", "--resume")
        self.assertEqual((misspelt.returncode, misspelt.err), (2, "nightly: no night 2x was cut short, only 2; did you mean 2?\n"))
        second = self.night("2", "--resume")
        self.assertEqual((second.returncode, second.err), (0, ""))
        self.assertNotIn("cut short", self.page("index"))
        self.assertEqual(self.night("2").returncode, 2)
        nothing = self.night("2", "--resume")
        self.assertEqual((nothing.returncode, "the night 2 is over" in nothing.err), (2, True))
        self.assertEqual(self.ended("--resume").err, "nightly: no night was cut short: there is nothing to go on with\n")

    def test_a_night_that_alone_was_killed_ends_its_programs_and_goes_on(self):
        """And until these have ended it is no night of its own: what they have not judged has not vanished."""
        self.assertEqual(self.night("1").returncode, 0)
        self.is_now(f"echo $PPID > {self.folder}/plumb\nsleep 3\n{HONEST}")
        killed = self.begun("--night", "2")
        while not (self.folder / "plumb").exists() or not (self.folder / "plumb").read_text().endswith("\n"):
            self.assertIsNone(killed.poll(), "it ended before it began")
            time.sleep(0.01)
        os.kill(killed.pid, signal.SIGKILL)
        killed.communicate()
        self.is_now(HONEST)
        plumb = pathlib.Path("/proc") / (self.folder / "plumb").read_text().strip()
        while plumb.exists():
            time.sleep(0.01)
        ended = json.loads((self.folder / "history/nights/2/square.jsonl").read_text().splitlines()[-1])
        self.assertEqual(ended["unrun"], 60, "it was told to end")
        second = self.night("2", "--resume")
        self.assertEqual((second.returncode, second.out), (0, "nothing is worse\n"), second.err)
        self.assertEqual(self.told("2")["rows"][0]["statuses"], {"./mine": {"pass": 60}})

    def test_a_record_that_another_run_still_writes_closes_no_night(self):
        self.assertEqual(self.night("1").returncode, 0)
        record = self.folder / "history/nights/2/square.jsonl"
        record.parent.mkdir()
        with open(record, "w") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            second = self.night("2", "--resume")
            self.assertEqual((second.returncode, "nightly: another night is running: " in second.err), (2, True), second.out + second.err)
        self.assertFalse((record.parent / "night.json").exists())
        self.assertEqual(self.night("2", "--resume").returncode, 0)

    def test_a_night_that_is_told_to_end_says_how_it_goes_on(self):
        self.is_now(f"sleep 30\n{HONEST}")
        for name, told in (("1", signal.SIGINT), ("2", signal.SIGTERM), ("3", signal.SIGHUP)):
            night = self.begun("--night", name)
            self.wait_for(name, night)
            night.send_signal(told)
            _, err = night.communicate()
            self.assertEqual((night.returncode, err.splitlines()[-2:]), (3, ["nightly: the night is not over: it was told to end",
                                                                            "  the same command with --resume goes on"]))
        self.is_now(HONEST)
        third = self.ended("--resume")
        self.assertEqual((third.returncode, self.told("3")["rows"][0]["statuses"]), (0, {"./mine": {"pass": 60}}), third.err)

    def test_no_name_is_meant_where_none_was_given(self):
        (self.folder / "history/nights/2026-11-25T01-30-00Z").mkdir(parents=True)
        new = self.ended()
        self.assertRegex(new.err, r"cut short before: 2026-11-25T01-30-00Z\n")

    def test_nights_are_in_the_order_in_which_they_began_whatever_their_names(self):
        self.assertEqual(self.night("trial").returncode, 0)
        end = self.folder / "history/nights/trial/night.json"
        for then in ({"began": "2020-01-01T00-00-00Z"}, {"began": None, "ended": "2020-01-01T00-00-00Z"}):
            end.write_text(json.dumps(json.loads(end.read_text()) | then))
            night = self.night("1")
            self.assertEqual((night.returncode, self.told("1")["before"]), (0, "trial"), night.err)
            self.assertIn("<h1>Tonight: 1</h1>", self.page("index"))
            shutil.rmtree(self.folder / "history/nights/1")

    def test_before_is_the_last_of_the_nights_that_are_compared_with(self):
        self.configure('["./mine", "local"]')
        self.assertEqual(self.night("trial").returncode, 0)
        end = self.folder / "history/nights/trial/night.json"
        end.write_text(json.dumps(json.loads(end.read_text()) | {"began": "2020-01-01T00-00-00Z"}))
        self.is_now("exit 7")
        self.night("1")
        self.is_now(HONEST)
        self.night("2")
        row = self.told("2")["rows"][0]
        self.assertEqual((self.told("2")["before"], row["before"], row["others"]), ("1", "1", {"./mine": "trial"}))

    def test_a_night_in_which_nothing_ran_is_not_well(self):
        night = self.night("1", env={**os.environ, "PLUMB": "/bin/true"})
        self.assertEqual((night.returncode, night.out), (2, "nothing ran\n"), night.err)

    def test_parts_of_another_whole_or_at_work_are_not_merged_and_late_ones_refused(self):
        for part in ("1/3", "2/3"):
            self.assertEqual(self.night("1", "--shard", part).returncode, 0)
        for of in (2, 4):
            other = self.night("1", "--merge", str(of))
            self.assertEqual((other.returncode, other.err), (2, f"nightly: --merge {of}: there are parts of 3\n"))
        with open(self.folder / "history/parts/1/3-of-3.lock", "w") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            early = self.night("1", "--merge", "3")
            self.assertEqual((early.returncode, early.err), (2, "nightly: part 3/3 of the night 1 is running: merge when it has ended\n"))
        merged = self.night("1", "--merge", "3")
        self.assertEqual((merged.returncode, self.told("1")["rows"][0]["statuses"]), (2, {"./mine": {"pass": 40}}), merged.err)
        late = self.night("1", "--shard", "3/3")
        self.assertEqual((late.returncode, late.err), (2, "nightly: the night 1 is over\n"))

    def test_two_at_once_are_locked_apart(self):
        self.is_now(f"sleep 1\n{HONEST}")
        first = self.begun("--night", "1")
        self.wait_for("1", first)
        second = self.night("2")
        self.assertEqual((second.returncode, "another night is running" in second.err), (2, True))
        first.communicate()
        self.assertEqual(first.returncode, 0)

    def test_what_nobody_reads_is_refused(self):
        row = '[[judge]]\nname = "x"\n'
        for text, said in (("keeps = 3", "config:1: a file has no keeps; did you mean keep?\n"),
                           (row + '\n  flgas = "--suite smoke"', "config:4: [[judge]] has no flgas; did you mean flags?\n"),
                           (row + '[[bench]]\n[[judge]]\nname = "y"\nwaver = "w"', "config:6: [[judge]] has no waver; did you mean waivers?\n"),
                           (row + '[[bench]]\nname = "y"\n[[bench]]\nname = "x"', "config:6: two rows have the name x"),
                           ("x = ", "config:1: Invalid value\n  x = \n      ^\n"), ("\nx = 'a\n", "config:2: "),
                           ('fail-on = ["new-kind"]', "config:1: fail-on has no new-kind, only regression, "),
                           ('fail-on = ["new-kind"]', "did you mean new kind?"),
                           (row + "backends = []", "config:3: x: backends has to name one"),
                           (row + 'flags = "--suite smoke --sampel 3"',
                            "config:3: x: flags: there is no '--sampel'; did you mean --sample?\n  --suite smoke --sampel 3\n                ^\n"),
                           (row + 'flags = "--suite smokey"', "config:3: x: flags: "), (row + 'flags = "--suite smokey"', "smoke"),
                           (row + 'flags = "--suite smoke --record mine"',
                            "config:3: x: flags: '--record' is not for a row: the history has the record\n  --suite smoke --record mine\n                ^\n"),
                           *((row + f'flags = "--suite smoke {word}"', f"config:3: x: flags: '{word.partition('=')[0]}' is not for a row: ") for word in
                             ("--help", "-h", "--dry-run", "--backend=mpi", "--shard=1/2", "--resume", "--waivers=rows")),
                           (row + 'flags = "--suite smoke"\nbackends = ["local", "locl"]',
                            "config:4: x: backends: no backend 'locl'; did you mean local? (a command has a slash or a space in it)\n  locl\n  ^\n"),
                           (row + 'flags = "--suite smoke"\nbackends = ["local,plan=rng"]', "config:4: x: backends: no plan 'rng'; did you mean ring?"),
                           ("judge = [ # {\n  {name = 'x', flags = '--suite smoke {'},\n  {name = 'y', flag = 1}]", "config:3: [[judge]] has no flag; did you mean"),
                           ("[judge]\nname = 'x'", "config:1: judge has to be a table, as in [[judge]]"),
                           (row + 'flags = "--suite smoke --timeout 3"'.replace("judge", "bench") + '\n[[bench]]\nname = "y"\nflags = "--suite smoke --jobs 2"',
                            "config:6: y: flags: there is no '--jobs'"),
                           (row + 'flags = ""', "config:3: x: flags: no cases: name a --suite"),
                           (row, "config:1: x: flags: no cases"), (row + 'flags = "--suite smoke"\nwaivers = "rows"', "rows:1: expected ': '"),
                           ('fail-on = ["slow"]', "fail-on has no slow, only regression, "), ("", "there has to be a [[judge]]"), ("x", "config"),
                           ('[[judge]]\nflags = ""', "needs a name"), ("judge = 3", "judge has to be a table, as in [[judge]]"),
                           ('keep = "all"', "keep has to be a whole number above 0"), ("keep = 0", "keep has to be"),
                           ("history = 5", "history has to be a text"), ('[[judge]]\nname = "x"\nbackends = "local"', "backends has to be a list of texts"),
                           ('[[judge]]\nname = "x"\nflags = "\\"open"', "x: flags: No closing quotation"),
                           ('[[judge]]\nname = "x"\nwaivers = "none"', "x: there is no file none"), ("\udcff", "can't decode byte 0xff")):
            (self.folder / "rows").write_text("dear diary\n")
            (self.folder / "config").write_bytes(text.encode(errors="surrogateescape"))
            night = self.night("1")
            self.assertEqual((night.returncode, said in night.err), (2, True), night.err)
            self.assertFalse((self.folder / "history/nights").exists())
        (self.folder / "config").unlink()
        self.assertIn("config: No such file or directory; expected a configuration", self.night("1").err)

    def test_the_end_of_a_night_that_cannot_be_read_is_named(self):
        self.night("1")
        (self.folder / "history/nights/1/night.json").write_text("{")
        second = self.night("2")
        self.assertEqual(second.returncode, 2, second.err)
        self.assertIn("nights/1/night.json: ", second.err)
        self.assertNotIn("Traceback", second.err)


if __name__ == "__main__":
    unittest.main()
