"""Pages in a real browser, Chromium without a window: each opens from the file system and asks nobody else, with no error in the
console, leads somewhere, and can be read on a desk and on a telephone. PLUMB_SCREENSHOTS names a folder for their pictures.
Exits with 77 where there is no browser."""
import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "testing")]
import browser  # noqa: E402

PLUMB = os.environ.get("PLUMB") or str(HERE.parent / "build/bin/plumb")
WIDTHS = (1280, 400)
HONEST, LIAR = f"exec {PLUMB}-local", f'PLUMB_OPTIONS=\'{{"fault":"drops-part"}}\' exec {PLUMB}-liar'
CONFIG = """[[judge]]
name = "square"
flags = "'on x=2,y=2: reshard f32[4,4]+* -> f32[4,4]+*'"
backends = ["./mine"]

[[bench]]
name = "gathers"
flags = "'on x=2: reshard f32[64@x] -> f32[64]' 'on x=2: reshard f32[256@x] -> f32[256]' --iterations 20 --repetitions 4"
"""
# The parts of a page that are wider than it or written too small to read, but for what scrolls by itself.
UNREADABLE = """(() => {
  const all = [], wide = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > wide) all.push(`the page is ${document.documentElement.scrollWidth} wide, not ${wide}`);
  for (const one of document.querySelectorAll("h1, h2, h3, p, td, th, li, a, code, pre, select, summary")) {
    if (!one.textContent.trim() || !one.offsetParent) continue;
    if (parseFloat(getComputedStyle(one).fontSize) < 12) all.push(`small: ${one.textContent.slice(0, 60)}`);
    if (one.closest(".wide, pre")) continue;
    if (one.getBoundingClientRect().right > wide + 1) all.push(`cut off: ${one.textContent.slice(0, 60)}`);
  }
  for (const one of document.querySelectorAll("img"))
    if (one.getBoundingClientRect().width < 0.9 * one.naturalWidth || !one.naturalWidth) all.push(`a picture is shrunk: ${one.alt}`);
  for (const one of document.querySelectorAll(".picture")) if (!one.querySelector("svg")) all.push("a picture is not drawn");
  return all;
})()"""

# Until every picture is drawn, or has had half a minute: a page shows itself before it draws them.
DRAWN = """new Promise(done => {
  const drawn = () => typeof Plotly == "undefined" || [...document.querySelectorAll(".picture")].every(one => one.querySelector("svg"));
  const look = left => drawn() || !left ? done() : setTimeout(look, 20, left - 1);
  look(1500);
})"""


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="plumb-pages-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        sample = CONFIG.replace("+*'\"", "+*' --sample 100 --seed 1\"")
        for name, script, config in (("0", HONEST, sample), ("1", HONEST, CONFIG), ("2", LIAR, CONFIG), ("3", HONEST, CONFIG)):
            (cls.folder / "config").write_text(config)
            (cls.folder / "mine").write_text(f"#!/bin/sh\n{script}\n")
            (cls.folder / "mine").chmod(0o755)
            done = subprocess.run([sys.executable, "-B", HERE / "nightly", cls.folder / "config", "--night", name], capture_output=True,
                                  text=True, env={**os.environ, "PLUMB": PLUMB})
            assert done.returncode in (0, 1), done.stdout + done.stderr
        cls.place = cls.folder / "history/pages"
        cls.pages = sorted(cls.place.rglob("*.html"))
        cls.browser = cls.enterClassContext(browser.browser())

    def opened(self, page, width, after=""):
        self.browser.open(page.as_uri() + after, width)
        self.browser.value(DRAWN)
        return self.browser

    def test_every_page_opens_without_a_complaint_and_asks_nobody(self):
        for page in self.pages:
            self.assertEqual(self.opened(page, 1280).complaints(), [], page)

    def test_a_page_that_asks_another_host_or_fails_is_seen(self):
        page = self.folder / "bad.html"
        for body, said in (('<img src="https://example.com/x.png">', "asked https://example.com"), ("<script>nothing()</script>", "nothing"),
                           ('<script src="gone.js"></script>', "gone.js"), ('<script>console.error("woe")</script>', "woe")):
            page.write_text(f"<!doctype html><body>{body}</body>")
            self.assertIn(said, "\n".join(self.opened(page, 1280).complaints()))

    def test_links_lead_to_pages_that_are_there(self):
        for page in self.pages:
            for link in self.opened(page, 1280).value("[...document.querySelectorAll('a[href]')].map(one => one.href)"):
                path = pathlib.Path(urllib.parse.unquote(urllib.parse.urlparse(link).path))
                self.assertTrue(link.startswith("file:") and path.is_file(), f"{page.name}: {link}")

    def test_it_can_be_read_on_a_desk_and_on_a_telephone(self):
        pictures = os.environ.get("PLUMB_SCREENSHOTS")
        for page in self.pages:
            for width in WIDTHS:
                with self.subTest(page=page, width=width):
                    self.assertEqual(self.opened(page, width).complaints(), [])
                    if pictures:
                        name = "-".join(page.relative_to(self.place).with_suffix("").parts)
                        self.browser.picture(pathlib.Path(pictures) / f"{name}-{width}.png")
                    self.assertEqual(self.browser.value(UNREADABLE), [])

    def test_what_cannot_be_read_is_seen(self):
        page = self.folder / "bad.html"
        for body, said in (('<p style="width:900px">wide</p>', "the page is 9"), ('<p style="font-size:6px">tiny</p>', "small: tiny"),
                           ('<div class="picture"></div>', "not drawn"), ('<img style="width:9px" alt="map" src="data:image/svg+xml,'
                            '<svg xmlns=%22http://www.w3.org/2000/svg%22 width=%2290%22 height=%229%22></svg>">', "shrunk: map")):
            page.write_text(f'<!doctype html><meta name="viewport" content="width=device-width"><body>{body}</body>')
            self.assertIn(said, "\n".join(self.opened(page, 400).value(UNREADABLE)))

    def test_any_two_nights_are_compared_as_plumb_compare_does(self):
        for was, now in (("1", "2"), ("2", "3"), ("1", "3"), ("3", "1"), ("3", "2"), ("0", "2"), ("2", "0")):
            place = self.folder / "history/nights"
            done = subprocess.run([PLUMB, "compare", place / was / "square.jsonl", place / now / "square.jsonl", "--json"],
                                  capture_output=True, text=True)
            said = json.loads(done.stdout)
            page = self.opened(self.place / "compare.html", 1280, f"#{was}|{now}")
            page.value("""new Promise(done => { const look = () => document.getElementById("chosen").dataset.of ? done() : setTimeout(look, 10);
                       look(); })""")
            self.assertEqual(page.complaints(), [])
            found = page.value("""(async () => {
                const all = await compared(...NAMES.map(name => nights[name].square));
                return {...all, kinds: all.kinds.map(kind => ({...kind, cases: kind.places.length, layouts: kind.layouts.size}))};
            })()""".replace("NAMES", json.dumps([was, now])))
            self.assertEqual({change.split(":")[0]: n for change, n in found["changes"].items()}, said["counts"])
            self.assertEqual(found["table"], {f"{one['was']}|{one['is']}": one["cases"] for one in said["table"]})
            cases, layouts = collections.Counter(), collections.Counter()
            for kind in said["kinds"]:
                cases[kind["change"], kind["why"]] += len(kind["cases"])
                layouts[kind["change"], kind["why"]] += 1
            self.assertEqual({(kind["change"], kind["why"]): kind["cases"] for kind in found["kinds"]}, cases)
            self.assertEqual({(kind["change"], kind["why"]): kind["layouts"] for kind in found["kinds"]}, layouts)
            self.assertEqual(page.value("document.getElementById('last').hidden"), True)
            for width in WIDTHS:
                self.assertEqual(self.opened(self.place / "compare.html", width, f"#{was}|{now}").value(UNREADABLE), [])

    def test_what_is_lost_says_why_it_is_unsupported_now(self):
        page = self.opened(self.place / "compare.html", 1280)
        night = lambda statuses, unsupported, reasons: ('{runs: [], reasons: %s, kinds: [], becomes: {pass: {pass: "same", unsupported: '
            '"coverage lost"}, unsupported: {pass: "coverage gained", unsupported: "same"}}, backends: {x: {on: "x@1", lines: "l", '
            'statuses: "%s", unsupported: %s, moved: [], kinds: []}}}' % (reasons, statuses, unsupported))
        was, now = night("aba", "[0]", '["no N"]'), night("bab", "[1, 0]", '["no sums", "no gather"]')
        found = page.value(f"(async () => (await compared({was}, {now})).kinds.map(kind => [kind.change, kind.why, kind.places]))()")
        self.assertEqual(sorted(found), [["coverage gained", "no N", [1]], ["coverage lost", "no gather", [0]],
                                         ["coverage lost", "no sums", [2]]])
        old = was.replace("reasons", "then")  # of a night that does not say
        found = page.value(f"(async () => (await compared({old}, {now})).kinds.map(kind => [kind.change, kind.why]))()")
        self.assertIn(["coverage gained", ""], found)

    def test_what_is_absent_is_vanished_where_the_new_night_selected_it_and_came_to_its_end(self):
        page = self.opened(self.place / "compare.html", 1280)
        for was, is_now, unrun, said in (("a", "a", "0", "vanished"), ("a", "b", "0", "not compared: the new night selected in other words"),
                                         ("a", "a", "3", "not compared: the new night did not come to it"),
                                         ("a", "a", "null", "not compared: the new night did not come to it")):
            night = lambda selected, left: ('{runs: [{backends: ["x@1"], selected: {suite: "%s"}, unrun: %s}], backends: {x: {on: "x@1"}}}'
                                            % (selected, left))
            self.assertEqual(page.value(f'absent({night(was, "0")}, {night(is_now, unrun)}, "x")'), said)

    def test_a_night_is_chosen_on_the_page(self):
        page = self.opened(self.place / "compare.html", 400)
        page.value("""new Promise(done => { const from = document.getElementById("from"); from.value = "1";
                   from.dispatchEvent(new Event("change")); const look = () => document.getElementById("chosen").dataset.of === "1|3" ?
                   done() : setTimeout(look, 10); look(); })""")
        self.assertEqual(page.complaints(), [])
        self.assertIn("324 same", page.value("document.getElementById('chosen').innerText"))


if __name__ == "__main__":
    if not browser.program():
        print(f"skipped: no {', '.join(browser.NAMES)}: apt-get install chromium")
        sys.exit(77)
    unittest.main()
