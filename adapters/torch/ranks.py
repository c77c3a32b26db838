"""A world of real processes, one a rank, that live on from case to case. The peer of the protocol is none of them:
it sees a rank that dies, fails or stays away, and ends the others."""

import ctypes
import multiprocessing.connection as connection
import multiprocessing.reduction as reduction
import os
import signal
import sys
import time

import rank

GRACE = 5  # seconds that the others have to answer after a rank failed: most fail alike, the rest wait for it
JOIN = 60  # seconds for all ranks to meet


class Failed(Exception):
    """What a rank raised: the framework's own line, and the end of its traceback."""

    def __init__(self, number, line, detail):
        super().__init__(line)
        self.number, self.lines = number, (line, f"on rank {number}:\n{detail}")


def die_with_parent(parent):
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    if os.getppid() != parent:
        os._exit(1)


class World:
    """`size` ranks, forked, so that they start with torch imported."""

    def __init__(self, size, backend):
        self.size, self.pids, self.ends = size, [], []
        parent = os.getpid()
        for number in range(size):
            ours, theirs = connection.Pipe()
            pid = os.fork()
            if pid == 0:
                die_with_parent(parent)
                for end in [ours, *self.ends]:
                    end.close()
                rank.main(number, size, backend, theirs)
            theirs.close()
            self.pids.append(pid)
            self.ends.append(ours)
        self.join()

    def join(self):
        """Rank 0 opens the store; who is at the store says so; then they connect to each other."""
        self.ends[0].send(None)
        port = self.answers([0], JOIN)[0]
        for end in self.ends[1:]:
            end.send(port)
        self.answers(range(1, self.size), JOIN)
        self.answers(range(self.size), JOIN)

    def ask(self, request):
        """Every rank's answer to one request. Raises Failed, after which the world is gone unless all failed."""
        message = reduction.ForkingPickler.dumps(request)  # once for all ranks
        for end in self.ends:
            try:
                end.send_bytes(message)
            except BrokenPipeError:
                pass  # its death is seen below
        return self.answers(range(self.size), None)

    def answers(self, numbers, seconds):
        found, failed, waiting = {}, None, {self.ends[n]: n for n in numbers}
        until = time.monotonic() + seconds if seconds else None
        while waiting:
            ready = connection.wait(list(waiting), None if until is None else max(0, until - time.monotonic()))
            if not ready:
                break
            for end in ready:
                number = waiting.pop(end)
                try:
                    ok, value = end.recv()
                except (EOFError, ConnectionResetError):
                    self.died(number)
                if ok:
                    found[number] = value
                else:
                    failed = failed or Failed(number, *value)
                    until = until or time.monotonic() + GRACE
        if failed and (waiting or found):
            self.end()
        if failed:
            raise failed
        if waiting:
            self.end()
            missing = ", ".join(str(n) for n in waiting.values())
            said = f"TimeoutError: rank {missing} did not join within {seconds} seconds"
            raise Failed(min(waiting.values()), said, "")
        return found

    def died(self, number):
        """A rank is gone: the peer dies the same way, after the others, so that the harness sees it."""
        _, status = os.waitpid(self.pids[number], 0)
        self.pids[number] = None
        self.end()
        if os.WIFSIGNALED(status):
            name = signal.Signals(os.WTERMSIG(status)).name
            print(f"torch: rank {number} of {self.size} was killed by {name}", file=sys.stderr, flush=True)
            if name != "SIGKILL":
                signal.signal(os.WTERMSIG(status), signal.SIG_DFL)
            os.kill(os.getpid(), os.WTERMSIG(status))
        print(f"torch: rank {number} of {self.size} exited", file=sys.stderr, flush=True)
        os._exit(os.WEXITSTATUS(status) or 1)

    def end(self):
        for pid in filter(None, self.pids):
            os.kill(pid, signal.SIGKILL)
        for pid in filter(None, self.pids):
            os.waitpid(pid, 0)
        for end in self.ends:
            end.close()
        self.pids = []

    @property
    def alive(self):
        return bool(self.pids)
