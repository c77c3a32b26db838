"""scripts/plot: what its pictures show of records whose numbers are known."""

import importlib.machinery
import importlib.util
import json
import lzma
import os
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE]

import bench_records  # noqa: E402

try:
    import matplotlib  # noqa: F401

    loader = importlib.machinery.SourceFileLoader("plot", os.path.join(HERE, "plot"))
    plot = importlib.util.module_from_spec(importlib.util.spec_from_loader("plot", loader))
    loader.exec_module(plot)
except ImportError:
    plot = None

LINKS = {"case": "on x=3: reshard f32[3]+x -> f32[3]", "backend": "mpi,np=3",
         "bench": {"repetition": 1, "nanoseconds": [], "links": [[0, 1, 1500, 3000], [0, 2, 4000, 8000], [1, 2, 2000, 4000]]}}


def record(case, nanoseconds, backend="mpi", kind="all-gather", **more):
    """`more`: size, devices, factor of the work; what a send took; bytes received in all."""
    work = {"kind": kind, "devices": more.get("devices", 2), "bytes": more.get("size", 0), "factor": more.get("factor", 0),
            "flops": 0}
    bench = {"nanoseconds": nanoseconds, "repetition": 1, "work": work, "limits": {}}
    if "send" in more:
        bench["limits"]["send"] = more["send"]
    return {"case": case, "backend": backend, "bench": bench, "bytes": {"best_known": more.get("moved", 0)},
            "environment": {"cpu": "a <processor>", "cores": 2}, "program": backend, "versions": {"mpi": "4"}}


def gather(size, devices, nanoseconds, **more):
    return record(f"on x={devices}: reshard f32[{size // 4}@x] -> f32[{size // 4}]", nanoseconds, size=size, devices=devices,
                  factor=(devices - 1) / devices, moved=size * (devices - 1), **more)


def drawn(axes):
    """The lines of axes as lists of points, the dashed ones apart."""
    points = lambda line: [(float(x), float(y)) for x, y in zip(*line.get_data()) if y is not None]
    solid = [points(line) for line in axes.lines if line.get_linestyle() == "-" and line.get_marker() != "None"]
    return solid, [points(line) for line in axes.lines if line.get_linestyle() == "--"]


@unittest.skipUnless(plot, "needs scripts/environment matplotlib@3.11.2")
class Pictures(unittest.TestCase):
    def test_bus_bandwidth_and_its_limit(self):
        records = [gather(1024, 4, [100, 300, 200], send=128), gather(4096, 4, [400] * 9, send=512), gather(4096, 4, [600], send=256)]
        axes = plot.bandwidth(plot.timed_cases(records)).axes[0]
        solid, dashed = drawn(axes)
        self.assertEqual(solid, [[(1024, 0.75 * 1024 / 200), (4096, 0.75 * 4096 / 500)]], "the middle of the medians of repetitions, whatever number of samples they have")
        self.assertEqual(dashed, [[(1024, 8), (4096, 4096 / 384)]], "the middle of the sends")
        self.assertEqual((axes.get_title(), axes.get_ylabel()), ("all-gather", "bus bandwidth, GB/s"))
        spans = [line for line in axes.lines if line.get_marker() == "None" and line.get_linestyle() == "-"]
        self.assertEqual([list(line.get_ydata()) for line in spans][1], [0.75 * 4096 / 400, 0.75 * 4096 / 600])

    def test_p95_is_of_all_samples_and_no_repetition_counts_more(self):
        case, = plot.timed_cases([gather(1024, 4, one) for one in ([100] * 19 + [900], [100] * 20, [700], [100] * 400)])
        self.assertEqual([case.of_all(percent) for percent in (50, 73, 74, 98, 99)], [100, 100, 700, 700, 900])
        self.assertIn("<td>700 ns</td>", plot.table([case]))

    def test_each_kind_has_a_panel_and_each_backend_a_line(self):
        records = [gather(1024, 4, [100]), gather(4096, 4, [400]), gather(1024, 4, [90], backend="torch"),
                   record("on x=2: reshard f32[8]+x -> f32[8]", [50], kind="all-reduce", size=32, factor=1)]
        figure = plot.bandwidth(plot.timed_cases(records))
        titles = {axes.get_title(): len(drawn(axes)[0]) for axes in figure.axes if axes.get_visible()}
        self.assertEqual(titles, {"all-gather": 2, "all-reduce": 1})
        self.assertIsNone(plot.bandwidth(plot.timed_cases([record("on x=1: einsum k,k-> f32[8] f32[8] -> f32[]", [1])])))

    def test_no_two_names_look_alike(self):
        looks = plot.Looks()
        self.assertEqual(len({tuple(looks[name].values()) for name in range(40)}), 40)

    def test_time_against_the_mesh_of_fixed_arrays_and_of_a_fixed_share(self):
        fixed = [gather(8192, n, [time]) for n, time in ((2, 100), (4, 180), (8, 350))]
        share = [gather(2048, 2, [30]), gather(4096, 4, [100])]
        cases = plot.timed_cases(fixed + share)
        titles = {title.splitlines()[-1]: [c.devices for c in members["mpi"]] for title, members in plot.families(cases)}
        self.assertEqual(titles, {"arrays fixed": [2, 4, 8], "a device's share fixed": [2, 4, 8]})
        axes = plot.mesh(cases).axes
        (times,), (predicted,) = drawn(next(a for a in axes if a.get_title().endswith("arrays fixed")))
        self.assertEqual(times, [(2, 100), (4, 180), (8, 350)])
        self.assertEqual(predicted, [(2, 100), (4, 150), (8, 175)], "as (n-1)/n of the array grows")
        (times,), (predicted,) = drawn(next(a for a in axes if a.get_title().endswith("share fixed")))
        self.assertEqual((times, predicted), ([(2, 30), (4, 100), (8, 350)], [(2, 30), (4, 90), (8, 210)]))

    def test_where_nothing_moves_the_bytes_predict_nothing(self):
        alone = [record(f"on x={n}: einsum mk,kn->mn f32[8@x,8] f32[8,8] -> f32[8@x,8]", [9], devices=1) for n in (2, 4)]
        self.assertEqual(drawn(plot.mesh(plot.timed_cases(alone)).axes[0])[1], [[]])
        self.assertIsNone(plot.mesh(plot.timed_cases(alone[:1])))

    def test_a_row_for_each_repetition(self):
        records = [gather(1024, 4, [100, 300, 200]), gather(1024, 4, [500] * 3), gather(1024, 2, [7] * 3)]
        axes = plot.samples(plot.timed_cases(records)).axes[0]
        self.assertEqual([label.get_text() for label in axes.get_yticklabels()],
                         ["on x=2: reshard f32[256@x] -> f32[256]", "on x=4: reshard f32[256@x] -> f32[256]"])
        medians = [line.get_xdata()[0] for line in axes.lines if line.get_linewidth() == 2.5]
        self.assertEqual(medians, [7, 200, 500])

    def test_titles_of_links_leave_the_next_panel_s_its_place(self):
        long = {**LINKS, "backend": "plumb-launch --ranks 4 --launcher mpiexec -- plumb-mpi"}
        for axes in plot.links([long]).axes[:2]:
            self.assertLessEqual(max(map(len, axes.get_title().splitlines())), 52)

    def test_links_are_a_heat_map_both_ways(self):
        alone, at_once = [axes.collections[0].get_array().filled(0).tolist() for axes in plot.links([LINKS]).axes[:2]]
        self.assertEqual(alone, [[0, 1.5, 4], [1.5, 0, 2], [4, 2, 0]])
        self.assertEqual(at_once, [[0, 3, 8], [3, 0, 4], [8, 4, 0]])
        self.assertIsNone(plot.links([gather(1024, 4, [1])]))
        self.assertEqual([picture(plot.timed_cases([LINKS])) for picture in (plot.bandwidth, plot.mesh, plot.samples)], [None] * 3)

    def test_times_and_sizes_in_words(self):
        self.assertEqual([plot.time_in_words(t) for t in (5, 2500, 1.5e6, 2e9)], ["5 ns", "2.5 us", "1.5 ms", "2 s"])
        self.assertEqual([plot.size_in_words(n) for n in (12, 4096, 3 << 20)], ["12 B", "4 KiB", "3 MiB"])

    def test_a_full_disk_is_one_line(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "r.jsonl")
            with open(path, "w") as file:
                file.write(json.dumps(LINKS) + "\n")
            os.symlink("/dev/full", os.path.join(folder, "links.svg"))
            ran = subprocess.run([sys.executable, os.path.join(HERE, "plot"), path, "--out", folder], capture_output=True, text=True)
        self.assertEqual((ran.returncode, ran.stderr), (1, "plot: No space left on device\n"))

    def drawn_of(self, content):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "r.jsonl")
            with open(path, "wb") as file:
                file.write(content)
            return subprocess.run([sys.executable, os.path.join(HERE, "plot"), path, "--out", folder], capture_output=True, text=True)

    def test_what_holds_no_times_is_bad_input(self):
        line = '"case": "on x=2: reshard f32[2@x] -> f32[2]", "backend": "b"'
        for content, words in {b"\xff\xfe\x00": "this is no text", b"{}\n": "1: this line is not a record", f"{{{line}}}\n".encode(): "hold no times",
                               f'{{{line}, "bench": 7}}\n'.encode(): "1: this line is not a record: bench", b"[" * 100000 + b"\n": "it is not JSON",
                               b'{"case": "c", "backend": "b"}\n': "1: this line is not a record: case"}.items():
            ran = self.drawn_of(content)
            self.assertEqual((ran.returncode, ran.stdout), (2, ""), content)
            self.assertIn(words, ran.stderr)
            self.assertEqual(ran.stderr.count("\n"), 1, ran.stderr)
        none = subprocess.run([sys.executable, os.path.join(HERE, "plot"), "/nowhere.jsonl", "--out", "/tmp"], capture_output=True, text=True)
        self.assertEqual((none.returncode, none.stderr), (2, "plot: /nowhere.jsonl: No such file or directory\n"))

    def test_what_is_not_that_of_its_seal_is_bad_input(self):
        """Of a record that plumb made, and sealed."""
        with lzma.open(os.path.join(HERE, "../results/bench/two.jsonl.xz"), "rt") as file:
            whole = next(line for line in file if '"bench":' in line)
        self.assertEqual(self.drawn_of(whole.encode()).returncode, 0)
        edited, unsealed = "it was edited: it is not that of its seal", "it has no seal: it may have been edited"
        for was, now, words in (('"nanoseconds":[', '"nanoseconds":[7,', edited), ('"factor":', '"factor":1', edited), ("on x=2: reshard f32[", "on x=2: reshard f32[1", edited),
                                ('"schema":2', '"schema":99', "schema 99, and this reads 1 to 2: the scripts of the plumb that made it read it"),
                                ('"status":"pass"', '"status":"wrong"', "it has times, and is wrong: a pass alone has some"),
                                ('"seal":"', '"sealed":"', unsealed), ('"load":', '"load":' + "9" * 400 + ',"was":', "int too large")):
            self.assertIn(was, whole)
            ran = self.drawn_of(whole.replace(was, now).encode())
            self.assertEqual(ran.returncode, 2, now)
            self.assertIn(f"r.jsonl:1: this line is not a record: {words}", ran.stderr)
            self.assertEqual(ran.stderr.count("\n"), 1, ran.stderr)

    def test_each_member_that_is_looked_at_is_of_its_kind(self):
        """One changed at a time; where what is left makes a picture nothing is refused."""
        whole = {**gather(1024, 4, [100, 200], send=90), "trace": [{"kind": "all-gather", "in": 1, "groups": [[0, 1]]}]}
        self.assertTrue(bench_records.checked(whole))
        self.assertTrue(bench_records.checked(LINKS))
        bad = ["text", 7, None, [None], {"kind": 7}, {"send": 0}, {"devices": "two"}, [[0, 1, 2]], [[0, 9, 5, 5]], [[0, 1, 0, 5]], [-1], [0], [float("nan")], [10**400], "\ud800"]
        of_bench = {"nanoseconds": bad, "repetition": ["one", None, 1.5], "limits": [one for one in bad if one != {"kind": 7}], "links": bad, "work": bad[:7], "ranks": bad, "collectives": bad}
        of_record = {"case": bad, "backend": bad[1:5] + bad[-1:], "bench": bad[:2], "bytes": bad[:4] + [{"best_known": None}], "trace": bad[:3] + [[{}], ["text"]],
                     "environment": bad[:3] + [{"cpu": "\ud800"}], "versions": bad[:3] + [{"mpi": "\ud800"}], "program": bad[1:5]}
        changed = [(key, {**whole, key: value}) for key, values in of_record.items() for value in values]
        changed += [(key, {**whole, "bench": {**whole["bench"], key: value}}) for key, values in of_bench.items() for value in values]
        for key, one in changed:
            with self.assertRaisesRegex(ValueError, f"^{key}$", msg=f"{key} {one[key] if key in one else one['bench'][key]}"):
                bench_records.checked(one)

    def test_a_last_line_without_its_end_is_left_out_and_other_ends_are_none(self):
        ours = lambda one: json.dumps(dict(sorted(one.items())), separators=(",", ":"))
        whole = "".join(ours(gather(1024, n, [100])) + "\n" for n in (2, 4))
        self.assertEqual(self.drawn_of(whole.encode()).stdout.split(",")[0], "2 cases")
        self.assertEqual(self.drawn_of(whole.encode()).stderr, "")
        for at in (1, 12, 300):
            torn = self.drawn_of((whole + whole[:at]).encode())
            self.assertEqual(torn.stdout.split(",")[0], "2 cases", at)
            self.assertEqual(torn.stderr.partition("r.jsonl")[2], ": its last line was not whole and is left out\n")
        cut = self.drawn_of((whole + "and so on").encode())
        self.assertEqual((cut.returncode, cut.stderr.partition("r.jsonl")[2]), (2, ":3: this line is not a record\n"))
        self.assertIn("hold no times", self.drawn_of(whole[:40].encode()).stderr)

    def test_the_page_needs_nothing_else(self):
        with tempfile.TemporaryDirectory() as folder:
            path, out = (os.path.join(folder, name) for name in ("r.jsonl.xz", "out"))
            with lzma.open(path, "wt") as file:
                file.writelines(json.dumps(gather(1024, n, [100, 200], send=90)) + "\n" for n in (2, 4))
                file.write(json.dumps(LINKS) + "\n")
            ran = subprocess.run([sys.executable, os.path.join(HERE, "plot"), path, "--out", out],
                                 capture_output=True, text=True)
            self.assertEqual(ran.returncode, 0, ran.stderr)
            self.assertEqual(sorted(os.listdir(out)), ["bandwidth.svg", "index.html", "links.svg", "mesh.svg", "samples.svg"])
            with open(os.path.join(out, "index.html")) as file:
                page = file.read()
            narrow = subprocess.run([sys.executable, os.path.join(HERE, "plot"), path, "--out", os.path.join(folder, "narrow"), "--narrow"],
                                    stdout=subprocess.DEVNULL)
            self.assertEqual(narrow.returncode, 0)
            for name in ("bandwidth", "mesh", "samples", "links"):
                wide, thin = (float(xml.parse(os.path.join(folder, of, f"{name}.svg")).getroot().get("width").removesuffix("pt"))
                              for of in ("out", "narrow"))
                self.assertLess(thin, 290, f"{name}: 4 inches, as wide as a telephone, of {wide}")
            for name in ("bandwidth", "mesh"):
                words = {node.text for node in xml.parse(os.path.join(out, f"{name}.svg")).iter() if node.tag.endswith("text")}
                self.assertTrue({"size", "bus bandwidth, GB/s"} <= words or {"devices", "median time"} <= words, words)
        self.assertEqual(page.count("<svg"), 4)
        self.assertEqual(re.findall(r"(?:src|href)=\"(?!#)[^\"]*\"|@import|<script", page), [])
        self.assertIn("a &lt;processor&gt;", page)
        self.assertIn("<td>150 ns</td>", page)


if __name__ == "__main__":
    unittest.main()
