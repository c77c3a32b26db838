"""Drives a backend by hand: reads cases as JSON, one a line, sends them to a program, prints the replies.

    echo '{"mesh":{"axes":[["x",2]]},"op":"reshard","operands":["f32[4@x]"],"chain":["f32[4]"]}' |
        python3 drive.py python3 mine.py

A spec may be written as its text or as the protocol's object; operands are filled with the numbers 0, 1, 2, ...
modulo 7, part by part, or with the lists under "data". For authors of backends; the harness is the judge.
"""

import argparse
import json
import math
import os
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from plumb_worker.case import parse_spec

FORMATS = {"f32": "f", "f64": "d", "s32": "i", "s8": "b", "f16": "e"}
WIDTH = {"s8": 1, "f8e4m3": 1, "f8e5m2": 1, "e8m0": 1, "f16": 2, "bf16": 2, "s32": 4, "f32": 4, "f64": 8}


def spec(text):
    return parse_spec(text) if isinstance(text, str) else text


def encode(dtype, values):
    if dtype in FORMATS:
        return struct.pack(f"<{len(values)}{FORMATS[dtype]}", *values)
    if dtype == "bf16":
        return b"".join(struct.pack("<f", v)[2:] for v in values)
    return bytes(int(v) % 128 for v in values)


def decode(dtype, raw):
    if dtype in FORMATS:
        return list(struct.unpack(f"<{len(raw) // WIDTH[dtype]}{FORMATS[dtype]}", raw))
    if dtype == "bf16":
        return [struct.unpack("<f", b"\0\0" + raw[i : i + 2])[0] for i in range(0, len(raw), 2)]
    return list(raw)


class Driver:
    """A backend as a process, and an arena."""

    def __init__(self, command, stderr=None, **environment):
        self.arena = tempfile.NamedTemporaryFile(prefix="plumb-arena-")
        down, self.requests = os.pipe()
        self.replies, up = os.pipe()
        env = {**os.environ, "PLUMB_REQUESTS": str(down), "PLUMB_REPLIES": str(up), **environment}
        self.process = self.begin(command, (down, up), env, stderr)
        os.close(down), os.close(up)
        self.replies, self.count = os.fdopen(self.replies, encoding="utf-8"), 0

    def begin(self, command, channel, env, stderr):
        return subprocess.Popen(command, pass_fds=channel, env=env, stdin=subprocess.DEVNULL, stdout=sys.stderr,
                                stderr=stderr)

    def ask(self, message):
        try:
            os.write(self.requests, (json.dumps(message) + "\n").encode())
        except BrokenPipeError:
            pass
        for line in self.replies:
            reply = json.loads(line)
            if reply["type"] not in ("phase", "alive"):
                return reply
        return {"type": "died", "code": self.process.wait()}

    def hello(self, mesh):
        return self.ask({"type": "hello", "versions": [1], "arena": self.arena.name, "mesh": mesh})

    def run(self, case, data=None, timing=None):
        """The reply, with the blocks read from the arena under "blocks"; with a timing, as {"warmups": 1, "iterations":
        5, "batch": 1, "sync": "barrier"}, that to `bench`, with the rows of the clock under "clocks"."""
        case = {"rule": "flat", "acc": "f32", "wire": "f32", "fill": "cancel", "seed": 0, **case}
        case["operands"] = [spec(s) for s in case["operands"]]
        case["chain"] = [spec(s) for s in case["chain"]]
        sizes, operands, at = dict(case["mesh"]["axes"]), [], 0
        for i, s in enumerate(case["operands"]):
            shape = ([math.prod(sizes[a] for a in s["unfinished"])] if s["unfinished"] else []) + s["shape"]
            count = math.prod(shape)
            raw = encode(s["dtype"], data[i] if data else [k % 7 for k in range(count)])
            os.pwrite(self.arena.fileno(), raw, at)
            operands.append({"offset": at, "bytes": len(raw), "shape": shape})
            at += -(-len(raw) // 64) * 64
        results = case["chain"] if case["op"] == "quantize" else case["chain"][-1:]
        each = sum(math.prod(r["shape"]) * WIDTH[r["dtype"]] + 512 for r in results)
        devices = math.prod(size for _, size in case.get("parent", case["mesh"])["axes"])
        self.dtypes = [r["dtype"] for r in results]
        room = devices * (each + 16 * timing["iterations"] if timing else each) + at + 4096
        os.ftruncate(self.arena.fileno(), max(room, self.size()))
        self.count += 1
        request = {"id": self.count, "line": case.get("line", ""), "free": at, "operands": operands, "case": case}
        if timing:
            reply = self.ask({"type": "bench", "arena": self.size(), **request, **timing})
            if reply["type"] == "result":
                reply["clocks"] = self.clocks(reply["clock"], timing["iterations"])
            return reply
        return self.with_blocks(self.ask({"type": "run", "arena": self.size(), **request}))

    def fetch(self, first):
        """The reply of a case that was timed, with the blocks of its first iteration or its last."""
        self.count += 1
        return self.with_blocks(self.ask({"type": "fetch", "id": self.count, "arena": self.size(), "free": 0,
                                          "first": first}))

    def size(self):
        return os.fstat(self.arena.fileno()).st_size

    def with_blocks(self, reply):
        if reply["type"] == "result":
            reply["blocks"] = self.blocks(reply["table"], self.dtypes)
        return reply

    def words(self, offset, nbytes):
        return struct.unpack(f"<{nbytes // 8}q", os.pread(self.arena.fileno(), nbytes, offset))

    def clocks(self, clock, iterations):
        width = 8 * (1 + 2 * iterations)
        return [self.words(clock["offset"] + rank * width, width) for rank in range(clock["ranks"])]

    def blocks(self, table, dtypes):
        words = self.words(table["offset"], table["bytes"])
        found, at = [], 0
        for _ in range(table["rows"]):
            device, result, offset, nbytes, ndim = words[at : at + 5]
            at += 5
            slices = None if ndim < 0 else []
            for _ in range(max(ndim, 0)):
                count = words[at]
                slices.append([list(words[at + 1 + 2 * k : at + 3 + 2 * k]) for k in range(count)])
                at += 1 + 2 * count
            raw = os.pread(self.arena.fileno(), nbytes, offset)
            found.append({"device": device, "result": result, "slices": slices, "data": decode(dtypes[result], raw)})
        return found

    def close(self):
        os.close(self.requests)
        return self.process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("command", nargs=argparse.REMAINDER)
    driver = None
    for line in sys.stdin:
        if not line.strip():
            continue
        case = json.loads(line)
        if driver is None:
            driver = Driver(parser.parse_args().command)
            print(json.dumps(driver.hello(case["mesh"])))
        begin = time.perf_counter()
        reply = driver.run(case, case.pop("data", None))
        print(json.dumps(reply), f"# {(time.perf_counter() - begin) * 1e3:.1f} ms", flush=True)
        if reply["type"] == "died":
            return 1
    return driver.close() if driver else 0


if __name__ == "__main__":
    sys.exit(main())
