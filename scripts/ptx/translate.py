#!/usr/bin/env python3
"""Kernels in PTX, what nvcc makes of a source for a card, as C++ that this processor runs, one thread at a time. An
instruction that is not known is an error. Standard library alone.

    translate.py FILE.ptx FILE.cc                for adapters/cuda/testing/ptx_kernels.h
    translate.py --without trap,fma FILE.ptx...  exit code 1 where an instruction is one of these
"""

import pathlib
import sys

from instructions import cpp, kept_as, label, register
from text import Unknown, kernels_of

HEAD = """#include "adapters/cuda/testing/ptx_kernels.h"

namespace plumb::ptx {
namespace {
"""


def function(kernel, name):
    yield f"void {name}(const std::byte* parameters, const Thread& thread) {{  // {kernel.name}"
    yield "bool cc = false, lost = false;"
    for one, kind in kernel.registers.items():
        yield f"{kept_as(kind)} {register(one)} = {kept_as(kind)}(kUnset);"
    for one, (alignment, size) in kernel.locals.items():
        yield f"alignas({alignment}) std::byte {one}[{size}];"
        yield f"std::memset({one}, {0xcd:#x}, sizeof {one});"
    for statement in kernel.statements:
        if statement.label:
            yield f"{label(statement.label)}:;"
            continue
        unless, name = statement.guard.startswith("!"), statement.guard.lstrip("!")
        guard = f"if ({'!' * unless}{register(name)}) " if name else ""
        yield f"{guard}{{ {cpp(kernel, statement)} }}"
    yield "}"


def translated(text):
    kernels = kernels_of(text)
    lines, table = [HEAD], []
    for n, kernel in enumerate(kernels):
        lines += function(kernel, f"kernel_{n}")
        parameters = ", ".join(f"{{{at}, {size}}}" for at, size in kernel.parameters.values())
        table.append(f'{{"{kernel.name}", kernel_{n}, {{{parameters}}}}},')
    return "\n".join([*lines, "const Known known({", *table, "});", "}  // namespace", "}  // namespace plumb::ptx", ""])


def having(words, text):
    """The lines with one of these instructions."""
    return [statement.line for kernel in kernels_of(text) for statement in kernel.statements
            if statement.opcode.split(".")[0] in words]


def main(arguments):
    words = arguments[1].split(",") if arguments[:1] == ["--without"] and len(arguments) > 2 else []
    if not words and (len(arguments) != 2 or arguments[0].startswith("-")):
        print(__doc__, file=sys.stderr)
        return 2
    found = False
    for name in arguments[2:] if words else arguments[:1]:
        text = pathlib.Path(name).read_text()
        try:
            if not words:
                pathlib.Path(arguments[1]).write_text(translated(text))
            if not kernels_of(text):
                raise Unknown(1, "no kernel is here")
            for line in having(words, text):
                found = True
                print(f"{name}:{line}: {text.splitlines()[line - 1].strip()}")
        except Unknown as error:
            print(f"{name}: {error}", file=sys.stderr)
            return 2
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
