"""scripts/timeline, its traces read by Perfetto's own trace processor."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "testing")]

try:
    import trace_processor
except ImportError:
    trace_processor = None

SLICES = ("select ts, dur, slice.name as name, process.name as process, thread.name as thread from slice "
          "join thread_track on slice.track_id = thread_track.id join thread using (utid) join process using (upid) "
          "order by ts, thread")
NOTES = "select key, display_value as value from args where arg_set_id = (select min(arg_set_id) from slice)"
SKEWS = "select ts, value from counter order by ts"
PROBLEMS = "select name, value from stats where severity in ('error', 'data_loss') and value > 0"
START = 26_515_362_072_008


def record(ranks, trace, **more):
    reached = {"repetition": 1, "nanoseconds": [3000], "ranks": ranks}
    return {"case": "on x=2: reshard f32[8]+x -> f32[8]", "backend": "mpi,np=2", "trace": trace, "bench": reached, **more}


def rank(*times, clock=7, start=START):
    """A rank's clock, of (enter, leave) after the start; None where it came late."""
    absolute = [(-1, -1) if t is None else (start + t[0], start + t[1]) for t in times]
    return {"clock": clock, "enter": [t[0] for t in absolute], "leave": [t[1] for t in absolute]}


SUM = [{"kind": "all-reduce", "groups": [[0, 1]], "in": 32, "out": 32, "dtype": "f32"}]


@unittest.skipUnless(trace_processor and trace_processor.NODE, "needs scripts/environment matplotlib@3.11.2, and Node")
class Timeline(unittest.TestCase):
    def read(self, records, *queries):
        with tempfile.TemporaryDirectory() as folder:
            path, out = os.path.join(folder, "r.jsonl"), os.path.join(folder, "r.pftrace")
            with open(path, "w") as file:
                file.writelines(json.dumps(one) + "\n" for one in records)
            ran = subprocess.run([sys.executable, os.path.join(HERE, "timeline"), path, "--out", out],
                                 capture_output=True, text=True)
            self.assertEqual(ran.returncode, 0, ran.stderr)
            with open(out, "rb") as file:
                *found, problems = trace_processor.asked(file.read(), [*queries, PROBLEMS])
        self.assertEqual(problems, [])
        return found

    def test_each_rank_is_a_track_and_each_iteration_a_slice_from_entry_to_exit(self):
        ranks = [rank((0, 3000), (5000, 9000)), rank((400, 3200), (5100, 9900))]
        slices, notes, skews = self.read([record(ranks, SUM)], SLICES, NOTES, SKEWS)
        self.assertEqual([(s["thread"], s["ts"], s["dur"]) for s in slices],
                         [("rank 0", 0, 3000), ("rank 1", 400, 2800), ("rank 0", 5000, 4000), ("rank 1", 5100, 4800)])
        self.assertEqual({s["name"] for s in slices}, {"all-reduce"})
        self.assertEqual({s["process"] for s in slices}, {"on x=2: reshard f32[8]+x -> f32[8]  mpi,np=2"})
        self.assertEqual({n["key"].removeprefix("debug."): n["value"] for n in notes if n["key"].startswith("debug.")},
                         {"iteration": "0", "slowest rank": "0", "repetition": "1", "collective 1": "all-reduce 32 B {0,1}"})
        self.assertEqual([(s["ts"], s["value"]) for s in skews], [(400, 400), (5100, 100)])

    def test_who_comes_late_has_no_slice_and_the_iteration_no_skew(self):
        slices, skews = self.read([record([rank((0, 3000), (5000, 9000)), rank((400, 2500), None)], SUM * 2)], SLICES, SKEWS)
        self.assertEqual([s["thread"] for s in slices], ["rank 0", "rank 1", "rank 0"])
        self.assertEqual({s["name"] for s in slices}, {"reshard"}, "two collectives, of which no iteration says when each was")
        self.assertEqual(len(skews), 1)

    def test_collectives_are_slices_within_a_run_by_itself(self):
        one = record([rank((0, 3000)), rank((5, 2500))], [SUM[0], {**SUM[0], "kind": "all-gather"}])
        one["bench"]["collectives"] = [rank((10_000, 10_000), (11_000, 14_000), (15_000, 18_000), (19_000, 19_000)),
                                       rank((10_100, 10_100), (11_100, 14_100), (15_100, 18_100), (19_100, 19_100))]
        within = ("select s.name, s.ts, s.dur, p.name as parent from slice s join slice p on s.parent_id = p.id "
                  "order by s.ts")
        slices, nested = self.read([one], SLICES, within)
        self.assertEqual([(s["name"], s["ts"], s["dur"]) for s in slices if "itself" in s["name"]],
                         [("reshard by itself", 10_000, 9000), ("reshard by itself", 10_100, 9000)])
        self.assertEqual([(s["name"], s["ts"], s["dur"], s["parent"]) for s in nested],
                         [("all-reduce", 11_000, 3000, "reshard by itself"), ("all-reduce", 11_100, 3000, "reshard by itself"),
                          ("all-gather", 15_000, 3000, "reshard by itself"), ("all-gather", 15_100, 3000, "reshard by itself")])

    def test_ranks_of_several_clocks_begin_together_and_have_no_skew(self):
        slices, skews = self.read([record([rank((0, 3000)), rank((5, 2500), clock=8, start=17)], SUM)], SLICES, SKEWS)
        self.assertEqual([(s["ts"], s["dur"]) for s in slices], [(0, 3000), (0, 2495)])
        self.assertEqual(skews, [])

    def test_cases_and_repetitions_follow_each_other_on_one_line(self):
        later = record([rank((20_000, 21_000)), rank((20_100, 21_000))], [], case="on x=2: einsum mk,kn->mn f32[8,8] f32[8,8] -> f32[8,8]")
        again = record([rank((30_000, 31_000)), rank((30_100, 31_000))], SUM)
        slices, = self.read([record([rank((0, 3000)), rank((1, 3000))], SUM), later, again], SLICES)
        self.assertEqual([s["ts"] for s in slices], [0, 1, 20_000, 20_100, 30_000, 30_100])
        self.assertEqual(len({s["process"] for s in slices}), 2)
        self.assertEqual(slices[2]["name"], "einsum")

    def test_a_record_without_ranks_or_times_is_refused(self):
        bare = record([], SUM)
        for one, words in ((bare, "--each-rank"), ({**bare, "bench": None}, "hold no times"), ("nothing", "not a record")):
            self.refused(json.dumps(one) + "\n", words)

    def refused(self, text, words):
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
            file.write(text)
            file.flush()
            ran = subprocess.run([sys.executable, os.path.join(HERE, "timeline"), file.name, "--out", "/dev/null"],
                                 capture_output=True, text=True)
        self.assertEqual((ran.returncode, ran.stderr.count("\n")), (2, 1), ran.stderr)
        self.assertIn(words, ran.stderr)

    def test_clocks_that_do_not_fit_each_other_are_no_record(self):
        well = rank((0, 3000), (4000, 5000))
        for ranks in ([well, rank((0, 3000))], [{**well, "leave": [1]}], [{**well, "enter": ["soon", 2]}], [{"enter": [], "leave": []}],
                      [{**well, "leave": [START - 1, START + 9000]}], [{**well, "enter": [2**70, 1]}], {"rank": 0}, "ranks"):
            self.refused(json.dumps(record(ranks, SUM)) + "\n", "not a record: ranks")
        self.refused("".join(json.dumps(record(ranks, SUM)) + "\n" for ranks in ([well], [well, well])), "2: this line is not a record: ranks")
        for turns in ([rank((0, 1))], [rank((0, 1), (1, 2), None)], []):
            one = record([well, well], SUM)
            one["bench"]["collectives"] = turns + [rank((0, 1), (1, 2), (3, 4))]
            self.refused(json.dumps(one) + "\n", "not a record: collectives")
        self.refused(json.dumps(record([well], [{"kind": 7}])) + "\n", "not a record: trace")

    def test_who_came_late_every_time_has_collectives_all_the_same(self):
        one = record([rank((0, 3000)), rank(None, clock=8)], SUM)
        one["bench"]["collectives"] = [rank((1, 1), (2, 3), (4, 4)), rank((1, 1), (2, 3), (4, 4), clock=8)]
        slices, = self.read([one], SLICES)
        self.assertEqual([s["thread"] for s in slices if s["name"] == "all-reduce" and s["dur"] == 1], ["rank 1", "rank 0"])


if __name__ == "__main__":
    unittest.main()
