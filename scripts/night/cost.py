"""What cases cost over the nights, as geometric means of strata, and where that changes."""
import json
import pathlib
import subprocess

import environments
from night import drawn, tool
from night.sheet import escaped, page, table

OTAVA = "otava@0.8.0"
FEWEST = 3  # values of which Otava may say that one differs
COSTS = {"bytes": "bytes over the bound", "compile": "seconds of compilation", "run": "seconds of a run",
         "bench": "seconds under the clock"}


def series(nights):
    """Of each cost what it was in each night, by stratum: (value, cases), or None."""
    found = {what: {} for what in COSTS}
    for at, night in enumerate(nights):
        for row in night.told["rows"]:
            for one in row["costs"]:
                backend = tool.joined(row)(one["backend"])
                name = f"{row['name']}, {backend}, {one['op']}, {one['devices']} devices, {row['machine']}"
                for what in COSTS:
                    if one[what]:
                        found[what].setdefault(name, [None] * len(nights))[at] = one[what], one["cases"]
    return found


def answered(python, asked):
    """What marks.py says of series, which starts for seconds."""
    if not asked:
        return {}
    done = subprocess.run([python, pathlib.Path(__file__).with_name("marks.py")], input=json.dumps(asked), capture_output=True,
                          text=True)
    if done.returncode != 0:
        raise tool.OursFailed(f"marks.py: {done.stderr.strip()}")
    return json.loads(done.stdout)


def marks(found):
    """Of each series of nights where it changes, as marks.py says it, by cost: not where it has become a mean of more or fewer cases,
    nor in the digits in which a sum of the same logarithms differs by its order. None where there is no Apache Otava."""
    python = environments.python_of(OTAVA)
    if not python:
        return None
    asked = {json.dumps([what, name]): [float(f"{one[0]:.9g}") for one in points if one] for what, lines in found.items()
             for name, points in lines.items()}
    said = {what: {} for what in COSTS}
    for key, marked in answered(python, {key: values for key, values in asked.items() if len(values) >= FEWEST}).items():
        what, name = json.loads(key)
        there = [(at, one[1]) for at, one in enumerate(found[what][name]) if one]
        said[what][name] = [(there[index][0], before, after) for index, before, after in marked
                            if there[index][1] == there[index - 1][1]]
    return said


def cost_page(nights):
    body = ("<p>Geometric means over the cases of a stratum that pass in a night: configuration, backend, op, devices, machine. How "
            "many these are stands under the pointer: a mean of others is no change of cost.</p>")
    found = series(nights)
    marked = marks(found)
    body += f'<p class="faint">No change is marked: scripts/environment {OTAVA}</p>' if marked is None else ""
    for what, words in COSTS.items():
        changes = [(name, *mark) for name, all_marks in (marked or {}).get(what, {}).items() for mark in all_marks]
        body += f"<h2>{words}</h2>"
        if not found[what]:
            body += '<p class="faint">nothing</p>'
            continue
        if changes:
            body += table(["changed", "since", "from", "to", "by"], [
                [escaped(name), escaped(nights[at].name), f"{was:.3g}", f"{now:.3g}", f"{100 * (now / was - 1):+.1f} %"]
                for name, at, was, now in sorted(changes, key=lambda one: -one[1])])
        body += drawn.lines([night.name for night in nights], found[what], changes)
    return page("Cost", body)
