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


def expect(well, what):
    if not well:
        raise ValueError(what)


def number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= sys.float_info.max


def whole(value):
    return isinstance(value, int) and not isinstance(value, bool) and -2**63 <= value < 2**63


def words(value):
    return isinstance(value, str) and value.isprintable()


def listed(value, each):
    return isinstance(value, list) and all(map(each, value))


def described(value, keys=None):
    """Names, and what they come to; of these keys."""
    return isinstance(value, dict) and all(words(key) and words(str(one)) for key, one in value.items() if keys is None or key in keys)


def times(value):
    return listed(value, lambda one: number(one) and one > 0)


def link(value):
    return listed(value, number) and len(value) == 4 and all(map(whole, value[:2])) and value[2] > 0


def clocks(value):
    """When each rank entered and left, all of them as often: -1 who came late."""
    well = listed(value, lambda one: isinstance(one, dict) and whole(one.get("clock")) and listed(one.get("enter"), whole) and listed(one.get("leave"), whole))
    return (well and len({len(one[end]) for one in value for end in ("enter", "leave")}) < 2
            and all(0 <= enter <= leave or enter == leave == -1 for one in value for enter, leave in zip(one["enter"], one["leave"])))


def collective(value):
    return isinstance(value, dict) and words(value.get("kind")) and whole(value.get("in", 0)) and listed(value.get("groups", []), lambda group: listed(group, whole))


def work(value):
    return isinstance(value, dict) and words(value.get("kind")) and whole(value.get("devices")) and all(number(value.get(key)) for key in ("bytes", "factor", "flops"))


SCHEMAS = (1, 2)  # as plumb reads them (harness/record/record.h)

# What the scripts look at, of a record and of its `bench`.
MACHINE = ("cpu", "cores", "os", "plumbline", "revision")
OF_RECORD = {"bytes": lambda all: isinstance(all, dict) and number(all.get("best_known", 0)), "trace": lambda all: listed(all, collective),
             "environment": lambda all: described(all, MACHINE), "versions": described, "program": words}
OF_BENCH = {"limits": lambda all: isinstance(all, dict) and times(list(all.values())), "ranks": clocks, "collectives": clocks,
            "links": lambda all: listed(all, link), "work": work, "places": lambda all: listed(all, words)}


def numbers_in(text):
    """Of "0-3,7" the numbers."""
    ends = [[int(end) for end in one.split("-")] for one in text.split(",")]
    return {number for one in ends for number in range(one[0], one[-1] + 1)}


def share_cores(places):
    """Whether more ranks were started on a host than may have a core of their own: "0-3: host 0, cores 0-1"."""
    ranks, cores = collections.Counter(), collections.defaultdict(set)
    for place in places:
        if said := re.fullmatch(r"([\d,-]+): (.*), cores ([\d,-]+)", place):
            ranks[said[2]] += len(numbers_in(said[1]))
            cores[said[2]] |= numbers_in(said[3])
    return any(count > len(cores[host]) for host, count in ranks.items())


def devices_of(line):
    return math.prod(int(size) for size in re.findall(r"\w+=(\d+)", line.partition(":")[0].partition(" of ")[0]))


def fnv(text):
    value = 0xcbf29ce484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001b3 & 0xffffffffffffffff
    return f"{value:016x}"


def said(value):
    """Members in order, and numbers as they are: 2.0 is 2."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(float(value)).removesuffix(".0")
    if isinstance(value, dict):
        return "".join(f"{name}:{said(value[name])};" for name in sorted(value) if name != "seal")
    return value if isinstance(value, str) else "".join(said(one) + ";" for one in value or [])


def said_of_times(bench):
    """What older records seal: what was measured alone."""
    lists = ";".join(",".join(map(said, bench.get(key, []))) for key in ("nanoseconds", "slowest", "skew", "control"))
    return lists + "".join(f";{what} {said(bench['limits'][what])}" for what in sorted(bench.get("limits", {})))


def check_seal(record):
    """As plumb does (harness/record/repetition.cc). Raises ValueError."""
    bench = record["bench"]
    expect("seal" in bench or bench.get("launch", 0) == 0, "it has no seal: it may have been edited")
    expect("seal" not in bench or bench["seal"] in (fnv(record["case"] + ";" + said(bench)), fnv(said_of_times(bench))),
           "it was edited: it is not that of its seal")


def checked(record):
    """Whether a record holds times, of iterations or of links. Raises ValueError with what is none of a record."""
    expect(record.get("schema", 1) in SCHEMAS, f"schema {record.get('schema')}, and this reads {SCHEMAS[0]} to {SCHEMAS[-1]}: the scripts of the plumb that made it read it")
    expect(words(record.get("case")) and re.match(r"on [^:]+: .*\w\[", record["case"]) and devices_of(record["case"]) > 0, "case")
    expect(words(record.get("backend")), "backend")
    bench = record.get("bench")
    if bench is None:
        return False
    expect(record.get("status", "pass") == "pass", f"it has times, and is {record.get('status')}: a pass alone has some")
    expect(isinstance(bench, dict), "bench")
    expect(whole(bench.get("repetition")), "repetition")
    expect(times(bench.get("nanoseconds")), "nanoseconds")
    for of, members in ((bench, OF_BENCH), (record, OF_RECORD)):
        for key, well in members.items():
            expect(key not in of or well(of[key]), key)
    expect(all(max(one[:2]) < devices_of(record["case"]) for one in bench.get("links", [])), "links")
    ranks, calls = bench.get("ranks", []), bench.get("collectives", [])
    turns = len(record.get("trace", [])) + 2
    expect(not calls or not ranks or (len(calls) == len(ranks) and len(calls[0]["enter"]) == turns and all(min(one["enter"]) >= 0 for one in calls)), "collectives")
    check_seal(record)
    return bool(bench["nanoseconds"] or bench.get("links"))


def lines_of(path, script):
    """The whole lines of a record, which may be packed by xz. A run that was killed leaves a last one without its end, which is none."""
    try:
        with (lzma.open if str(path).endswith(".xz") else open)(path, "rt", newline="\n") as file:
            text = file.read()
    except (OSError, EOFError, lzma.LZMAError, UnicodeDecodeError) as error:
        text = "this is no text" if isinstance(error, UnicodeDecodeError) else getattr(error, "strerror", None) or error
        bad_input(script, f"{path}: {text}")
    *lines, last = text.split("\n")
    begins = ('{"backend":"', '{"backends":["', '{"ended":"')
    if last and not any(last.startswith(begin) or (lines and begin.startswith(last)) for begin in begins):
        bad_input(script, f"{path}:{len(lines) + 1}: this line is not a record")
    if last:
        print(f"{script}: {path}: its last line was not whole and is left out", file=sys.stderr)
    return lines


def records(paths, script):
    """Every record that has times, of iterations or of links, in the order of the files. Ends the script where a line is no record: exit code
    2, as of all bad input."""
    found, ranks = [], {}
    for path in paths:
        for number, text in enumerate(lines_of(path, script), 1):
            try:
                record = json.loads(text)
                expect(isinstance(record, dict), "it is no object")
                if says_origin(record) or not checked(record):
                    continue
                many = len(record["bench"].get("ranks", []))
                expect(many == 0 or ranks.setdefault((record["case"], record["backend"]), many) == many, "ranks")
            except (ValueError, OverflowError, RecursionError) as error:
                what = "it is not JSON" if isinstance(error, (json.JSONDecodeError, RecursionError)) else error
                bad_input(script, f"{path}:{number}: this line is not a record: {what}")
            found.append(record)
    if not found:
        bad_input(script, "these records hold no times: plumb bench --record makes some")
    return found


class Timed:
    """A case on a backend: the nanoseconds of each repetition, what was moved, and its limit."""

    def __init__(self, line, backend):
        self.line, self.backend, self.repetitions, self.sends, self.work, self.bytes = line, backend, [], [], {}, None
        self.devices, self.shared = devices_of(line), False

    def take(self, record):
        bench = record["bench"]
        self.repetitions.append(bench["nanoseconds"])
        self.sends += [bench["limits"]["send"]] if "send" in bench.get("limits", {}) else []
        self.shared = self.shared or share_cores(bench.get("places", []))
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


def of_any_ranks(case):
    """A backend that starts as many ranks as its mesh has devices is one for all meshes."""
    return re.sub(f",np={case.devices}(?=,|$)", "", case.backend)


def families(cases):
    """(title, cases) of what comes on meshes of several sizes: the same arrays, or the same share of them."""
    found = {}
    for (backend, _), alike in grouped(cases, lambda c: (of_any_ranks(c), re.sub(r"(?<=[=\[,])\d+", "#", c.line))).items():
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
