"""Files of records, for the scripts beside it."""
import json


def records(lines):
    """The records among the lines of a file: not those that say where records come from (results/README.md)."""
    return [one for one in map(json.loads, lines) if "case" in one]
