"""Chromium without a window, by its own protocol over a pair of pipes: pages from the file system, and no network."""
import base64
import contextlib
import json
import os
import shutil
import subprocess
import tempfile

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--hide-scrollbars",
         "--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND", "--remote-debugging-pipe")


def program():
    """Where a browser is; None where there is none."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    def __init__(self, process, to_it, from_it):
        self.process, self.to_it, self.from_it = process, to_it, from_it
        self.number, self.rest, self.events, self.session = 0, b"", [], None

    def read(self):
        while b"\0" not in self.rest:
            more = os.read(self.from_it, 1 << 20)
            if not more:
                raise RuntimeError("the browser ended")
            self.rest += more
        one, _, self.rest = self.rest.partition(b"\0")
        return json.loads(one)

    def ask(self, method, **words):
        self.number += 1
        asked = {"id": self.number, "method": method, "params": words}
        if self.session:
            asked["sessionId"] = self.session
        os.write(self.to_it, json.dumps(asked).encode() + b"\0")
        while True:
            one = self.read()
            if one.get("id") == self.number:
                if "error" in one:
                    raise RuntimeError(f"{method}: {one['error']['message']}")
                return one["result"]
            if "method" in one:
                self.events.append(one)

    def wait(self, method):
        """Until an event comes, which may have come."""
        while not any(one["method"] == method for one in self.events):
            one = self.read()
            if "method" in one:
                self.events.append(one)

    def open(self, url, width):
        """A page, drawn this wide; what came before is forgotten."""
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        for one in ("about:blank", url):
            self.events.clear()
            self.ask("Page.navigate", url=one)
            self.wait("Page.loadEventFired")

    def value(self, script):
        """Of an expression, when it is there."""
        said = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in said:
            raise RuntimeError(json.dumps(said["exceptionDetails"]))
        return said["result"].get("value")

    def complaints(self):
        """What the console says of the page, and whom but the file system it asked."""
        self.value("new Promise(done => requestAnimationFrame(() => setTimeout(done, 50)))")
        said = []
        for one in self.events:
            words = one["params"]
            if one["method"] == "Runtime.exceptionThrown":
                said.append(words["exceptionDetails"].get("exception", {}).get("description") or words["exceptionDetails"]["text"])
            if one["method"] == "Runtime.consoleAPICalled" and words["type"] in ("error", "warning", "assert"):
                said.append(json.dumps(words["args"]))
            if one["method"] == "Log.entryAdded" and words["entry"]["level"] in ("error", "warning"):
                said.append(f"{words['entry']['text']} {words['entry'].get('url', '')}")
            if one["method"] == "Network.requestWillBeSent" and not words["request"]["url"].startswith(("file:", "data:", "blob:")):
                said.append(f"asked {words['request']['url']}")
        return said

    def picture(self, path):
        """Of the whole page."""
        said = self.ask("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(said["data"]))


@contextlib.contextmanager
def browser():
    with tempfile.TemporaryDirectory(prefix="plumb-browser-", ignore_cleanup_errors=True) as folder:
        its_input, to_it = os.pipe()
        from_it, its_output = os.pipe()
        # The protocol wants descriptors 3 and 4; the shell puts them there.
        command = f'exec "$@" 3<&{its_input} 4>&{its_output}'
        process = subprocess.Popen(["bash", "-c", command, "bash", program(), *FLAGS, f"--user-data-dir={folder}", "about:blank"],
                                   pass_fds=(its_input, its_output), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(its_input)
        os.close(its_output)
        one = Browser(process, to_it, from_it)
        try:
            target = one.ask("Target.createTarget", url="about:blank")["targetId"]
            one.session = one.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            for room in ("Page", "Runtime", "Log", "Network"):
                one.ask(f"{room}.enable")
            yield one
        finally:
            process.kill()
            process.wait()
            os.close(to_it)
            os.close(from_it)
