"""Files of records, for the scripts beside it."""
import json


def says_origin(line):
    """Whether a line of a file says where records come from, and is none (results/README.md)."""
    return "case" not in line and "run" in line


def records(lines):
    """The records among the lines of a file."""
    return [one for one in map(json.loads, lines) if not says_origin(one)]
