"""The pages of a history: static, with one script file that lies beside them; none asks another host."""
import hashlib
import html
import json
import pathlib
import shutil
import subprocess

import plotly.offline

from night import drawn, history, judging, tables

STYLE = """
:root { --mark: #0b5cad; }
body { font: 15px/1.45 system-ui, sans-serif; margin: 0 auto; padding: 0 1rem 3rem; max-width: 72rem; color: #222; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
nav { padding: .6rem 0; border-bottom: 1px solid #ddd; } nav a { margin-right: 1rem; } a { color: var(--mark); }
.wide { overflow-x: auto; } table { border-collapse: collapse; } th { text-align: left; font-weight: 600; }
td, th { padding: .2rem .8rem .2rem 0; vertical-align: top; border-bottom: 1px solid #eee; } td.n { text-align: right; } td code { display: inline-block; min-width: 15rem; }
code, pre { font: 13px/1.4 ui-monospace, monospace; overflow-wrap: anywhere; } pre { overflow-x: auto; background: #f6f6f6; padding: .6rem; }
.mark { color: var(--mark); font-weight: 600; } .faint { color: #666; } .picture { width: 100%; min-height: 26rem; }
"""
PAGES = {"index": "Tonight", "compare": "Compare", "map": "Map", "cost": "Cost", "coverage": "Coverage and waivers",
         "fleet": "Fleet"}
TOLD = {"regression": "regressions", "worse": "worse", "coverage lost": "coverage lost", "vanished": "vanished",
        "hidden": "hidden", "fixed": "fixed"}


def escaped(text):
    return html.escape(str(text))


def page(title, body, depth=0):
    up = "../" * depth
    body = drawn.with_script(body, up)
    links = "".join(f'<a href="{up}{name}.html">{escaped(words)}</a>' for name, words in PAGES.items())
    return (f'<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
            f'<title>{escaped(title)}</title><link rel="icon" href="data:,"><link rel="stylesheet" href="{up}style.css">'
            f'</head><body><nav>{links}</nav><h1>{escaped(title)}</h1>{body}</body></html>\n')


def table(head, rows):
    """Cells are HTML; what is a number stands right."""
    cell = lambda tag, one: f'<{tag}{" class=n" if isinstance(one, int) else ""}>{one}</{tag}>'
    if not rows:
        return '<p class="faint">nothing</p>'
    body = "".join("<tr>" + "".join(cell("td", one) for one in row) + "</tr>" for row in rows)
    return f'<div class="wide"><table><tr>{"".join(cell("th", one) for one in head)}</tr>{body}</table></div>'


def name_of(kind):
    """The file of a kind: the same in every night."""
    return hashlib.sha256(json.dumps(judging.same_cause(kind)).encode()).hexdigest()[:16]


def kind_link(kind, depth=0):
    words = kind["why"] or kind["status"]
    return f'<a href="{"../" * depth}kind/{name_of(kind)}.html">{escaped(words[:140])}</a>'


def code(text):
    return f"<code>{escaped(text)}</code>"


def number_of(row, change):
    return sum(kind["number"] - kind["flaky"] for kind in row["kinds"] if kind["change"] == change)


def causes(told):
    """The findings of a night by cause, the most frequent first: (row, the first of them, cases, layouts, fresh)."""
    found = {}
    for row in told["rows"]:
        for one in row["findings"]:
            key = row["name"], *judging.same_cause(one)
            first, cases, layouts, fresh = found.get(key, (one, 0, 0, False))
            found[key] = first, cases + one["cases"], layouts + 1, fresh or one["fresh"]
    return sorted(((key[0], *one) for key, one in found.items()), key=lambda one: (not one[4], -one[2]))


def tonight(nights, killed):
    told = nights[-1].told
    said = judging.bad(told)
    body = f'<p class="mark">{escaped("; ".join(said) or "nothing is worse")}</p>'
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
        paced = [sum(time["became"] == became for time in row["times"]) for became in ("SLOWER", "FASTER")]
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
    slower = [[escaped(row["name"]), code(time["case"]), escaped(time["backend"]), escaped(time["became"]), f'{time["ratio"][1]:.3f}']
              for row in told["rows"] for time in row["times"] if time["became"] in ("SLOWER", "FASTER")]
    if slower:
        body += "<h2>Times</h2>" + table(["configuration", "case", "backend", "became", "now to then"], slower)
    return page(f"Tonight: {nights[-1].name}", body)


def explained(line):
    """The case device by device, as plumb explain draws it."""
    done = subprocess.run([judging.PLUMB, "explain", line], capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else ""


def upstream():
    """Where kinds of findings are known: results/systems/known, by words of the cause."""
    file = judging.ROOT / "results/systems/known"
    return [line.split("\t") for line in file.read_text().splitlines() if "\t" in line] if file.exists() else []


def kind_page(kind, nights, times):
    body = f'<p>{escaped(kind["status"])} on {escaped(kind["backend"])}</p>'
    body += f"<h2>The first case</h2><p>{code(kind['first'])}</p><pre>{escaped(kind['said'])}</pre>"
    body += f"<p>Run it: {code(kind['again'])}</p>"
    known = [url for words, url, *_ in upstream() if words and words in kind["why"]]
    body += f"<p>Known: {', '.join(map(escaped, known))}</p>" if known else ""
    counted = [times.get(night.name, 0) for night in nights]
    body += "<h2>Over the nights</h2>" + drawn.bars([night.name for night in nights], counted, "cases")
    seen = [night for night in nights if night.name in times]
    releases = sorted({one["on"] for night in seen for row in night.told["rows"] for one in row["findings"]
                       if judging.same_cause(one) == judging.same_cause(kind)})
    body += f"<p>First seen in {escaped(seen[0].name)}, last in {escaped(seen[-1].name)}, on {escaped(', '.join(releases))}.</p>"
    body += f"<h2>What each device holds</h2><pre>{escaped(explained(kind['first']))}</pre>"
    return page(f"{kind['status']}: {kind['why'][:100] or kind['backend']}", body, 1)


def changes(row):
    """By cause: cases, those that are flaky, how many patterns of layouts, the first case."""
    found = {}
    for kind in row["kinds"]:
        found.setdefault((kind["change"], kind["backend"], kind["why"] or kind["status"]), []).append(kind)
    return [[escaped(change), escaped(backend), escaped(why[:120]), sum(kind["number"] for kind in kinds),
             sum(kind["flaky"] for kind in kinds), len(kinds), code(kinds[0]["first"]["case"])]
            for (change, backend, why), kinds in found.items()]


def compare_page(nights):
    told, body = nights[-1].told, ""
    for row in told["rows"]:
        body += f"<h2>{escaped(row['name'])}: {escaped(row['before'] or 'nothing')} | {escaped(nights[-1].name)}</h2>"
        if not row.get("compared"):
            body += '<p class="faint">there is no record of before</p>'
            continue
        was, now = (list(dict.fromkeys(one[side] for one in row["table"])) for side in ("was", "is"))
        cells = {(one["was"], one["is"]): one["cases"] for one in row["table"]}
        body += table(["was \\ is", *map(escaped, now)], [[escaped(a), *(cells.get((a, b), "") for b in now)] for a in was])
        body += "".join(f"<p>{escaped(one)}</p>" for one in row["versions"])
        body += table(["change", "backend", "cause", "cases", "flaky", "layouts", "the first"], changes(row))
    return page("Compare", body)


def maps(night):
    """A page of each backend whose cases are such squares, by its name; and the page that leads to them."""
    pages, rows = {}, []
    for row in night.told["rows"]:
        record = night.folder / f"{row['name']}.jsonl"
        if row["kind"] != "judge" or not record.exists():
            continue
        for (backend, mesh, shape), sources, targets, cells in tables.squares(record):
            name = hashlib.sha256(f"{row['name']} {backend}".encode()).hexdigest()[:16]
            title = f"{shape} on {mesh}: {len(sources)} x {len(targets)} layouts"
            body = pages.setdefault(name, [f"Map: {row['name']} on {backend}",
                                           "<p>A row is the layout of before, a column that of after; a cell is a case.</p>"])
            body[1] += f"<h2>{escaped(title)}</h2>" + drawn.square(sources, targets, cells)
            rows.append([escaped(row["name"]), f'<a href="map/{name}.html">{escaped(backend)}</a>', escaped(title), len(cells)])
    return {name: page(title, body, 1) for name, (title, body) in pages.items()}, page(
        "Map", "<p>Each layout to each, coloured by verdict or by bytes over the bound.</p>" +
        table(["configuration", "backend", "square", "cases"], rows))


def cost_page(nights):
    body = ("<p>Geometric means over the cases of a stratum that pass in a night: backend, op, devices, machine. How many these are "
            "stands under the pointer: a mean of others is no change of cost.</p>")
    for what, words in (("bytes", "bytes over the bound"), ("compile", "seconds of compilation"), ("run", "seconds of a run"),
                        ("bench", "seconds under the clock")):
        lines = {}
        for at, night in enumerate(nights):
            for row in night.told["rows"]:
                for one in row["costs"]:
                    if one[what]:
                        backend = judging.without_release(one["backend"]) if judging.joins(row) else one["backend"]
                        name = f"{row['name']}, {backend}, {one['op']}, {one['devices']} devices, {row['machine']}"
                        lines.setdefault(name, [None] * len(nights))[at] = one[what], one["cases"]
        body += f"<h2>{words}</h2>" + (drawn.lines([n.name for n in nights], lines) if lines else '<p class="faint">nothing</p>')
    return page("Cost", body)


def coverage_page(nights):
    told = nights[-1].told
    before = {(row["name"], one["backend"], one["why"]): one["cases"] for row in (nights[-2].told["rows"] if len(nights) > 1 else [])
              for one in row["unsupported"]}
    rows = [[escaped(row["name"]), escaped(one["backend"]), escaped(one["why"]), one["cases"],
             before.get((row["name"], one["backend"], one["why"]), 0)] for row in told["rows"] for one in row["unsupported"]]
    waived = sorted((waiver["until"], row["name"], waiver["row"]) for row in told["rows"] for waiver in row["waivers"])
    over = nights[-1].name[:10]
    return page("Coverage and waivers", "<h2>Unsupported</h2>" + table(
        ["configuration", "backend", "why", "cases", "the night before"], rows) + "<h2>Waivers</h2>" + table(
        ["until", "configuration", "row"], [[f'<span class="mark">{until}: over</span>' if until < over else until, escaped(name),
                                             code(text)] for until, name, text in waived]))


def fleet_page(night, into):
    records = [night.folder / f"{row['name']}.jsonl" for row in night.told["rows"] if row["kind"] == "bench"]
    records = [record for record in records if record.exists()]
    if not records:
        return page("Fleet", '<p class="faint">nothing was timed</p>')
    done = subprocess.run([judging.ROOT / "scripts/plot", *records, "--out", into / "fleet"], capture_output=True, text=True)
    if done.returncode != 0:
        return page("Fleet", f"<p>not drawn: {escaped(done.stderr.strip())}</p>")
    pictures = sorted((into / "fleet").glob("*.svg"))
    return page("Fleet", "".join(f'<h2>{escaped(one.stem)}</h2><img style="max-width:100%" alt="{escaped(one.stem)}" '
                                 f'src="fleet/{one.name}">' for one in pictures))


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
                       "cost": cost_page(nights), "coverage": coverage_page(nights),
                       "fleet": fleet_page(nights[-1], into)}.items():
        (into / f"{name}.html").write_text(text)
    kinds, times = {}, {}
    for night in nights:  # the first case of the last night that had it
        for _, one, cases, _, _ in causes(night.told):
            kinds[name_of(one)] = one
            of = times.setdefault(name_of(one), {})
            of[night.name] = of.get(night.name, 0) + cases
    for name, kind in kinds.items():
        (into / "kind" / f"{name}.html").write_text(kind_page(kind, nights, times[name]))
    shutil.rmtree(place / "pages.old", ignore_errors=True)
    if done.exists():
        done.rename(place / "pages.old")
    into.rename(done)
    shutil.rmtree(place / "pages.old", ignore_errors=True)
