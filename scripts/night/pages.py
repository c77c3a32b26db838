"""The pages of a history: static, with one script file that lies beside them; none asks another host."""
import collections
import hashlib
import json
import pathlib
import shutil
import subprocess
import textwrap

import plotly.offline

import audit
import squares
from night import again, cost, drawn, history, judging, tables, tool
from night.sheet import STYLE, code, escaped, matrix, page, table

COMPARE = pathlib.Path(__file__).with_name("compare.js").read_text()

TOLD = {"regression": "regressions", "worse": "worse", "coverage lost": "coverage lost", "vanished": "vanished",
        "hidden": "hidden", "fixed": "fixed"}


def name_of(kind):
    """The file of a kind: the same in every night."""
    return hashlib.sha256(json.dumps(judging.same_cause(kind)).encode()).hexdigest()[:16]


def shortened(words):
    return textwrap.shorten(words, 140, placeholder=" ...")


def kind_link(kind, depth=0):
    words = judging.cause(kind)
    return f'<a href="{"../" * depth}kind/{name_of(kind)}.html">{escaped(shortened(words))}</a>'


def number_of(row, change):
    return sum(kind["number"] - kind["flaky"] for kind in row["kinds"] if kind["change"] == change)


def causes(told):
    """The findings of a night by cause, new ones first, then the most frequent: (row, the one of the smallest case, cases, layouts,
    fresh)."""
    found = {}
    for row in told["rows"]:
        for one in row["findings"]:
            key = row["name"], *judging.same_cause(one)
            least, cases, layouts, fresh = found.get(key, (one, 0, 0, False))
            least = min(least, one, key=lambda of: (len(of["smallest"]), of["smallest"]))
            found[key] = least, cases + one["cases"], layouts + 1, fresh or one["fresh"]
    return sorted(((key[0], *one) for key, one in found.items()), key=lambda one: (not one[4], -one[2]))


def tonight(nights, killed):
    told = nights[-1].told
    said = judging.bad(told)
    body = f'<p class="mark">{escaped("; ".join(said) or judging.not_bad(told))}</p>'
    body += f'<p class="faint">against {escaped(told["before"] or "nothing: the first night")}</p>'
    if killed:
        body += f'<p class="faint">cut short, and not gone on with: {escaped(", ".join(killed))}</p>'
    for part in told["absent"]:
        body += f'<p class="mark">part {part} is missing: what it would have judged is not compared</p>'
    rows = []
    for row in told["rows"]:
        cases = sum(n for of in row["statuses"].values() for n in of.values())
        found = sum(one["cases"] for one in row["findings"])
        fresh = len({judging.same_cause(one) for one in row["findings"] if one["fresh"]})
        paced = [sum(map(judging.is_slower, row["times"])), sum(time["became"] == "FASTER" for time in row["times"])]
        rows.append([escaped(row["name"]), escaped(", ".join(row["statuses"])), cases, found, fresh,
                     *(number_of(row, change) for change in TOLD), len(row["flaky"]), *paced])
    head = ["configuration", "backends", "cases", "findings", "new kinds", *TOLD.values(), "flaky", "slower", "faster"]
    shown = [at for at in range(len(head)) if at < 5 or any(row[at] for row in rows)]
    body += "<h2>Configurations</h2>" + table([head[at] for at in shown], [[row[at] for at in shown] for row in rows])
    missing = [[escaped(row["name"]), escaped(backend), escaped(why)] for row in told["rows"] for backend, why in row["missing"].items()]
    if missing:
        body += "<h2>Did not run</h2>" + table(["configuration", "backend", "why"], missing)
    body += "<h2>Kinds of findings</h2>" + table(
        ["configuration", "backend", "verdict", "cause", "cases", "layouts", ""],
        [[escaped(name), escaped(one["backend"]), escaped(one["status"]), kind_link(one), cases, layouts,
          '<span class="mark">new</span>' if fresh else ""] for name, one, cases, layouts, fresh in causes(told)])
    return page(f"Tonight: {nights[-1].name}", body + times(told))


def times(told):
    """What is faster or slower, or only seems to be, and what says so; the rest is counted."""
    found = [(row["name"], time) for row in told["rows"] for time in row["times"]]
    if not found:
        return ""
    moved = [(name, time) for name, time in found if time["became"] in ("SLOWER", "FASTER") or "again" in time or time.get("besides")]
    counts = counted_times([time for _, time in found])
    counted = "" if judging.SLOWER in told["fail_on"] else ": of no weight, for fail-on does not name slower"
    middle = lambda time, what: f"{time[what][1]:.3f}" if what in time else ""
    return f"<h2>Times</h2><p>{counts}{counted}</p>" + (table(
        ["configuration", "case", "backend", "became", "now to then", "beside its limit", ""],
        [[escaped(name), code(time["case"]), escaped(time["backend"]), escaped(time["became"]), middle(time, "ratio"),
          middle(time, "controlled"), escaped(why_paced(time))] for name, time in moved]) if moved else "")


def counted_times(times):
    return ", ".join(f"{n} {became}" for became, n in collections.Counter(time["became"] for time in times).items())


def why_paced(time):
    rerun = f"slower again {time['again']} times of {again.RERUNS}" if "again" in time else ""
    beside = f"side by side with {time['beside']}" if "beside" in time else ""
    return "; ".join(one for one in (time.get("besides", "") if time["became"] == "UNSURE" else "", rerun, beside) if one)


def explained(line):
    """The case device by device, as plumb explain draws it."""
    done = subprocess.run([tool.PLUMB, "explain", line], capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else ""


def known(kind):
    """What the audit of published findings says of such a one (results/kinds); nothing where it has none."""
    row = audit.row_of(audit.rows(), kind["on"], (kind["status"], kind["why"]), kind["smallest"])
    if not row:
        return ""
    return f"<p>Known: {escaped(row.words)} ({escaped(row.sort)}): {escaped(row.evidence)}</p>"


def releases_of(kind, night):
    """The backends as they were run that had a kind of this cause in a night, each with its number of cases."""
    found = {}
    for row in night.told["rows"]:
        for one in row["findings"]:
            if judging.same_cause(one) == judging.same_cause(kind):
                found[one["on"]] = found.get(one["on"], 0) + one["cases"]
    return found


def kind_page(kind, nights):
    body = f'<p>{escaped(kind["status"])} on {escaped(kind["backend"])}</p>'
    body += f"<h2>The smallest case</h2><p>{code(kind['smallest'])}</p><pre>{escaped(kind['said'])}</pre>"
    body += f"<p>Run it: {code(kind['again'])}</p>" + known(kind)
    of = {night.name: releases_of(kind, night) for night in nights}
    releases = sorted({on for found in of.values() for on in found})
    body += "<h2>Over the nights</h2>" + drawn.bars(list(of), {on: [found.get(on, 0) for found in of.values()] for on in releases},
                                                   "cases")
    seen = [name for name, found in of.items() if found]
    body += f"<p>First seen in {escaped(seen[0])}, last in {escaped(seen[-1])}, on {escaped(', '.join(releases))}.</p>"
    body += f"<h2>What each device holds</h2><pre>{escaped(explained(kind['smallest']))}</pre>"
    return page(f"{kind['status']}: {shortened(judging.cause(kind))}", body, 1)


def changes(row):
    """By cause: cases, those that are flaky, how many patterns of layouts, the first case."""
    found = {}
    for kind in row["kinds"]:
        found.setdefault((kind["change"], kind["backend"], judging.cause(kind)), []).append(kind)
    return [[escaped(change), escaped(backend), escaped(shortened(why)), sum(kind["number"] for kind in kinds),
             sum(kind["flaky"] for kind in kinds), len(kinds), code(kinds[0]["first"]["case"])]
            for (change, backend, why), kinds in found.items()]


def last_two(nights):
    """What plumb compare said of the last night and the one before."""
    told, body = nights[-1].told, ""
    for row in told["rows"]:
        body += f"<h2>{escaped(row['name'])}: {escaped(row['before'] or 'nothing')} | {escaped(nights[-1].name)}</h2>"
        body += "".join(f"<p>{escaped(backend)} did not answer in {escaped(row['before'])}: it is compared with {escaped(night)}</p>"
                        for backend, night in row.get("others", {}).items())
        if not row.get("compared"):
            body += '<p class="faint">there is no record of before</p>'
            continue
        cells = {}
        for one in row["table"]:
            cells.setdefault(one["was"], {})[one["is"]] = one["cases"]
        body += matrix("was \\ is", sorted({one["is"] for one in row["table"]}), sorted(cells.items()))
        body += "".join(f"<p>{escaped(one)}</p>" for one in row["versions"] + row["environment"])
        body += table(["change", "backend", "cause", "cases", "flaky", "layouts", "the first"], changes(row), "no verdict changed")
        body += f"<p>times: {counted_times(row['times'])}</p>" if row["times"] else ""
    return body


def compare_page(nights):
    """Any two nights that have their records: the page reads what cases.py wrote of them."""
    there = {night.name: sorted(file.stem for file in night.folder.glob("*.js")) for night in nights}
    there = {name: names for name, names in there.items() if names}
    pair = [nights[-1].told["before"], nights[-1].name]
    choice = lambda side, night: f'<select id="{side}">' + "".join(
        f'<option{" selected" if one == night else ""}>{escaped(one)}</option>' for one in there) + "</select>"
    said = json.dumps(there).replace("</", "<\\/")
    return page("Compare", f'<p>was {choice("from", pair[0])} is {choice("to", pair[1])}</p><div id="chosen" hidden></div>'
                           f'<div id="last">{last_two(nights)}</div><script>const NIGHTS = {said};\n{COMPARE}</script>')


def maps(night):
    """A page of each backend whose cases are such squares, by its name; and the page that leads to them."""
    pages, rows = {}, []
    for row in night.told["rows"]:
        record = night.folder / f"{row['name']}.jsonl"
        if row["kind"] != "judge" or not record.exists():
            continue
        for (backend, mesh, shape), sources, targets, cells in squares.squares(tables.reshards(tables.opened(record))):
            name = hashlib.sha256(f"{row['name']} {backend}".encode()).hexdigest()[:16]
            title = f"{shape} on {mesh}: {len(sources)} x {len(targets)} layouts"
            body = pages.setdefault(name, [f"Map: {row['name']} on {backend}",
                                           "<p>A row is the layout of before, a column that of after; a cell is a case.</p>"])
            body[1] += f"<h2>{escaped(title)}</h2>" + drawn.square(sources, targets, cells)
            rows.append([escaped(row["name"]), f'<a href="map/{name}.html">{escaped(backend)}</a>', escaped(title), len(cells)])
    return {name: page(title, body, 1) for name, (title, body) in pages.items()}, page(
        "Map", "<p>Each layout to each, coloured by verdict or by bytes over the bound.</p>" +
        table(["configuration", "backend", "square", "cases"], rows))


def coverage_page(nights):
    told = nights[-1].told
    before = {(row["name"], one["backend"], one["why"]): one["cases"] for row in (nights[-2].told["rows"] if len(nights) > 1 else [])
              for one in row["unsupported"]}
    rows = [[escaped(row["name"]), escaped(one["backend"]), escaped(one["why"]), one["cases"],
             before.get((row["name"], one["backend"], one["why"]), 0)] for row in told["rows"] for one in row["unsupported"]]
    waived = sorted((waiver["until"], row["name"], waiver["row"], waiver.get("said", ""))
                    for row in told["rows"] for waiver in row["waivers"])
    return page("Coverage and waivers", "<h2>Unsupported</h2>" + table(
        ["configuration", "backend", "why", "cases", "the night before"], rows) + "<h2>Waivers</h2>" + table(
        ["until", "configuration", "row", ""], [[until, escaped(name), code(text), f'<span class="mark">{escaped(said)}</span>' if said else ""]
                                                for until, name, text, said in waived]))


def fleet_page(night, into):
    records = [night.folder / f"{row['name']}.jsonl" for row in night.told["rows"] if row["kind"] == "bench"]
    records = [record for record in records if record.exists()]
    if not records:
        return page("Fleet", '<p class="faint">nothing was timed</p>')
    for folder, words in (("fleet", ()), ("fleet/narrow", ("--narrow",))):
        done = subprocess.run([tool.ROOT / "scripts/plot", *records, "--out", into / folder, *words], capture_output=True, text=True)
        if done.returncode != 0:
            return page("Fleet", f"<p>not drawn: {escaped(done.stderr.strip())}</p>")
    pictures = sorted((into / "fleet").glob("*.svg"))
    return page("Fleet", '<p><a href="fleet/index.html">All figures</a></p>' + "".join(
        f'<h2>{escaped(one.stem)}</h2><div class="wide"><picture><source media="(max-width: 600px)" srcset="fleet/narrow/{one.name}">'
        f'<img alt="{escaped(one.stem)}" src="fleet/{one.name}"></picture></div>' for one in pictures))


def copy_cases(place, nights, into):
    """What the page that compares any two nights reads."""
    for night in nights:
        for file in night.folder.glob("*.js"):
            (into / "nights" / night.name).mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, into / "nights" / night.name / file.name)
    if (place / "lines").exists():
        shutil.copytree(place / "lines", into / "lines")


def write(place):
    """All pages anew; those of before stay until they are whole."""
    nights = [one for one in history.nights(place) if one.told]
    killed = [one.name for one in history.nights(place) if not one.told]
    if not nights:
        return
    into, done = place / "pages.new", place / "pages"
    shutil.rmtree(into, ignore_errors=True)
    (into / "kind").mkdir(parents=True)
    (into / "style.css").write_text(STYLE)
    (into / "plotly.min.js").write_text(plotly.offline.get_plotlyjs())
    map_pages, map_index = maps(nights[-1])
    (into / "map").mkdir()
    for name, text in map_pages.items():
        (into / "map" / f"{name}.html").write_text(text)
    for name, text in {"index": tonight(nights, killed), "compare": compare_page(nights), "map": map_index,
                       "cost": cost.cost_page(nights), "coverage": coverage_page(nights),
                       "fleet": fleet_page(nights[-1], into)}.items():
        (into / f"{name}.html").write_text(text)
    kinds = {name_of(one): one for night in nights for _, one, *_ in causes(night.told)}  # as the last night has it
    for name, kind in kinds.items():
        (into / "kind" / f"{name}.html").write_text(kind_page(kind, nights))
    copy_cases(place, nights, into)
    shutil.rmtree(place / "pages.old", ignore_errors=True)
    if done.exists():
        done.rename(place / "pages.old")
    into.rename(done)
    shutil.rmtree(place / "pages.old", ignore_errors=True)
