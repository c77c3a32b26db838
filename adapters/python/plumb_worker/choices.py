"""Options of a backend, refused as the protocol's page has it."""

import sys

from .loop import options


def refuse(message):
    """Ends the program before its hello: it cannot use its options. By exit code 2 the harness knows."""
    print(message, file=sys.stderr)
    sys.exit(2)


def checked(backend, table, given=None):
    """PLUMB_OPTIONS, or what is given, with defaults; refuses one that is unknown. An empty one is not given.

    The table has the values of each option, the default first ("" is none); None: any value."""
    if given is None:
        given = options()
    given = {name: value for name, value in given.items() if value}
    for name, value in given.items():
        if name not in table:
            refuse(f"{backend}: no option {name!r}; there are {', '.join(table)}")
        if table[name] and value not in table[name]:
            refuse(f"{backend}: {name}={value} is none of {', '.join(filter(None, table[name]))}")
    return {**{name: values[0] for name, values in table.items() if values and values[0]}, **given}
