"""What became of a night since those before: what it judges by, and what makes it red."""
from night import again, cases, history, tables, tool

BY_KIND = ("regression", "worse", "coverage lost", "vanished", "hidden", "exposed", "changed", "more bytes")  # plumb's words
NEW, SLOWER = "new kind", "slower"
CHANGES = (*BY_KIND, NEW, SLOWER)  # all that fail-on may name
FAIL_ON = ["regression", "worse", "coverage lost", "vanished", "more bytes", NEW]


def told_of(row, folder, fail_on, before):
    """What came of a row since the nights before, for night.json: kinds with their first case, numbers, what differs. What is said
    of each case goes into a file of the row's own (cases.py)."""
    now = folder / f"{row['name']}.jsonl"
    last = history.last_answers(before, row["name"], tool.joined(row))
    told = {"name": row["name"], "kind": row["kind"], "backends": row["backends"], "missing": {}, "flaky": [], "before": None, "others": {}}
    if not now.exists() or not history.has_cases(now):
        return told | tables.NOTHING | tool.NO_CHANGES
    with tables.opened(now) as db:
        told |= tables.told(db)
        told["missing"] = {backend: f"it does not start: {said}" for backend, said in tables.not_started(db)}
        here = {name: night for name, night in last.items() if name in map(tool.joined(row), told["statuses"])}
        told["before"] = max(here.values(), key=history.when).name if here else None
        told["others"] = {name: night.name for name, night in here.items() if night.name != told["before"]}
        then = history.record_of(here, row["name"], tool.joined(row), folder / ".before.jsonl")
        changes = tool.compared(row, then, now, [word for word in fail_on if word in BY_KIND] or ["none"])
        cases.write(row, now, db, changes, tool.joined(row))
    if then and row["kind"] == "judge":
        told["flaky"] = again.rerun(row, folder, changes)
    elif then:
        again.slow_again(row, folder, then, changes["times"])
    (folder / ".before.jsonl").unlink(missing_ok=True)
    mark_new(changes, here, row["name"])
    count_kinds(changes, told["flaky"])
    return told | changes | {"compared": then is not None}


def mark_new(changes, last, row):
    """Of each kind of finding whether it is of a cause that its backend did not have when it was asked last."""
    known = {same_cause(one) for backend, night in last.items() for old in night.told["rows"] if old["name"] == row
             for one in old["findings"] if one["backend"] == backend}
    for one in changes["findings"]:
        one["fresh"] = one["backend"] in last and same_cause(one) not in known


def count_kinds(changes, flaky):
    """Of each kind of change the number of its cases in their place, how many are flaky, and the first."""
    flaky = {(one["case"], one["backend"]) for one in flaky}
    for kind in changes["kinds"]:
        kind["flaky"] = sum((case["case"], case["backend"]) in flaky for case in kind["cases"])
        kind["number"], kind["first"] = len(kind["cases"]), kind.pop("cases")[0]


def cause(kind):
    return kind["why"] or kind["status"]


def same_cause(kind):
    return kind["backend"], kind["status"], kind["why"]


def checks(row, fail_on):
    """What can make a night red in a row, and of each what is said where it does; else nothing."""
    for change in BY_KIND:
        number = sum(kind["number"] - kind["flaky"] for kind in row["kinds"] if kind["change"] == change)
        word = "regressions" if change == "regression" and number != 1 else change
        if change in fail_on:
            yield change, number and f"{number} {word}"
    fresh = len({same_cause(one) for one in row["findings"] if one["fresh"]})
    if NEW in fail_on:
        yield NEW, fresh and f"{fresh} new kind{'s' if fresh > 1 else ''} of finding"
    for waiver in row.get("waivers", ()):
        yield f"waiver {waiver['row']}", waiver.get("said")
    slower = sum(map(is_slower, row["times"]))
    if SLOWER in fail_on:
        yield SLOWER, slower and f"{slower} slower"


def bad(told):
    """What makes the exit code 1, in words."""
    return [f"{row['name']}: {said}" for row in told["rows"] for _, said in checks(row, told["fail_on"]) if said]


def not_bad(told):
    """What is said of a night that is not bad."""
    if not any(history.answered(row) for row in told["rows"]):
        return "nothing ran"
    ran = "that ran " if any(row["missing"] for row in told["rows"]) else ""
    return f"nothing {ran}is worse{'' if told['before'] else ': the first night'}"


def is_slower(time):
    """By the distributions, where nothing else is known to have made it so, and each time that it was timed again."""
    return time["became"] == "SLOWER" and time.get("again") == again.RERUNS
