"""What seems to have become worse is run again, three times, before it counts."""
import json

from night import tool

RERUNS = 3
AGAIN, AGAIN_WAS, JUNIT = ".again.jsonl", ".again-was.jsonl", ".again.xml"  # no row has a name with a dot


def anew(record):
    """A record that is not there: of the time before, or of a night that was killed, nothing counts."""
    record.unlink(missing_ok=True)
    return record


def forget(folder):
    for name in (AGAIN, AGAIN_WAS, JUNIT):
        (folder / name).unlink(missing_ok=True)


def rerun(row, folder, changes):
    """Judges each regression and what is worse three times more; what is right in any of these is flaky."""
    lines = {}
    for kind in changes["kinds"]:
        for case in kind["cases"] if kind["change"] in ("regression", "worse") else ():
            lines.setdefault(case["backend"], []).append(case["case"])
    flaky = []
    for backend, red in lines.items():
        right = set()
        for _ in range(RERUNS):
            record = anew(folder / AGAIN)
            tool.plumb(row["base"], "run", "--cases", "-", "--backend", backend, "--quiet", "--record", str(record),
                       text="".join(f"{case}\n" for case in red))
            right |= {one["case"] for one in map(json.loads, record.read_text().splitlines()) if one.get("status") == "pass"}
        flaky += [{"case": case, "backend": backend} for case in red if case in right]
    forget(folder)
    return flaky


def other_releases(row, then):
    """The backends of a record whose framework a row has in another release."""
    frameworks = {tool.without_release(backend) for backend in row["backends"]} if tool.joins(row) else set()
    names = {one["backend"] for one in map(json.loads, then.read_text().splitlines()) if "backend" in one}
    return sorted(name for name in names - set(row["backends"]) if tool.without_release(name) in frameworks)


def timed_again(row, folder, old):
    """Times the row once more; with `old`, backends of before, in one run, repetitions of all in an order that is drawn. The records
    of before and of now; none of before where these cannot be had."""
    was, now = folder / AGAIN_WAS, anew(folder / AGAIN)
    each = [[*old, *row["backends"]]] if old else [[backend] for backend in row["backends"]]
    codes = [tool.plumb(row["base"], "bench", *row["flags"], *(word for one in all_of for word in ("--backend", one)), "--record",
                        str(now)).returncode for all_of in each]
    if not old or tool.BAD in codes:
        return None, now
    lines = [(json.loads(line).get("backend"), line) for line in now.read_text().splitlines(keepends=True)]
    was.write_text("".join(line for backend, line in lines if backend not in row["backends"]))
    now.write_text("".join(line for backend, line in lines if backend not in old))
    return was, now


def slow_again(row, folder, then, times):
    """Times the row again, three times at most, while something is SLOWER each time: of each time how often it was so again; what is
    not each time is UNSURE. Where a release of before is still here both are timed side by side, and what was UNSURE as well."""
    old = other_releases(row, then)
    suspects = asked = [time for time in times if time["became"] == "SLOWER" or old and time["became"] == "UNSURE"]
    runs = 0
    while suspects and runs < RERUNS:
        was, now = timed_again(row, folder, old)
        if old and not was:  # it is here no more
            old, suspects = [], [time for time in suspects if time["became"] == "SLOWER"]
            asked = suspects
            continue
        runs += 1
        again = {(one["case"], one["backend"]): one["became"] for one in tool.compared(row, was or then, now)["times"]}
        for time in suspects:
            time["again"] = time.get("again", 0) + (again.get((time["case"], time["backend"])) == "SLOWER")
            if was:
                time["beside"] = ", ".join(old)
        suspects = [time for time in suspects if time["again"] == runs]
    for time in asked:
        time["became"] = "SLOWER" if time["again"] == RERUNS else "UNSURE"
    forget(folder)
