"""A folder in which a test has nights, on the embedded backend and on liars."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

SCRIPTS = pathlib.Path(__file__).resolve().parent.parent
PLUMB = os.environ.get("PLUMB") or str(SCRIPTS.parent / "build/bin/plumb")
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
        return subprocess.Popen([sys.executable, "-B", SCRIPTS / "nightly", self.folder / "config", *words], text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)

    def ended(self, *words, **more):
        process = self.begun(*words, **more)
        process.out, process.err = process.communicate()
        return process

    def night(self, name, *words, **more):
        return self.ended("--night", name, *words, **more)

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
