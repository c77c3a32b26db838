"""plumb, as a night runs it."""
import ctypes
import json
import os
import pathlib
import re
import signal
import subprocess

from night import history

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILT, INSTALLED = ROOT / "build/bin/plumb", ROOT.parent.parent / "bin/plumb"
PLUMB = os.environ.get("PLUMB") or str(BUILT if BUILT.exists() or not INSTALLED.exists() else INSTALLED)
BAD, OURS = 2, 3  # exit codes: nothing run; our own failure
ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # that tell a night to end
VERBS = {"judge": "run", "bench": "bench"}
# Of what plumb compare says, where there is nothing that it could compare.
NO_CHANGES = {"counts": {}, "kinds": [], "findings": [], "table": [], "versions": [], "environment": [], "times": [], "waivers": []}


class OursFailed(Exception):
    """A full disk, or plumb itself: the night is not over."""


def ends_with_the_night():
    """In the child: it is told to end when the night is killed, for nobody would wait for what it finds."""
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDS)


def plumb(folder, *words, text=""):
    """The words of a command run in the folder of the configuration."""
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDS)  # Python loses what its handler raises while it forks
    with subprocess.Popen([PLUMB, *words], cwd=folder, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          preexec_fn=ends_with_the_night) as process:
        try:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDS)
            out, err = process.communicate(text)
        except KeyboardInterrupt:
            process.terminate()
            raise
    done = subprocess.CompletedProcess(process.args, process.returncode, out, err)
    if done.returncode == OURS or done.returncode < 0 or done.returncode > 128:
        raise OursFailed(f"plumb {words[0]}: {said(done).partition(chr(10))[0] or done.returncode}")
    return done


def said(done):
    return done.stderr.strip().removeprefix("plumb: ")


def run_words(row, backend, record):
    """The words of a command that judges or times a row on one of its backends."""
    return [VERBS[row["kind"]], *row["flags"], "--backend", backend, "--record", str(record),
            *(["--quiet"] if row["kind"] == "judge" else [])]


def run_row(row, record, shard):
    """One row of the configuration, a backend after the other: what each that could not run said of it."""
    missing = {}
    for backend in row["backends"]:
        words = run_words(row, backend, record) + (["--resume"] if record.exists() else []) + (["--shard", shard] if shard else [])
        done = plumb(row["base"], *words)
        if "another run is writing to this record" in done.stderr:  # of a night that was killed a moment ago
            raise history.Refused(f"another night is running: {said(done)}")
        if done.returncode == BAD:
            missing[backend] = said(done) or done.stdout.strip()
    return missing


def without_release(backend):
    return backend if "/" in backend or " " in backend else re.sub("@[^,]*", "", backend, count=1)


def joins(row):
    """Releases of a framework are one backend, unless the row has two of them."""
    frameworks = [without_release(backend) for backend in row["backends"]]
    return ["--ignore-release"] if len(set(frameworks)) == len(frameworks) else []


def joined(row):
    """What a backend of a row is called from night to night, as a function of its name."""
    return without_release if joins(row) else str


def compared(row, before, now, fail_on=("none",)):
    """What plumb compare says; of a first night against itself, which says what is found and nothing of changes."""
    words = ["compare", str(before or now), str(now), "--json", *joins(row)]
    words += ["--junit", str(now.with_suffix(".xml")), "--fail-on", ",".join(fail_on)]
    if row.get("waivers"):
        words += ["--waivers", row["waivers"]]
    done = plumb(row["base"], *words)
    if not done.stdout:
        raise history.Refused(f"plumb compare: {said(done)}")
    return json.loads(done.stdout)
