"""Where series change, by Apache Otava, run by its environment's Python: {name: [values]} from standard input to
{name: [[index of the first value after, mean before, mean after]]}."""
import json
import sys

from otava.analysis import compute_change_points


def marks(values):
    found, _ = compute_change_points(values)
    return [[int(one.index), float(one.stats.mean_before()), float(one.stats.mean_after())] for one in found]


if __name__ == "__main__":
    json.dump({name: marks(values) for name, values in json.load(sys.stdin).items()}, sys.stdout)
