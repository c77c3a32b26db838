"""Lines of records of plumb bench that hold times, and the Python that has what draws them."""

import json
import lzma
import os
import sys

ENVIRONMENT = "matplotlib@3.11.2"


def records(paths, script):
    """Every record that has times, in the order of the files, which may be packed by xz. Ends the script where a line is no
    record."""
    found = []
    for path in paths:
        try:
            with (lzma.open if str(path).endswith(".xz") else open)(path, "rt") as file:
                lines = file.read().splitlines()
        except (OSError, lzma.LZMAError) as error:
            sys.exit(f"{script}: {path}: {getattr(error, 'strerror', None) or error}")
        for number, text in enumerate(lines, 1):
            try:
                record = json.loads(text)
                record["case"], record["backend"]
            except (ValueError, KeyError, TypeError):
                sys.exit(f"{script}: {path}:{number}: this line is not a record")
            if (record.get("bench") or {}).get("nanoseconds"):
                found.append(record)
    if not found:
        sys.exit(f"{script}: these records hold no times: plumb bench --record makes some")
    return found


def in_its_environment(module):
    """Begins the script anew with the environment's Python, where this one lacks the module."""
    home = os.environ.get("PLUMB_HOME") or os.path.join(os.environ.get("XDG_CACHE_HOME") or
                                                        os.path.expanduser("~/.cache"), "plumbline")
    python = os.path.join(home, "env", ENVIRONMENT, "bin", "python")
    if sys.executable != python and os.path.exists(python):
        os.execv(python, [python, *sys.argv])
    sys.exit(f"{os.path.basename(sys.argv[0])}: this Python has no {module}: scripts/environment {ENVIRONMENT}")
