"""`results/releases`: which releases show each kind of `results/kinds`, for scripts/confirmed, which tries them, and scripts/summarise."""

import pathlib
import re


def by_number(release):
    return [int(part) for part in re.findall(r"\d+", release)]


FILE = pathlib.Path(__file__).resolve().parent.parent / "results/releases"
HEAD = """# Which releases show a kind of results/kinds by its script of scripts/confirm, with numpy and the framework alone. Made by
# scripts/confirmed --releases. Columns, separated by tabs: framework; partitioner, of JAX; the kind; the releases that show it;
# those tried that do not: they have it right, refuse it, or lack what the script calls.
"""


def shown():
    """{(framework, partitioner, words): {release: whether it shows the kind}}."""
    found = {}
    for line in FILE.read_text().splitlines() if FILE.exists() else []:
        if line and not line.startswith("#"):
            framework, partitioner, words, yes, no = line.split("\t")
            found[framework, partitioner, words] = {r: said for said, some in ((True, yes), (False, no)) for r in some.split()}
    return found


def write_shown(found):
    listed = lambda of, said: " ".join(sorted((r for r, shown in of.items() if shown == said), key=by_number))
    lines = ["\t".join([*key, listed(of, True), listed(of, False)]) for key, of in sorted(found.items())]
    FILE.write_text(HEAD + "".join(f"{line}\n" for line in lines))


def since(framework, words, known):
    """Which of the releases that were tried shows a kind first, and which of later ones do not."""
    said = []
    for partitioner, named in (("", ""), ("shardy", " with Shardy"), ("gspmd", " with GSPMD")):
        of = known.get((framework, partitioner, words), {})
        tried = sorted(of, key=by_number)
        shows = [release for release in tried if of[release]]
        if not shows:
            continue
        gone = [release for release in tried[tried.index(shows[0]):] if not of[release]]
        oldest = ", the oldest of" if shows[0] == tried[0] else ", of"
        said.append(f"{named} by {shows[0]}{oldest} {len(tried)} tried" + (f", and not by {', '.join(gone)}" if gone else ""))
    return f" Shown first{';'.join(said)}." if said else ""


def tried(name):
    """The releases that the scripts were run by."""
    of = {release for (framework, _, _), some in shown().items() if framework == name for release in some}
    return "" if not of else (f"Releases of which *tried* speaks below, by which each kind's script was run (`results/releases`): "
                              f"{', '.join(sorted(of, key=by_number))}.\n")


def first(framework, words):
    """The first release that shows it; of JAX by each partitioner."""
    said = []
    for partitioner, named in (("", ""), ("shardy", " (Shardy)"), ("gspmd", " (GSPMD)")):
        of = shown().get((framework, partitioner, words), {})
        if yes := [release for release in of if of[release]]:
            said.append(min(yes, key=by_number) + named)
    return ", ".join(said)
