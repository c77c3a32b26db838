"""The loop in a child process, for a framework that aborts: what it costs is one case, not the framework's import.

The parent imports, and forks. A child that a signal kills amid a case is answered for, `crashed`, and the next one
hears the same hello. One that dies at any other time takes the parent with it. Nothing may have been computed before
the fork, for threads do not outlive it.
"""

import ctypes
import gc
import itertools
import json
import mmap
import os
import signal
import struct
import sys

from .loop import converse, with_channel

PR_SET_PDEATHSIG = 1


def serve_in_children(backend):
    """serve(), with the children that it takes. Returns in the last child too."""
    return with_channel(lambda channel: Children(channel).serve(backend))


class Children:
    def __init__(self, channel):
        self.channel, self.parent = channel, os.getpid()
        self.asked = mmap.mmap(-1, 8)  # the id of the request that a child is at, 0 between requests

    def serve(self, backend):
        hello = self.first_line()
        gc.collect(), gc.freeze()  # what was imported is not looked at again
        send = self.channel.send
        while True:
            sys.stdout.flush(), sys.stderr.flush()
            child = os.fork()
            if child == 0:
                self.die_with_parent()
                return converse(backend, self.noted(itertools.chain([hello], self.channel.lines())), send)
            _, status = os.waitpid(child, 0)
            if not os.WIFSIGNALED(status):
                return os.WEXITSTATUS(status)
            self.answer_for_one_killed_by(os.WTERMSIG(status))
            send = self.without_hello

    def first_line(self):
        """Read byte by byte: what follows is for the children."""
        return b"".join(iter(lambda: os.read(self.channel.requests, 1).strip(b"\n"), b"")).decode(errors="replace")

    def noted(self, lines):
        for line in lines:
            self.asked[:] = struct.pack("q", id_of(line))
            yield line
            self.asked[:] = bytes(8)

    def without_hello(self, message):
        if message["type"] != "hello":
            self.channel.send(message)

    def answer_for_one_killed_by(self, number):
        asked, = struct.unpack("q", self.asked)
        if not asked:
            signal.signal(number, signal.SIG_DFL)
            os.kill(self.parent, number)
        self.asked[:] = bytes(8)
        self.channel.send({"type": "crashed", "id": asked,
                           "message": f"killed by signal {number} ({signal.strsignal(number)})"})

    def die_with_parent(self):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != self.parent:
            os._exit(1)


def id_of(line):
    """0 where there is none."""
    try:
        return json.loads(line).get("id", 0)
    except (ValueError, AttributeError):
        return 0
