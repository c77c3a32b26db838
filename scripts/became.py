"""What became of each case from one release of JAX to another, for scripts/summarise."""

import json
import lzma
import pathlib
import subprocess
import tempfile

import audit
import calls
import pages
from strata import ROOT


def unpacked(backend, folder):
    file = pathlib.Path(folder) / f"{backend}.jsonl"
    with lzma.open(ROOT / f"results/released/{backend}.jsonl.xz") as packed:
        file.write_bytes(packed.read())
    return file


def compare(was, now):
    """A page of what plumb compare says of two releases, a configuration after the other."""
    print(f"# {was} to {now}\n\nWhat became of each case of the suite `released`, on virtual CPU devices: `plumb compare "
          f"--ignore-release` of the records in\n`results/released`. Made by `scripts/summarise compare {was} {now}`.\n")
    for options in ("", ",partitioner=gspmd", ",style=explicit", ",partitioner=gspmd,style=explicit"):
        with tempfile.TemporaryDirectory() as folder:
            both = [unpacked(release + options, folder) for release in (was, now)]
            done = subprocess.run([ROOT / "build/bin/plumb", "compare", "--ignore-release", "--json", *both], capture_output=True, text=True)
        print_compared(was + options, now + options, json.loads(done.stdout))


def row_of_change(rows, was, now, kind):
    """The audit's row of what became of some cases: of the later release where that has the finding, else of the earlier."""
    if not kind["why"] or kind["status"] == "unsupported":
        return None
    one = kind["cases"][0]
    return audit.row_of(rows, now if one.get("is") == kind["status"] else was, (kind["status"], kind["why"]), one["case"])


def print_compared(was, now, said):
    print(f"## {calls.options_of(was)}\n\n{', '.join(f'{n} {change}' for change, n in sorted(said['counts'].items(), key=lambda one: -one[1]))}\n")
    cells = {(one["was"], one["is"]): one["cases"] for one in said["table"]}
    before, after = (sorted({key[side] for key in cells}) for side in (0, 1))
    print(pages.table([["was \\ is", *after]] + [[a, *(cells.get((a, b), "") for b in after)] for a in before]) + "\n")
    print("What differs: " + "; ".join(one.partition(": ")[2] for one in said["versions"]) + "\n")
    if not said["kinds"]:
        return
    of, rows = {}, audit.rows()
    for kind in said["kinds"]:
        row = row_of_change(rows, was, now, kind)
        why = row.words if row else kind["why"]
        n, patterns, least = of.get((kind["change"], kind["status"], why), (0, 0, kind["cases"][0]["case"]))
        least = min([least, *(case["case"] for case in kind["cases"])], key=lambda one: (len(one), one))
        of[kind["change"], kind["status"], why] = n + len(kind["cases"]), patterns + 1, least
    print(pages.table([["change", "finding", "kind", "cases", "patterns of layouts", "the smallest"]] + [
        [change, status, why.replace("|", "\\|"), n, patterns, f"`{least}`"]
        for (change, status, why), (n, patterns, least) in sorted(of.items(), key=lambda one: -one[1][0])]) + "\n")
