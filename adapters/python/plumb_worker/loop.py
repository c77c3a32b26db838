"""The worker's side of the protocol: hello, then one reply to each request until the requests end.

A backend is any object with
    hello(mesh) -> dict            the hello message without type and version
    limit(case) -> Limit or None   decided before the framework is called
    run(case, operands, started) -> Result, or Refusal where a resolver says that there is no layout
One whose hello says "times" looks at case.timing, and where it is not None returns what
clock.timed() does, too, a row for each rank.
`operands` are pairs (bytes of the arena as a memoryview, shape) and `started()` tells the harness that
compilation is over.
Whatever `run` raises is the framework's and becomes `reneged`.
"""

import dataclasses
import itertools
import json
import mmap
import os
import re
import signal
import struct
import sys
import traceback

from .case import Case
from .clock import WHOLE_PROGRAM, Timing

VERSION = 1
ALIGN = 64


@dataclasses.dataclass
class Limit:
    """Why a case is unsupported, and where that is written."""

    reason: str
    source: str


@dataclasses.dataclass
class Result:
    """What a run returned. A block is (device, result, data, slices): data a buffer of bytes, slices a list of
    lists of (begin, end) per dimension, or None where the framework says nothing."""

    blocks: list
    claims: list
    trace: list | None = dataclasses.field(default_factory=list)  # None where it is not known
    compile_seconds: float = 0.0
    run_seconds: list = dataclasses.field(default_factory=list)
    notes: list = dataclasses.field(default_factory=list)
    groups: list = dataclasses.field(default_factory=list)  # sets of axes for which the backend had a group
    first: list | None = None  # of a case that was timed: the blocks of its first iteration,
    clock: list | None = None  # and when its iterations were, a row for each rank
    plan: dict | None = None  # of a backend that only plans: {"operands": [...], "result": ...} as specs' texts


@dataclasses.dataclass
class Refusal:
    """A resolver's answer that there is no layout: its error, as last_lines() has it."""

    message: str
    detail: str = ""


class Malformed(Exception):
    """A request that is not on the protocol's page."""


def options():
    """PLUMB_OPTIONS as a dict of strings."""
    return json.loads(os.environ.get("PLUMB_OPTIONS") or "{}")


class Arena:
    """The shared file, mapped; mapped anew when the harness grew it."""

    def __init__(self, path):
        self.file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        self.size, self.bytes = 0, None
        self.grow(os.fstat(self.file).st_size)

    def grow(self, size):
        if size > self.size:
            if size > os.fstat(self.file).st_size:
                raise Malformed(f"the request says that the arena has {size} bytes, the file is shorter")
            # The old map lives on as long as an array still looks at it.
            self.bytes, self.size = memoryview(mmap.mmap(self.file, size)), size

    def view(self, offset, nbytes):
        if offset < 0 or nbytes < 0 or offset + nbytes > self.size:
            raise Malformed(f"an operand ends at {offset + nbytes}, past the arena's {self.size} bytes")
        return self.bytes[offset : offset + nbytes]


def write_blocks(arena, free, blocks, clock=None):
    """Writes the data of the blocks and then their table; returns the table's entry in the reply. Of a case that was
    timed the data stay here, and a clock follows the table."""
    at, words, pieces = -(-free // ALIGN) * ALIGN, [], []
    for device, result, data, slices in blocks:
        raw = memoryview(data)
        words += [device, result, at, raw.nbytes, -1 if slices is None else len(slices)]
        for ranges in slices or ():
            words.append(len(ranges))
            for begin, end in ranges:
                words += [begin, end]
        if clock is None:
            pieces.append((at, raw))
            at += -(-raw.nbytes // ALIGN) * ALIGN
    table = memoryview(struct.pack(f"<{len(words)}q", *words))
    pieces.append((at, table))
    if clock is not None:
        pieces.append((at + table.nbytes, memoryview(struct.pack(f"<{sum(map(len, clock))}q", *itertools.chain(*clock)))))
    end = pieces[-1][0] + pieces[-1][1].nbytes
    if end > arena.size:
        raise MemoryError(f"blocks and table need {end} bytes, the arena holds {arena.size}")
    for offset, raw in pieces:
        arena.bytes[offset : offset + raw.nbytes] = raw
    return {"offset": at, "rows": len(blocks), "bytes": table.nbytes}


_FOLDER = re.compile(r'File "[^"]*/(?=(?:site-packages|adapters)/)')


def last_lines(error, count=12):
    """The error's own line, and the end of its traceback, without the folders of this machine. One that stands
    for an error in another process has its `lines`."""
    if hasattr(error, "lines"):
        return error.lines
    said = str(error).strip().splitlines()
    text = _FOLDER.sub('File "', "".join(traceback.format_exception(error, limit=-count))).strip().splitlines()
    return f"{type(error).__name__}: {said[0] if said else ''}"[:2000], "\n".join(text[-count:])[:8000]


def result_message(request, result, table):
    reply = {"type": "result", "id": request["id"], "table": table, "claims": result.claims,
             "times": {"compile": result.compile_seconds, "run": result.run_seconds}}
    if result.trace is not None:
        reply["trace"] = result.trace
    notes = result.notes + ([WHOLE_PROGRAM] if result.clock is not None else [])
    if notes:
        reply["notes"] = notes
    if result.groups:
        reply["groups"] = result.groups
    if result.plan:
        reply["plan"] = result.plan
    return reply


def answer(backend, arena, request, send, kept):
    try:
        case = Case(request["case"], request.get("line", ""))
        arena.grow(request["arena"])
        operands = [(arena.view(o["offset"], o["bytes"]), tuple(o["shape"])) for o in request["operands"]]
        free = request["free"]
        if request["type"] == "bench":
            case.timing = Timing(*(request[name] for name in ("warmups", "iterations", "batch", "sync")))
    except (KeyError, TypeError, ValueError) as e:
        raise Malformed(f"run: {type(e).__name__}: {e}") from e
    limit = backend.limit(case)
    if limit:
        return {"type": "unsupported", "id": request["id"], "reason": limit.reason, "source": limit.source}
    started = lambda: send({"type": "phase", "id": request["id"], "phase": "run"})
    try:
        result = backend.run(case, operands, started)
        if isinstance(result, Refusal):
            return {"type": "refused", "id": request["id"], "message": result.message, "detail": result.detail}
        table = write_blocks(arena, free, result.blocks, result.clock)
    except Exception as e:
        message, detail = last_lines(e)
        return {"type": "reneged", "id": request["id"], "message": message, "detail": detail}
    reply = result_message(request, result, table)
    if result.clock is not None:
        reply["clock"] = {"offset": table["offset"] + table["bytes"], "ranks": len(result.clock)}
        kept.append(result)
    return reply


def fetched(arena, request, kept):
    """The blocks of a case that was timed, of its first iteration or its last."""
    if not kept:
        raise Malformed("fetch, and no case was timed")
    arena.grow(request["arena"])
    result = kept[0]
    blocks = result.first if request.get("first") else result.blocks
    return result_message(request, result, write_blocks(arena, request["free"], blocks))


def converse(backend, requests, send):
    arena, kept = None, []
    for line in requests:
        try:
            request = json.loads(line)
            kind = request["type"]
        except (ValueError, TypeError, KeyError) as e:
            raise Malformed(f"not a message: {line[:200]!r}") from e
        if kind == "hello":
            if VERSION not in request.get("versions", []):
                raise Malformed(f"this worker speaks version {VERSION}, not any of {request.get('versions')}")
            arena = Arena(request["arena"])
            send({"type": "hello", "version": VERSION, **backend.hello(request["mesh"])})
        elif kind in ("run", "bench") and arena:
            kept.clear()
            send(answer(backend, arena, request, send, kept))
        elif kind == "fetch" and arena:
            send(fetched(arena, request, kept))
        elif kind == "limit" and arena:
            send({"type": "unsupported", "id": request["id"], "reason": "it knows no limits", "source": "loop.py"})
        else:
            raise Malformed(f"unexpected message of type {kind!r}")


class Channel:
    """The two pipes of the protocol."""

    def __init__(self):
        self.requests, self.replies = (int(os.environ[name]) for name in ("PLUMB_REQUESTS", "PLUMB_REPLIES"))
        for descriptor in (self.requests, self.replies):
            os.set_inheritable(descriptor, False)

    def lines(self):
        return os.fdopen(self.requests, "r", encoding="utf-8", newline="\n", closefd=False)

    def send(self, message):
        data = (json.dumps(message, separators=(",", ":")) + "\n").encode()
        while data:
            data = data[os.write(self.replies, data) :]


def with_channel(speak):
    """Runs speak(channel). Returns the exit code: what it returns or 0, or 2 with a message on standard error."""
    try:
        channel = Channel()
    except (KeyError, ValueError, OSError) as e:
        print(f"plumb worker: no channel in PLUMB_REQUESTS and PLUMB_REPLIES ({e})", file=sys.stderr)
        return 2
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the harness decides when a worker ends
    try:
        return speak(channel) or 0
    except Malformed as e:
        print(f"plumb worker: {e}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        return 0


def serve(backend):
    """Speaks the protocol until the requests end. Returns the exit code."""
    return with_channel(lambda channel: converse(backend, channel.lines(), channel.send))
