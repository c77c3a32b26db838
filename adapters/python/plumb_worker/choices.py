"""Options of a backend, refused as the protocol's page has it."""

import json
import os
import sys

from .loop import options


def refuse(message):
    """Ends the program before its hello: it cannot use its options. By exit code 2 the harness knows."""
    print(message, file=sys.stderr)
    sys.exit(2)


def row(folder):
    """The folder's backend.json, which harness/backend/rows.h describes."""
    with open(os.path.join(folder, "backend.json"), encoding="utf-8") as file:
        return json.load(file)


def checked(folder, given=None):
    """PLUMB_OPTIONS, or what is given, with the defaults of the folder's row; refuses one that is unknown. An empty one
    is not given."""
    backend = os.path.basename(os.path.abspath(folder))
    table = row(folder)["options"]
    given = options() if given is None else given
    given = {name: value for name, value in given.items() if value}
    for name, value in given.items():
        if name not in table:
            refuse(f"{backend}: no option {name!r}; there are {', '.join(table)}")
        values = table[name].get("values", (value,))
        if value not in values:
            refuse(f"{backend}: {name}={value} is none of {', '.join(values)}")
    return {**{name: option["default"] for name, option in table.items() if "default" in option}, **given}
