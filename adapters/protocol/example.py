"""A whole backend in the standard library: it gathers sharded arrays.

    plumb run --backend "python3 example.py"
"""

import json
import math
import mmap
import os
import struct
import sys


def limit(case):
    """Why the case is beyond this backend, decided before anything is run."""
    source, result = case["operands"][0], case["chain"][-1]
    sizes = dict(case["mesh"]["axes"])
    if source["unfinished"] or result["unfinished"]:
        return "unfinished sums"
    if any(result["split"]) or len(case["chain"]) > 1:
        return "a result that is not whole on every device"
    if any(size % math.prod(sizes[a] for a in axes) for size, axes in zip(source["shape"], source["split"])):
        return "uneven splits"


def run(request, arena):
    """Every device gets a copy of the whole array, in blocks after `free`; then comes the table."""
    case, operand, at = request["case"], request["operands"][0], request["free"]
    whole = arena[operand["offset"] : operand["offset"] + operand["bytes"]]
    sizes = dict(case["mesh"]["axes"])
    slices = [word for size in operand["shape"] for word in (1, 0, size)]  # one range a dimension: [0, size)
    table = []
    for device in range(math.prod(sizes.values())):
        arena[at : at + len(whole)] = whole
        table += [device, 0, at, len(whole), len(operand["shape"]), *slices]
        at += len(whole)
    at += -at % 8
    arena[at : at + 8 * len(table)] = struct.pack(f"<{len(table)}q", *table)
    axes = [axis for split in case["operands"][0]["split"] for axis in split]
    parts = math.prod(sizes[axis] for axis in axes)
    gather = {"kind": "all-gather", "axes": axes, "in": len(whole) // parts, "out": len(whole)}
    return {"type": "result", "table": {"offset": at, "rows": device + 1, "bytes": 8 * len(table)},
            "claims": [case["chain"][-1]["text"]], "trace": [gather] if parts > 1 else []}


def main():
    if options := json.loads(os.environ.get("PLUMB_OPTIONS") or "{}"):
        print(f"it has no options, such as {', '.join(options)}", file=sys.stderr)
        sys.exit(2)
    replies = open(int(os.environ["PLUMB_REPLIES"]), "w", encoding="utf-8")
    for line in open(int(os.environ["PLUMB_REQUESTS"]), encoding="utf-8"):
        request = json.loads(line)
        if request["type"] == "hello":
            file = open(request["arena"], "r+b")
            reply = {"type": "hello", "version": 1, "name": "example", "capabilities": {"ops": ["reshard"], "free": False}}
        else:
            reason = limit(request["case"])
            with mmap.mmap(file.fileno(), request["arena"]) as arena:
                reply = {"type": "unsupported", "reason": reason} if reason else run(request, arena)
            reply["id"] = request["id"]
        print(json.dumps(reply), file=replies, flush=True)


if __name__ == "__main__":
    main()
