"""What a night runs, and what became of it since the last one: all by plumb."""
import json
import os
import pathlib
import re
import shlex
import subprocess
import tomllib

from night import cases, history, tables

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILT, INSTALLED = ROOT / "build/bin/plumb", ROOT.parent.parent / "bin/plumb"
PLUMB = os.environ.get("PLUMB") or str(BUILT if BUILT.exists() or not INSTALLED.exists() else INSTALLED)
BAD, OURS = 2, 3  # exit codes: nothing run; our own failure
BY_KIND = ("regression", "worse", "coverage lost", "vanished", "hidden", "exposed", "changed", "more bytes")  # plumb's words
NEW, SLOWER = "new kind", "slower"
FAIL_ON = ["regression", "worse", "coverage lost", "vanished", "more bytes", NEW]
RERUNS = 3
# Of what plumb compare says, where there is nothing that it could compare.
NO_CHANGES = {"counts": {}, "kinds": [], "findings": [], "table": [], "versions": [], "environment": [], "times": []}


class OursFailed(Exception):
    """A full disk, or plumb itself: the night is not over."""


# What a configuration may say, and what each has to be.
TEXT, TEXTS, NUMBER, TABLES = "a text", "a list of texts", "a whole number above 0", "a table, as in [[judge]]"
KNOWN = {"": {"history": TEXT, "keep": NUMBER, "fail-on": TEXTS, "judge": TABLES, "bench": TABLES},
         "judge": {"name": TEXT, "flags": TEXT, "backends": TEXTS, "waivers": TEXT},
         "bench": {"name": TEXT, "flags": TEXT, "backends": TEXTS}}
IS = {TEXT: lambda value: isinstance(value, str),
      TEXTS: lambda value: isinstance(value, list) and all(isinstance(one, str) for one in value),
      NUMBER: lambda value: type(value) is int and value > 0,
      TABLES: lambda value: isinstance(value, list) and all(isinstance(one, dict) for one in value)}


def config_of(path):
    """The configuration, its paths from its folder. Throws Refused where it says what nobody reads."""
    try:
        config = tomllib.loads(path.read_text())
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise history.Refused(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    complain(path, "", config)
    config.setdefault("history", "history")
    config.setdefault("keep", 30)
    for word in config.setdefault("fail-on", FAIL_ON):
        if word not in (*BY_KIND, NEW, SLOWER):
            raise history.Refused(f"{path}: fail-on has no {word}, only {', '.join((*BY_KIND, NEW, SLOWER))}")
    for kind in ("judge", "bench"):
        for one in config.setdefault(kind, []):
            complain(path, kind, one)
            if not re.fullmatch(r"[\w-]+", one.get("name", "")):
                raise history.Refused(f"{path}: each [[{kind}]] needs a name of letters, digits, - and _")
            one["kind"], one["flags"] = kind, words_of(path, one)
            one.setdefault("backends", ["local"])
            if "waivers" in one and not (path.parent / one["waivers"]).is_file():
                raise history.Refused(f"{path}: {one['name']}: there is no file {one['waivers']}")
    names = [one["name"] for one in rows(config)]
    if not names or len(set(names)) < len(names):
        raise history.Refused(f"{path}: there has to be a [[judge]] or [[bench]], each of its own name")
    return config


def complain(path, where, table):
    if unknown := set(table) - set(KNOWN[where]):
        raise history.Refused(f"{path}: {where or 'a file'} has no {', '.join(sorted(unknown))}")
    for key, value in table.items():
        if not IS[KNOWN[where][key]](value):
            raise history.Refused(f"{path}: {key} has to be {KNOWN[where][key]}")


def words_of(path, one):
    try:
        return shlex.split(one.get("flags", ""))
    except ValueError as error:
        raise history.Refused(f"{path}: {one['name']}: flags: {error}") from None


def rows(config):
    return config["judge"] + config["bench"]


def plumb(folder, *words, text=None):
    """The words of a command run in the folder of the configuration."""
    done = subprocess.run([PLUMB, *words], cwd=folder, capture_output=True, text=True, input=text)
    if done.returncode == OURS or done.returncode < 0 or done.returncode > 128:
        raise OursFailed(f"plumb {words[0]}: {done.stderr.strip() or done.returncode}")
    return done


def run_row(row, base, record, shard):
    """One row of the configuration, a backend after the other: what each that could not run said of it."""
    missing = {}
    for backend in row["backends"]:
        words = ["run" if row["kind"] == "judge" else "bench", *row["flags"], "--backend", backend, "--record", str(record)]
        words += ["--resume"] if record.exists() else []
        words += ["--quiet"] if row["kind"] == "judge" else []
        words += ["--shard", shard] if shard else []
        done = plumb(base, *words)
        if done.returncode == BAD:
            missing[backend] = done.stderr.strip().removeprefix("plumb: ") or done.stdout.strip()
    return missing


def without_release(backend):
    return backend if "/" in backend or " " in backend else re.sub("@[^,]*", "", backend, count=1)


def joins(row):
    """Releases of a framework are one backend, unless the row has two of them."""
    frameworks = [without_release(backend) for backend in row["backends"]]
    return ["--ignore-release"] if len(set(frameworks)) == len(frameworks) else []


def compared(row, base, before, now, fail_on=("none",)):
    """What plumb compare says; of a first night against itself, which says what is found and nothing of changes."""
    words = ["compare", str(before or now), str(now), "--json", *joins(row)]
    words += ["--junit", str(now.with_suffix(".xml")), "--fail-on", ",".join(fail_on)]
    if row.get("waivers"):
        words += ["--waivers", row["waivers"]]
    done = plumb(base, *words)
    return json.loads(done.stdout) if done.stdout else NO_CHANGES | {"said": done.stderr.strip()}


def rerun(row, base, folder, changes):
    """Judges each regression and what is worse three times more; what is right in any of these is flaky."""
    lines = {}
    for kind in changes["kinds"]:
        for case in kind["cases"] if kind["change"] in ("regression", "worse") else ():
            lines.setdefault(case["backend"], []).append(case["case"])
    flaky = []
    for backend, red in lines.items():
        right = set()
        for _ in range(RERUNS):
            record = folder / "again.jsonl"
            plumb(base, "run", "--cases", "-", "--backend", backend, "--quiet", "--record", str(record),
                  text="".join(f"{case}\n" for case in red))
            right |= {one["case"] for one in map(json.loads, record.read_text().splitlines()) if one.get("status") == "pass"}
            record.unlink()
        flaky += [{"case": case, "backend": backend} for case in red if case in right]
    return flaky


def other_releases(row, then):
    """The backends of a record whose framework a row has in another release."""
    frameworks = {without_release(backend) for backend in row["backends"]} if joins(row) else set()
    names = {one["backend"] for one in map(json.loads, then.read_text().splitlines()) if "backend" in one}
    return sorted(name for name in names - set(row["backends"]) if without_release(name) in frameworks)


def timed_again(row, base, folder, old):
    """Times the row once more; with `old`, backends of before, in one run, repetitions of all in an order that is drawn. The records
    of before and of now; none of before where these cannot be had."""
    was, now = folder / "again-was.jsonl", folder / "again.jsonl"
    each = [[*old, *row["backends"]]] if old else [[backend] for backend in row["backends"]]
    codes = [plumb(base, "bench", *row["flags"], *(word for one in all_of for word in ("--backend", one)), "--record", str(now)).returncode
             for all_of in each]
    if not old or BAD in codes:
        return None, now
    lines = [(json.loads(line).get("backend"), line) for line in now.read_text().splitlines(keepends=True)]
    was.write_text("".join(line for backend, line in lines if backend not in row["backends"]))
    now.write_text("".join(line for backend, line in lines if backend not in old))
    return was, now


def slow_again(row, base, folder, then, times):
    """Times the row again, three times at most, while something is SLOWER each time: of each time how often it was so again; what is
    not each time is UNSURE. Where a release of before is still here both are timed side by side, and what was UNSURE as well."""
    old = other_releases(row, then)
    suspects = asked = [time for time in times if time["became"] == "SLOWER" or old and time["became"] == "UNSURE"]
    runs = 0
    while suspects and runs < RERUNS:
        was, now = timed_again(row, base, folder, old)
        if old and not was:  # it is here no more
            old, suspects = [], [time for time in suspects if time["became"] == "SLOWER"]
            asked = suspects
            continue
        runs += 1
        again = {(one["case"], one["backend"]): one["became"] for one in compared(row, base, was or then, now)["times"]}
        for time in suspects:
            time["again"] = time.get("again", 0) + (again.get((time["case"], time["backend"])) == "SLOWER")
            if was:
                time["beside"] = ", ".join(old)
        suspects = [time for time in suspects if time["again"] == runs]
    for time in asked:
        time["became"] = "SLOWER" if time["again"] == RERUNS else "UNSURE"
    for file in folder.glob("again*"):
        file.unlink()


def told_of(row, base, folder, before, missing, fail_on):
    """What came of a row since the last night that has cases of it, for night.json: kinds with their first case, numbers, what
    differs. What is said of each case goes into a file of the row's own (cases.py)."""
    now = folder / f"{row['name']}.jsonl"
    told = {"name": row["name"], "kind": row["kind"], "backends": row["backends"], "missing": missing, "flaky": [],
            "waivers": waivers_of(row, base), "before": before.name if before else None}
    if not now.exists() or not history.has_cases(now):
        return told | tables.NOTHING | NO_CHANGES
    then = before.folder / now.name if before else None
    changes = compared(row, base, then, now, [word for word in fail_on if word in BY_KIND] or ["none"])
    with tables.opened(now) as db:
        cases.write(row, now, db, changes, without_release if joins(row) else str)
        told |= tables.told(db)
    told["flaky"] = rerun(row, base, folder, changes) if then and row["kind"] == "judge" else []
    if then and row["kind"] == "bench":
        slow_again(row, base, folder, then, changes["times"])
    known = {same_cause(one) for old in (before.told["rows"] if then else []) if old["name"] == row["name"]
             for one in old["findings"]}
    for one in changes["findings"]:
        one["fresh"] = then is not None and same_cause(one) not in known
    for kind in changes["kinds"]:
        flaky = {(one["case"], one["backend"]) for one in told["flaky"]}
        kind["flaky"] = sum((case["case"], case["backend"]) in flaky for case in kind["cases"])
        kind["number"], kind["first"] = len(kind["cases"]), kind.pop("cases")[0]
    return told | changes | {"compared": then is not None}


def cause(kind):
    return kind["why"] or kind["status"]


def same_cause(kind):
    return kind["backend"], kind["status"], kind["why"]


def waivers_of(row, base):
    """The rows of its file of known findings, each with the day on which it ends."""
    if not row.get("waivers"):
        return []
    lines = (base / row["waivers"]).read_text().splitlines()
    return [{"row": line, "until": found.group(1)} for line in lines
            if (found := re.match(r"[^#].* until (\d{4}-\d\d-\d\d) ", line))]


def is_over(waiver, told):
    """Whether its last day was before the night's."""
    return waiver["until"] < told["ended"][:10]


def bad(told):
    """What makes the exit code 1, in words."""
    all_said = []
    for row in told["rows"]:
        for change in BY_KIND:
            number = sum(kind["number"] - kind["flaky"] for kind in row["kinds"] if kind["change"] == change)
            word = "regressions" if change == "regression" and number != 1 else change
            all_said += [f"{row['name']}: {number} {word}"] if number and change in told["fail_on"] else []
        fresh = len({same_cause(one) for one in row["findings"] if one["fresh"]})
        all_said += [f"{row['name']}: {fresh} new kind{'s' if fresh > 1 else ''} of finding"] if fresh and NEW in told["fail_on"] else []
        all_said += [f"{row['name']}: a waiver is over since {one['until']}: {one['row']}" for one in row.get("waivers", ()) if is_over(one, told)]
        slower = sum(map(is_slower, row["times"]))
        all_said += [f"{row['name']}: {slower} slower"] if slower and SLOWER in told["fail_on"] else []
    return all_said


def not_bad(told):
    """What is said of a night that is not bad."""
    if not any(row["statuses"] for row in told["rows"]):
        return "nothing ran"
    ran = "that ran " if any(row["missing"] for row in told["rows"]) else ""
    return f"nothing {ran}is worse{'' if told['before'] else ': the first night'}"


def is_slower(time):
    """By the distributions, where nothing else is known to have made it so, and each time that it was timed again."""
    return time["became"] == "SLOWER" and time.get("again") == RERUNS
