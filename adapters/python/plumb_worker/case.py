"""Cases as the protocol's JSON says them."""

import math
import re


# The value of a rule as a user writes it in Python.
VALUES = {"none": lambda axes: None, "name": lambda axes: axes[0], "tuple": tuple, "list": list}


class Spec:
    """A sharded tensor without its data. `split` has a tuple of axis names per dimension, major to minor.
    `reduction` is what parts make: sum, max or min; by the number of parts over `averaged` a sum is divided.
    `scheme` is how an operand is quantized before it is multiplied, or None."""

    __slots__ = ("dtype", "shape", "split", "unfinished", "text", "free", "reduction", "averaged", "scheme", "key")

    def __init__(self, j):
        self.dtype = j["dtype"]
        self.shape = tuple(j["shape"])
        self.split = tuple(tuple(axes) for axes in j["split"])
        self.unfinished = tuple(j["unfinished"])
        self.text = j["text"]
        self.free = bool(j.get("free"))
        self.reduction = j.get("reduction", "sum")
        self.averaged = tuple(j.get("averaged", ()))
        self.scheme = j.get("scheme")
        self.key = (self.split, self.unfinished)


class Case:
    """Everything needed to run a line again; see adapters/protocol/README.md for the fields.

    `axes` and `sizes` are those over which the program is written, `world` the (name, size) of all axes there
    are: the same, or those of the mesh whose submesh it is. Devices and ids are the world's."""

    __slots__ = ("axes", "sizes", "world", "ids", "op", "lhs", "rhs", "out", "form", "group_sizes", "scheme",
                 "operands", "chain", "rule", "acc", "wire", "seed", "line", "names", "rules",
                 "timing")

    def __init__(self, j, line=""):
        mesh, parent = j["mesh"], j.get("parent") or j["mesh"]
        self.axes = tuple(name for name, _ in mesh["axes"])
        self.sizes = tuple(size for _, size in mesh["axes"])
        self.world = tuple((name, size) for name, size in parent["axes"])
        self.ids = tuple(parent["ids"]) if parent.get("ids") else tuple(range(self.devices))
        self.op = j["op"]
        self.timing = None  # a Timing, where it is to be timed
        self.lhs, self.rhs, self.out = j.get("lhs"), j.get("rhs"), j.get("out")
        self.form, self.group_sizes, self.scheme = j.get("form"), j.get("sizes"), j.get("scheme")
        self.operands = [Spec(s) for s in j["operands"]]
        self.chain = [Spec(s) for s in j["chain"]]
        self.rule = j.get("rule", "flat")
        self.acc, self.wire, self.seed = j.get("acc"), j.get("wire"), j.get("seed")
        self.line = line
        self.names = tuple(j.get("names") or ())
        self.rules = [(r["name"], VALUES[r["value"]](r["axes"])) for r in j.get("rules") or ()]

    @property
    def devices(self):
        return math.prod(size for _, size in self.world)

    @property
    def slices(self):
        """The devices of each slice that runs the program, in the row-major order of `axes`."""
        found = {}
        for device, at in enumerate(self.coordinates()):
            others = tuple(at[name] for name, _ in self.world if name not in self.axes)
            found.setdefault(others, []).append((tuple(at[name] for name in self.axes), device))
        return [[device for _, device in sorted(found[others])] for others in sorted(found)]

    def coordinates(self):
        """Of each device, its coordinate along every axis of the world, by name."""
        found = [None] * self.devices
        for place, device in enumerate(self.ids):
            at, rest = {}, place
            for name, size in reversed(self.world):
                rest, at[name] = divmod(rest, size)
            found[device] = at
        return found

    @property
    def result(self):
        return self.chain[-1]

    @property
    def specs(self):
        return self.operands + self.chain

    def ways(self, axes):
        """How many pieces or parts these axes make."""
        size = dict(zip(self.axes, self.sizes))
        return math.prod(size[a] for a in axes)

    def uneven(self, specs):
        """Whether some dimension of these specs is split into pieces of unequal size."""
        return any(n % self.ways(axes) for s in specs if not s.free for n, axes in zip(s.shape, s.split))

    def parts(self, unfinished):
        """For each device, the part it holds: its coordinate over `unfinished`, the first most significant."""
        size, part = dict(self.world), []
        for at in self.coordinates():
            part.append(0)
            for name in unfinished:
                part[-1] = part[-1] * size[name] + at[name]
        return part


def parse_spec(text):
    """A spec's text as the protocol's object; for cases written by hand (the harness sends objects)."""
    match = re.fullmatch(r"(\w+)\[([^\]]*)\](?:\+([^?~]+))?(?:~(\w+))?\??", text)
    dtype, dims, parts, scheme = match.groups()
    dims = [d.split("@") for d in dims.split(",") if d]
    j = {"dtype": dtype, "shape": [int(d[0]) for d in dims],
         "split": [d[1].split(".") if len(d) > 1 else [] for d in dims], "unfinished": [], "text": text}
    for part in parts.split("+") if parts else []:
        word, axes = re.fullmatch(r"(?:(avg|max|min)(?=\())?\(?([\w.]+)\)?", part).groups()
        j["unfinished"] += axes.split(".")
        if word == "avg":
            j["averaged"] = j.get("averaged", []) + axes.split(".")
        elif word:
            j["reduction"] = word
    if scheme:
        j["scheme"] = scheme
    return {**j, "free": True} if text.endswith("?") else j


def parts_text(unfinished, reduction="sum", averaged=()):
    """+x.y, +max(x), +avg(x.y)+z: axes that stand together share a word."""
    text, word = "", None
    for axis in unfinished:
        before, word = word, "avg" if axis in averaged else "" if reduction == "sum" else reduction
        if word != before:
            text += (")" if before else "") + "+" + (word + "(" if word else "")
        else:
            text += "."
        text += axis
    return text + (")" if word else "")


def spec_text(dtype, shape, split, parts=""):
    """The text form of a spec: f32[8@x.y,4]+z, `parts` being +z."""
    dims = [str(n) + ("@" + ".".join(axes) if axes else "") for n, axes in zip(shape, split)]
    return f"{dtype}[{','.join(dims)}]{parts}"
