"""HLO text as computations of instructions: just enough to find who talks to whom, and how much is said."""

import re
from dataclasses import dataclass

_BITS = {"pred": 8, "s2": 2, "u2": 2, "s4": 4, "u4": 4, "token": 0, "opaque": 0, "c64": 64, "c128": 128, "bf16": 16,
         "f4e2m1fn": 4}
_ARRAY = re.compile(r"([a-z][a-z0-9]*)\[([^\]]*)\]")
_HEAD = re.compile(r"^\s*(?:(ENTRY)\s+)?%?([\w.\-]+)\s*(?:\([^=]*)?.*\{\s*$")
_LINE = re.compile(r"^\s*(ROOT )?%?([\w.\-]+) = ")
_CALLED = re.compile(r"\b(calls|to_apply|body|condition|true_computation|false_computation)=%?([\w.\-]+)")
_BRANCHES = re.compile(r"branch_computations=\{([^}]*)\}")
_TRIPS = re.compile(r'"known_trip_count":\{"n":"(\d+)"')


@dataclass(eq=False)
class Instruction:
    """One line. `operands` are names within the computation; `attributes` is the text after them."""

    name: str
    shape: str
    opcode: str
    operands: list
    attributes: str
    root: bool

    def called(self, *keys):
        return [name for key, name in _CALLED.findall(self.attributes) if key in keys]

    def branches(self):
        match = _BRANCHES.search(self.attributes)
        listed = [n.strip().lstrip("%") for n in match.group(1).split(",")] if match else []
        return listed + self.called("true_computation", "false_computation")

    def trips(self):
        match = _TRIPS.search(self.attributes)
        return int(match.group(1)) if match else None

    def attribute(self, key):
        """The text of key=...: up to the next comma outside brackets."""
        at = re.search(rf"(?:^|[,\s]){key}=", self.attributes)
        return balanced(self.attributes, at.end(), ",") if at else None


class Computation:
    __slots__ = ("name", "lines", "by_name", "users")

    def __init__(self, name):
        self.name, self.lines, self.by_name, self.users = name, [], {}, None

    def add(self, instruction):
        self.lines.append(instruction)
        self.by_name[instruction.name] = instruction

    def uses(self, name):
        """(instruction, operand index) for every use of a value."""
        if self.users is None:
            self.users = {}
            for i in self.lines:
                for n, operand in enumerate(i.operands):
                    self.users.setdefault(operand, []).append((i, n))
        return self.users.get(name, [])

    def root(self):
        return next((i for i in self.lines if i.root), self.lines[-1])

    def parameter(self, index):
        return next((i for i in self.lines if i.opcode == "parameter" and i.attributes == str(index)), None)


class Module:
    __slots__ = ("computations", "entry", "partitions", "replicas")


def balanced(text, begin, stop):
    """text[begin:end], where end is the first `stop` outside brackets and quotes, or an unmatched closer.
    A mesh of replica groups, `mesh['a'=2], device_ids=([2]) {'a'}`, is one value."""
    depth, quote, mesh, i = 0, False, text.startswith("mesh[", begin), begin
    while i < len(text):
        c = text[i]
        if c == '"':
            quote = not quote
        elif quote:
            pass
        elif c in "([{":
            depth += 1
        elif c in ")]}":
            if depth == 0:
                break
            depth -= 1
            if mesh and depth == 0 and c == "}":
                return text[begin : i + 1]
        elif c == stop and depth == 0 and not mesh:
            break
        i += 1
    return text[begin:i]


def instruction(line):
    match = _LINE.match(line)
    if not match:
        return None
    at = match.end()
    shape = balanced(line, at, " ")
    rest = line[at + len(shape) :].lstrip()
    paren = rest.index("(")
    inner = balanced(rest, paren + 1, "\0")
    attributes = rest[paren + len(inner) + 2 :].lstrip(", ")
    opcode = rest[:paren]
    if opcode in ("parameter", "constant", "iota"):
        operands = []
        attributes = inner.strip() if opcode == "parameter" else attributes
    else:
        operands = [o.rsplit(None, 1)[-1].lstrip("%") for o in split(re.sub(r"/\*.*?\*/", "", inner))]
    return Instruction(match.group(2), shape, opcode, operands, attributes, bool(match.group(1)))


def split(text):
    """The parts of a list between commas outside brackets."""
    parts, at = [], 0
    while at < len(text):
        part = balanced(text, at, ",")
        if part.strip():
            parts.append(part.strip())
        at += len(part) + 1
    return parts


def parse(text):
    module = Module()
    header = text[: text.find("\n")]
    count = lambda key: int((re.search(rf"\b{key}=(\d+)", header) or [0, 1])[1])
    module.partitions, module.replicas = count("num_partitions"), count("replica_count")
    module.computations, module.entry = {}, None
    current = None
    for line in text.split("\n"):
        if current is not None:
            if line.startswith("}"):
                current = None
            elif " = " in line and (i := instruction(line)):
                current.add(i)
        elif line.endswith("{") and (match := _HEAD.match(line)):
            current = module.computations[match.group(2)] = Computation(match.group(2))
            if match.group(1):
                module.entry = current
    if module.entry is None:
        raise ValueError("HLO text has no ENTRY computation")
    return module


def bits(dtype):
    digits = re.match(r"[a-z]+(\d+)", dtype)
    return _BITS[dtype] if dtype in _BITS else int(digits.group(1))


def size(shape):
    """Bytes of a shape; of all its arrays where it is a tuple."""
    total = 0
    for dtype, dims in _ARRAY.findall(shape):
        count = 1
        for n in dims.split(","):
            if n.strip():
                count *= int(n.strip().removeprefix("<="))
        total += -(-count * bits(dtype) // 8)
    return total


def dtype(shape):
    match = _ARRAY.search(shape)
    return match.group(1) if match else ""
