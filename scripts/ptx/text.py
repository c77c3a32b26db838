"""PTX as nvcc writes it: kernels with their parameters, registers, local memory and statements."""

import dataclasses
import re

BYTES = {"pred": 1, **{f"{kind}{bits}": bits // 8 for kind in "busf" for bits in (8, 16, 32, 64)}}


class Unknown(Exception):
    """What is not understood, at a line."""

    def __init__(self, line, words):
        super().__init__(f"line {line}: {words}")


@dataclasses.dataclass
class Statement:
    line: int
    label: str = ""  # of a place, which has no more
    guard: str = ""  # %p1, or !%p1
    opcode: str = ""
    operands: tuple = ()


@dataclasses.dataclass
class Kernel:
    name: str
    line: int
    parameters: dict  # by name: (at, bytes)
    registers: dict = dataclasses.field(default_factory=dict)  # by name: its type
    locals: dict = dataclasses.field(default_factory=dict)  # by name: (alignment, bytes)
    statements: list = dataclasses.field(default_factory=list)


def lines_of(text):
    for number, line in enumerate(text.split("\n"), 1):
        line = re.sub(r"//.*", "", line).strip()
        if line:
            yield number, line


def parameters_of(line, text):
    """Each lies where its alignment lets it, after the one before."""
    found, end = {}, 0
    for said in filter(None, (one.strip() for one in text.split(","))):
        one = re.fullmatch(r"\.param\s+(?:\.align\s+(\d+)\s+)?\.(\w+)\s+([\w$]+)(?:\[(\d+)\])?", said)
        if not one or one[2] not in BYTES:
            raise Unknown(line, said)
        width = BYTES[one[2]]
        alignment, size = int(one[1] or width), width * int(one[4] or 1)
        at = -(-end // alignment) * alignment
        found[one[3]] = (at, size)
        end = at + size
    return found


def operands_of(text):
    """Commas within {} and [] part no operands."""
    return tuple(one.strip() for one in re.split(r",(?![^{\[]*[}\]])", text) if one.strip())


def declare(kernel, line, said):
    registers = re.fullmatch(r"\.reg\s+\.(\w+)\s+(.*)", said)
    local = re.fullmatch(r"\.local\s+\.align\s+(\d+)\s+\.b8\s+([\w$]+)\[(\d+)\]", said)
    if registers and registers[1] in BYTES:
        for name in operands_of(registers[2]):
            many = re.fullmatch(r"(%\w+)<(\d+)>", name)
            names = [f"{many[1]}{n}" for n in range(int(many[2]))] if many else [name]
            kernel.registers.update(dict.fromkeys(names, registers[1]))
    elif local:
        kernel.locals[local[2]] = (int(local[1]), int(local[3]))
    elif not said.startswith((".loc", ".pragma")):
        raise Unknown(line, said)


def add_statement(kernel, line, said):
    if said.startswith("."):
        declare(kernel, line, said)
        return
    whole = re.fullmatch(r"(?:@(!?%\w+)\s+)?([a-z][\w.:]*)\s*(.*)", said, re.S)
    if not whole:
        raise Unknown(line, said)
    kernel.statements.append(Statement(line, "", whole[1] or "", whole[2], operands_of(whole[3])))


def kernels_of(text):
    kernel, head, said = None, None, ""
    kernels = []
    for number, line in lines_of(text):
        if kernel:  # in its body
            if line == "}":
                kernel = None
                continue
            if not said and line.endswith(":"):
                kernel.statements.append(Statement(number, line[:-1]))
                continue
            *ended, said = (f"{said} {line}").split(";")
            for one in ended:
                add_statement(kernel, number, one.strip())
            said = said.strip()
        elif head is not None:
            head += " " + line
            if line == "{":
                whole = re.match(r"(?:\.visible\s+)?\.entry\s+([\w$]+)\s*\((.*?)\)", head)
                if not whole:
                    raise Unknown(number, head)
                kernel, head = Kernel(whole[1], number, parameters_of(number, whole[2])), None
                kernels.append(kernel)
        elif re.match(r"(\.visible\s+)?\.entry\b", line):
            head = line
        elif not line.startswith((".version", ".target", ".address_size", ".file")):
            raise Unknown(number, line)
    return kernels
