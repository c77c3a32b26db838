"""Modules drawn as data and written as HLO text are read back as they were drawn."""

import random
import unittest

from plumb_worker import hlo

BITS = {"f32": 32, "bf16": 16, "s8": 8, "u4": 4, "pred": 8, "f8e4m3fn": 8, "s32": 32, "f64": 64, "c64": 64, "token": 0,
        "u2": 2, "f4e2m1fn": 4, "s64": 64}
VALUES = ["{{0,1},{2,3}}", "[2,2]<=[4]", "[4,2]<=[2,2,2]T(0,2,1)", "mesh['a'=2,'b'=2] {'b'}",
          "mesh['a'=2,'b'=2], device_ids=([2,2]T(1,0)) {'a','b'}", "{0}", "1", "true", '"a, b"', '"%x=)("',
          '{"known_trip_count":{"n":"7"},"other":[1,2]}', "{op_name=\"jit(f)/dot, {x}\" source_line=3}", "(1, 2)"]
KEYS = ["replica_groups", "channel_id", "dimensions", "metadata", "frontend_attributes", "use_global_device_ids"]
CALLS = ["calls", "to_apply", "body", "condition", "true_computation", "false_computation"]


class Drawn:
    """One line: what it is, and its text."""

    def __init__(self, draw, name, known, others):
        self.name = name
        self.opcode = draw.choice(("add", "all-reduce", "fusion", "while", "parameter", "get-tuple-element", "tuple"))
        self.root = draw.random() < 0.2
        self.size, self.dtype, self.shape = shape(draw)
        self.operands = draw.choices(known, k=draw.randrange(4)) if known else []
        self.number = draw.randrange(5)
        self.attributes, self.called, self.branches, self.trips = {}, {}, [], None
        if self.opcode == "parameter":
            self.operands = []
        for key in draw.sample(KEYS, draw.randrange(4)):
            self.attributes[key] = draw.choice(VALUES)
            if "known_trip_count" in self.attributes[key]:
                self.trips = 7
        for key in draw.sample(CALLS, draw.randrange(3)):
            self.called[key] = draw.choice(others)
        if draw.random() < 0.2:
            self.branches = draw.choices(others, k=1 + draw.randrange(3))
        self.text = self.write(draw)

    def write(self, draw):
        percent = lambda name: ("%" if draw.random() < 0.8 else "") + name
        said = []
        for n, name in enumerate(self.operands):
            comment = f"/*index={n}*/" if draw.random() < 0.3 else ""
            kind = draw.choice(("", "f32[4]{0} ", "(f32[2], s32[]) ")) if draw.random() < 0.5 else ""
            said.append(comment + kind + percent(name))
        inner = str(self.number) if self.opcode == "parameter" else ", ".join(said)
        more = [f"{key}={value}" for key, value in self.attributes.items()]
        more += [f"{key}={percent(name)}" for key, name in self.called.items()]
        if self.branches:
            more.append("branch_computations={" + ", ".join(percent(b) for b in self.branches) + "}")
        if self.opcode != "parameter":
            draw.shuffle(more)
        line = "  " + ("ROOT " if self.root else "") + f"%{self.name} = {self.shape} {self.opcode}({inner})"
        return line + "".join(f", {one}" for one in more)


def array(draw):
    kind = draw.choice(list(BITS))
    dims = [draw.choice((0, 1, 2, 3, 5, 16)) for _ in range(draw.randrange(4))]
    count = 1
    for n in dims:
        count *= n
    said = ",".join(("<=" if draw.random() < 0.1 else "") + str(n) for n in dims)
    tiling = draw.choice(("", ":T(8,128)", ":T(8,128)(2,1)S(3)"))
    layout = "{" + ",".join(str(i) for i in reversed(range(len(dims)))) + tiling + "}"
    return (count * BITS[kind] + 7) // 8, kind, f"{kind}[{said}]" + (layout if dims and draw.random() < 0.6 else "")


def shape(draw, depth=0):
    """(bytes, the first dtype, text)."""
    if depth == 2 or draw.random() < 0.7:
        return array(draw)
    parts = [shape(draw, depth + 1) for _ in range(1 + draw.randrange(3))]
    between = lambda n: f", /*index={n}*/" if draw.random() < 0.3 else ", "
    text = "".join((between(n) if n else "") + part[2] for n, part in enumerate(parts))
    return sum(part[0] for part in parts), parts[0][1], f"({text})"


def module(draw):
    """(partitions, replicas, the entry, {name: lines}, text)."""
    names = [f"c{n}.{draw.randrange(9)}" for n in range(1 + draw.randrange(4))]
    drawn, text = {}, ""
    entry = draw.choice(names)
    for name in names:
        lines = []
        for n in range(1 + draw.randrange(6)):
            lines.append(Drawn(draw, draw.choice((f"v{n}", f"v-{n}.1", f"v_{n}")), [one.name for one in lines], names))
        drawn[name] = lines
        head = ("ENTRY " if name == entry else "") + draw.choice(("%", "")) + name
        head += draw.choice(("", " (p: f32[4], q: (s32[], f32[2]{0})) -> f32[4]", " () -> (f32[], s32[])"))
        text += f"\n{head} {{\n" + "\n".join(one.text for one in lines) + "\n}\n"
    partitions, replicas = draw.choice((1, 4, 16)), draw.choice((1, 2))
    header = "HloModule m, entry_computation_layout={(f32[4])->f32[4]}"
    header += f", num_partitions={partitions}" if partitions > 1 else ""
    header += f", replica_count={replicas}" if replicas > 1 else ""
    return partitions, replicas, entry, drawn, header + "\n" + text


class ReadBack(unittest.TestCase):
    def same_line(self, got, want):
        self.assertEqual((got.name, got.shape, got.opcode, got.operands, got.root),
                         (want.name, want.shape, want.opcode, want.operands, want.root), want.text)
        self.assertEqual((hlo.size(got.shape), hlo.dtype(got.shape)), (want.size, want.dtype), want.text)
        if want.opcode == "parameter":  # its number, and nothing else
            return self.assertEqual(got.attributes, str(want.number))
        for key in KEYS + CALLS:
            said = want.attributes.get(key, want.called.get(key))
            found = got.attribute(key)
            self.assertEqual(found and found.lstrip("%"), said, want.text)
        for key in CALLS:
            self.assertEqual(got.called(key), [want.called[key]] if key in want.called else [], want.text)
        both = [want.called[key] for key in ("true_computation", "false_computation") if key in want.called]
        self.assertEqual(sorted(got.branches()), sorted(want.branches + both), want.text)
        self.assertEqual(got.branches()[:len(want.branches)], want.branches, want.text)
        self.assertEqual(got.trips(), want.trips, want.text)

    def test_modules(self):
        draw = random.Random(1)
        for _ in range(300):
            partitions, replicas, entry, drawn, text = module(draw)
            got = hlo.parse(text)
            self.assertEqual((got.partitions, got.replicas, got.entry.name), (partitions, replicas, entry), text)
            self.assertEqual(list(got.computations), list(drawn))
            for name, lines in drawn.items():
                computation = got.computations[name]
                self.assertEqual(len(computation.lines), len(lines), text)
                for one, want in zip(computation.lines, lines):
                    self.same_line(one, want)
                self.of_computation(computation, lines)

    def of_computation(self, computation, lines):
        roots = [one.name for one in lines if one.root] or [lines[-1].name]
        self.assertEqual(computation.root().name, roots[0])
        for n in range(5):
            numbered = [one.name for one in lines if one.opcode == "parameter" and one.number == n]
            found = computation.parameter(n)
            self.assertEqual(found and found.name, numbered[0] if numbered else None)
        for one in lines:
            uses = [(other.name, i) for other in lines for i, name in enumerate(other.operands) if name == one.name]
            self.assertEqual([(i.name, n) for i, n in computation.uses(one.name)], uses)
        self.assertEqual(computation.uses("nobody"), [])


if __name__ == "__main__":
    unittest.main()
