"""What became of each case of a night, as files that a page reads: any two nights are compared in the reader's browser.

    HISTORY/lines/HASH.js            lines of cases in order: nights that judge the same share the file
    HISTORY/nights/NAME/ROW.js       of each backend, by the place of its lines: status, bytes, kind of finding; and of each that is
                                     unsupported, one after the other, why

Both are calls, for a page that is opened from the file system may load scripts and nothing else.
"""
import hashlib
import json
import re

from night import history, tables


def said(name, *words):
    """A call of a page's function, as a script."""
    return f"{name}({', '.join(json.dumps(word, separators=(',', ':')) for word in words)});\n"


def write(row, record, db, changes, joined):
    """Beside a record what was found of each case. What plumb compare says of every case is taken out of `changes`; `joined` is
    the name of a backend from night to night."""
    kinds, number_of, reasons, becomes = [], {}, {}, with_less(changes.pop("changes", {}))
    for finding in changes["findings"]:
        for line in finding.pop("lines"):
            number_of[finding["backend"], line] = len(kinds)
        kinds.append({name: finding[name] for name in ("backend", "status", "why", "layouts", "again")})
    if row["kind"] != "judge":
        return
    letter = {status: chr(ord("a") + n) for n, status in enumerate(becomes)}
    backends = {}
    for backend, versions, found in tables.by_backend(db):
        name = joined(backend)
        lines = [line for line, *_ in found]
        backends[name] = {
            "on": backend, "versions": versions, "lines": lines_file(record.parent.parent.parent, lines),
            "statuses": "".join(letter[status] for _, status, *_ in found), "moved": [moved for _, _, moved, _ in found],
            "unsupported": [reasons.setdefault(re.sub(r"\d+", "N", why or ""), len(reasons))
                            for _, status, _, why in found if status == "unsupported"],
            "kinds": [[at, number_of[name, line]] for at, line in enumerate(lines) if (name, line) in number_of]}
    history.write_whole(record.with_suffix(".js"), said("night", record.parent.name, row["name"], {
        "becomes": becomes, "runs": tables.runs(db), "environment": tables.environment(db), "backends": backends, "kinds": kinds,
        "reasons": list(reasons)}))


def with_less(becomes):
    """What each status becomes by each other, as plumb compare has it, with passes that rest on less beside it."""
    passes = [*(f"pass ({less})" for less in tables.LESS), "pass"]  # the weakest first
    if becomes:
        becomes |= {one: dict(becomes["pass"]) for one in passes}
        for of in becomes.values():
            of |= {one: of["pass"] for one in passes}
        for was, one in enumerate(passes):
            becomes[one] |= {other: "same" if now == was else "coverage lost" if now < was else "coverage gained"
                             for now, other in enumerate(passes)}
    return becomes


def lines_file(place, lines):
    """The name of the file that has these lines, made where it is not there."""
    name = hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]
    file = place / "lines" / f"{name}.js"
    if not file.exists():
        file.parent.mkdir(exist_ok=True)
        history.write_whole(file, said("lines", name, lines))
    return name
