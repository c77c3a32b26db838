"""Lines of records of plumb bench that hold times."""

import collections
import itertools
import json
import lzma
import math
import re
import statistics
import sys

from record import says_origin


def bad_input(script, words):
    print(f"{script}: {words}", file=sys.stderr)
    sys.exit(2)


def records(paths, script):
    """Every record that has times, of iterations or of links, in the order of the files, which may be packed by xz. Ends the script where a line is no
    record: exit code 2, as of all bad input."""
    found = []
    for path in paths:
        try:
            with (lzma.open if str(path).endswith(".xz") else open)(path, "rt") as file:
                lines = file.read().splitlines()
        except (OSError, EOFError, lzma.LZMAError, UnicodeDecodeError) as error:
            text = "this is no text" if isinstance(error, UnicodeDecodeError) else getattr(error, "strerror", None) or error
            bad_input(script, f"{path}: {text}")
        for number, text in enumerate(lines, 1):
            try:
                record = json.loads(text)
                if says_origin(record):
                    continue
                record["case"], record["backend"]
                bench = dict(record.get("bench") or {})
            except (ValueError, KeyError, TypeError, RecursionError):
                bad_input(script, f"{path}:{number}: this line is not a record")
            if bench.get("nanoseconds") or bench.get("links"):
                found.append(record)
    if not found:
        bad_input(script, "these records hold no times: plumb bench --record makes some")
    return found


class Timed:
    """A case on a backend: the nanoseconds of each repetition, what was moved, and its limit."""

    def __init__(self, line, backend):
        self.line, self.backend, self.repetitions, self.sends, self.work, self.bytes = line, backend, [], [], {}, None
        self.devices = 1
        for size in re.findall(r"\w+=(\d+)", line.partition(":")[0].partition(" of ")[0]):
            self.devices *= int(size)

    def take(self, record):
        bench = record["bench"]
        self.repetitions.append(bench["nanoseconds"])
        self.sends += [bench["limits"]["send"]] if "send" in bench.get("limits", {}) else []
        self.work, self.bytes = bench.get("work", {}), record.get("bytes", {}).get("best_known")

    def median(self):
        """The middle of the repetitions', as in the table of plumb bench."""
        return statistics.median(self.medians())

    def limit(self):
        """What a send of as many bytes took, the middle of the repetitions'."""
        return statistics.median(self.sends)

    def medians(self):
        return [statistics.median(one) for one in self.repetitions]

    def of_all(self, percent):
        """The least sample at or below which so many of 100 parts of all lie, those of a repetition together as much as those of another."""
        whole = math.lcm(*map(len, self.repetitions))
        weighed = sorted((t, whole // len(one)) for one in self.repetitions for t in one)
        reached = itertools.accumulate(weight for _, weight in weighed)
        return next(t for (t, _), up_to in zip(weighed, reached) if 100 * up_to >= percent * whole * len(self.repetitions))


def timed_cases(records):
    cases = {}
    for record in (r for r in records if r["bench"]["nanoseconds"]):
        key = record["case"], record["backend"]
        cases.setdefault(key, Timed(*key)).take(record)
    numbers = lambda text: [int(word) if word.isdigit() else word for word in re.split(r"(\d+)", text)]
    return sorted(cases.values(), key=lambda c: (c.work.get("kind", ""), numbers(c.line), c.backend))


def grouped(things, key):
    groups = collections.defaultdict(list)
    for thing in things:
        if (k := key(thing)) is not None:
            groups[k].append(thing)
    return dict(sorted(groups.items()))


def families(cases):
    """(title, cases) of what comes on meshes of several sizes: the same arrays, or the same share of them."""
    found = {}
    for (backend, _), alike in grouped(cases, lambda c: (c.backend, re.sub(r"(?<=[=\[,])\d+", "#", c.line))).items():
        sizes = {c: [int(n) for n in re.findall(r"(?<=[\[,])\d+", c.line)] for c in alike}
        for scaled in itertools.product((0, 1), repeat=len(sizes[alike[0]])):
            share = lambda c: tuple(n / c.devices if s else n for n, s in zip(sizes[c], scaled))
            for members in grouped(alike, share).values():
                members.sort(key=lambda c: c.devices)
                whole = {c.line: c for c in members}  # more than one mesh, and no other way to scale has them too
                if len({c.devices for c in members}) > 1 and tuple(whole) not in found:
                    what = "a device's share fixed" if any(scaled) else "arrays fixed"
                    words = members[0].line.partition(": ")[2].replace(" -> ", "\n-> ")
                    found.setdefault((tuple(whole), what, words + f"\n{what}"), {})[backend] = members
    return [(title, by_backend) for (_, _, title), by_backend in found.items()]
