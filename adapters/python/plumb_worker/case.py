"""Cases as the protocol's JSON says them."""

import math
import re


# The value of a rule as a user writes it in Python.
VALUES = {"none": lambda axes: None, "name": lambda axes: axes[0], "tuple": tuple, "list": list}


class Spec:
    """A sharded tensor without its data. `split` has a tuple of axis names per dimension, major to minor."""

    __slots__ = ("dtype", "shape", "split", "unfinished", "text", "free", "key")

    def __init__(self, j):
        self.dtype = j["dtype"]
        self.shape = tuple(j["shape"])
        self.split = tuple(tuple(axes) for axes in j["split"])
        self.unfinished = tuple(j["unfinished"])
        self.text = j["text"]
        self.free = bool(j.get("free"))
        self.key = (self.split, self.unfinished)


class Case:
    """Everything needed to run a line again; see adapters/protocol/README.md for the fields."""

    __slots__ = ("axes", "sizes", "ids", "op", "lhs", "rhs", "out", "form", "group_sizes",
                 "operands", "chain", "rule", "acc", "wire", "line", "names", "rules")

    def __init__(self, j, line=""):
        mesh = j["mesh"]
        self.axes = tuple(name for name, _ in mesh["axes"])
        self.sizes = tuple(size for _, size in mesh["axes"])
        self.ids = tuple(mesh["ids"]) if mesh.get("ids") else tuple(range(self.devices))
        self.op = j["op"]
        self.lhs, self.rhs, self.out = j.get("lhs"), j.get("rhs"), j.get("out")
        self.form, self.group_sizes = j.get("form"), j.get("sizes")
        self.operands = [Spec(s) for s in j["operands"]]
        self.chain = [Spec(s) for s in j["chain"]]
        self.rule = j.get("rule", "flat")
        self.acc, self.wire = j.get("acc"), j.get("wire")
        self.line = line
        self.names = tuple(j.get("names") or ())
        self.rules = [(r["name"], VALUES[r["value"]](r["axes"])) for r in j.get("rules") or ()]

    @property
    def devices(self):
        return math.prod(self.sizes)

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

    def parts(self, unfinished):
        """For each device, the part it holds: its coordinate over `unfinished`, the first most significant."""
        part = [0] * self.devices
        for place, device in enumerate(self.ids):
            at, rest = {}, place
            for name, size in zip(reversed(self.axes), reversed(self.sizes)):
                rest, at[name] = divmod(rest, size)
            p = 0
            for name in unfinished:
                p = p * self.sizes[self.axes.index(name)] + at[name]
            part[device] = p
        return part


def parse_spec(text):
    """A spec's text as the protocol's object; for cases written by hand (the harness sends objects)."""
    match = re.fullmatch(r"(\w+)\[([^\]]*)\](?:\+([\w.]+))?\??", text)
    dtype, dims, unfinished = match.groups()
    dims = [d.split("@") for d in dims.split(",") if d]
    return {"dtype": dtype, "shape": [int(d[0]) for d in dims],
            "split": [d[1].split(".") if len(d) > 1 else [] for d in dims],
            "unfinished": unfinished.split(".") if unfinished else [], "text": text,
            **({"free": True} if text.endswith("?") else {})}


def spec_text(dtype, shape, split, unfinished=()):
    """The text form of a spec: f32[8@x.y,4]+z."""
    dims = [str(n) + ("@" + ".".join(axes) if axes else "") for n, axes in zip(shape, split)]
    tail = "+" + ".".join(unfinished) if unfinished else ""
    return f"{dtype}[{','.join(dims)}]{tail}"
