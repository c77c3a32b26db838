"""The tests of the build folder, what each of them reaches, and whether they kill a mutation."""
import dataclasses
import functools
import hashlib
import json
import math
import operator
import os
import pathlib
import re
import resource
import signal
import subprocess
import threading

LABELS = {"unit", "law", "suite", "prove"}
MOST_BYTES = 16 << 30
NETS = re.compile("drawn|pinned|changed|damaged")
WALL = 4  # times its processor time, a test is waited for: a machine that is busy kills no mutation
MOST = 600  # seconds of a processor a test takes, without a mutation
FAILS = -1
OUT_OF_TIME, NO_VERDICT = "out of time", "no verdict"


@dataclasses.dataclass
class Test:
    program: pathlib.Path
    arguments: list
    name: str  # of a GoogleTest, every instance of a parametrised one; empty: the whole program
    seconds: float = 0.0  # of processor time
    reached: bytes = b""


def limited(seconds):
    # A process that does not end when it is told to ends a second later.
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(seconds), math.ceil(seconds) + 1))
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def attempt(command, seconds, folder, **environment):
    """What a command exits with, each process of which is given so many seconds of a processor; None where the wall
    clock ended it. Its whole group of processes ends with it."""
    child = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, start_new_session=True, preexec_fn=functools.partial(limited, seconds),
                             env={**os.environ, **environment})
    try:
        said, _ = child.communicate(timeout=WALL * seconds)
        return child.returncode, said.decode(errors="replace")
    except subprocess.TimeoutExpired:
        return None, ""
    finally:
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        child.wait()
        child.stdout.close()


def processor_time():
    """Of all that was started and has ended, in seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def why(code, said):
    """A test failed; None where it passed."""
    if code == 0:
        return None
    if code is None:
        return f"{NO_VERDICT}: wall clock"
    failed = re.search(r"\[  FAILED  \] (\S+?),? ", said)
    return OUT_OF_TIME if code == -signal.SIGXCPU else failed[1] if failed else f"exits with {code}"


def first_killer(ends):
    """The first of what tests end with that kills; 'no verdict' where none does and one was late."""
    late = None
    for end in ends:
        if end and not end.startswith(NO_VERDICT):
            return end
        late = late or end
    return late


def programs(build):
    """(program, arguments) of every test with one of the labels, once; the tool's own programs among them."""
    listed = json.loads(subprocess.run(["ctest", "--test-dir", str(build), "--show-only=json-v1"], check=True,
                                       capture_output=True, text=True).stdout)
    for test in listed["tests"]:
        labels = {label for one in test.get("properties", ()) if one["name"] == "LABELS" for label in one["value"]}
        command = test.get("command")
        if command and labels & LABELS and command[0].startswith(f"{build}/") and "whole" not in test["name"]:
            yield str(pathlib.Path(command[0]).relative_to(build)), command[1:]


def are_sources(arguments):
    """What a program of GoogleTest is told: the sources whose tests it runs (scripts/cmake/of_sources.cc)."""
    return all(one.endswith("_test.cc") for one in arguments)


def names_of(program, sources):
    """The GoogleTests of a program's sources, instances of a parametrised one as one pattern."""
    said = subprocess.run([program, *sources, "--gtest_list_tests"], capture_output=True, text=True, timeout=60).stdout
    names, suite = [], ""
    for line in said.split("\n"):
        line = line.split("#")[0].rstrip()
        if line and not line.startswith(" "):
            suite = line
        elif line.startswith("  "):
            name = line.strip().split("/")[0]
            names.append(f"{suite}{name}" + ("/*" if "/" in line else ""))
    return list(dict.fromkeys(name for name in names if ".DISABLED_" not in name))


def linked(overlay):
    """(program, arguments) of the tests with copies in them."""
    for program in ("bin/plumb-local", "bin/plumb-liar"):
        overlay.link(program)
    for program, arguments in programs(overlay.build):
        path = overlay.link(program)
        if path:
            yield path, arguments


def command(program, arguments, names):
    if not are_sources(arguments):
        return [str(program), *arguments]
    only = [f"--gtest_filter={':'.join(names)}"] if names else []
    return [str(program), *arguments, "--gtest_brief=1", "--gtest_fail_fast", *only]


def killed(words, seconds, folder, mutation):
    """Who kills it, if the command fails with it; 'no verdict' where the wall clock ended it."""
    end = why(*attempt(words, seconds, folder, PLUMB_MUTANT=str(mutation.number)))
    if not end or end.startswith(NO_VERDICT):
        return end
    return " ".join([pathlib.Path(words[0]).name, *(one for one in words[1:] if not one.startswith("--gtest")), end])


def any_with(tests, what):
    """For each mutation 1 where any of the tests noted that of it, and 0."""
    only = bytes(int(byte == what) for byte in range(256))
    noted = functools.reduce(operator.or_, (int.from_bytes(test.reached.translate(only), "big") for test in tests))
    return noted.to_bytes(len(tests[0].reached), "big")


class Trial:
    """Kills by the tests that a first pass, without a mutation, saw to reach one."""

    def __init__(self, overlay, say, under=math.inf):
        self.overlay, self.folder = overlay, overlay.home / "work"
        self.folder.mkdir(exist_ok=True)
        self.tests = []
        for path, arguments in linked(overlay):
            if are_sources(arguments):
                self.tests += [Test(path, [], name) for name in names_of(path, arguments)]
            else:
                self.tests.append(Test(path, arguments, ""))
        for i, test in enumerate(self.tests):
            self.cover(test, min(MOST, under))
            if i % 50 == 49:
                say(f"{i + 1} of {len(self.tests)} tests passed through")
        for test in self.tests:
            if test.seconds == FAILS:
                say(f"fails without a mutation, left out: {self.title(test)}")
        self.tests = sorted((test for test in self.tests if test.seconds != FAILS), key=lambda test: test.seconds)
        self.by_any, self.ruled = any_with(self.tests, 1), any_with(self.tests, 2)
        self.quick = [test for test in self.tests if test.seconds < under]
        if len(self.quick) < len(self.tests):
            say(f"{len(self.tests) - len(self.quick)} of {len(self.tests)} tests take {under:g} s and more each and are left out")

    def title(self, test):
        return f"{test.program.name} {test.name or ' '.join(test.arguments)}"

    def cover(self, test, most):
        """Notes what a test reaches, and how long it takes: FAILS where it does not pass as it stands. Known already where
        the program is the same; what takes `most` seconds is not noted."""
        programs = [test.program] + [self.overlay.home / "bin" / name for name in ("plumb-local", "plumb-liar")
                                     if test.arguments and (self.overlay.home / "bin" / name).exists()]
        same = "".join(f"{one.stat().st_mtime_ns} {one.stat().st_size} " for one in programs)
        key = hashlib.sha256(f"{self.title(test)} {self.overlay.size} {same}".encode()).hexdigest()[:24]
        noted = self.overlay.home / "reached" / key
        noted.parent.mkdir(exist_ok=True)
        seconds = noted.with_suffix(".processor")
        if not seconds.exists():
            noted.write_bytes(bytes(self.overlay.size))
            before = processor_time()
            code, said = attempt(command(test.program, test.arguments, [test.name]), most, self.folder,
                                 PLUMB_MUTANTS_REACHED=str(noted))
            if most < MOST and why(code, said) in (OUT_OF_TIME, f"{NO_VERDICT}: wall clock"):
                test.seconds, test.reached = math.inf, bytes(self.overlay.size)
                return
            seconds.write_text(f"{processor_time() - before if code == 0 else FAILS}")
        test.seconds, test.reached = float(seconds.read_text()), noted.read_bytes()

    def of_room(self, mutation):
        room = str(pathlib.Path(mutation.file).parent)
        return {pathlib.Path(one).name for one in self.overlay.links if str(pathlib.Path(one).parent) == room}

    def ruled_out(self, number):
        return self.ruled[number] == 1

    def reached(self, mutation):
        return self.by_any[mutation.number] == 1

    def kill(self, mutation):
        """The test that fails with the mutation, 'nothing reaches it', 'no verdict', or None where all pass."""
        by_program = {}
        for test in self.quick:
            if test.reached[mutation.number] == 1:
                by_program.setdefault((test.program, tuple(test.arguments)), []).append(test)
        # Those of its own room first, then those of drawn lines.
        order = lambda one: (str(one[0][0].name) not in self.of_room(mutation), not NETS.search(one[0][0].name),
                             sum(test.seconds for test in one[1]))
        if not self.reached(mutation):
            return "nothing reaches it"
        return first_killer(
            killed(command(program, arguments, [test.name for test in tests]),
                   10 + 4 * sum(test.seconds for test in tests), self.folder, mutation)
            for (program, arguments), tests in sorted(by_program.items(), key=order))


class Quick:
    """Kills by whole programs, those of the mutation's own room first, each linked when it is first needed: for so few
    that a first pass does not pay."""

    def __init__(self, overlay, say):
        self.overlay, self.folder, self.lock = overlay, overlay.home / "work", threading.Lock()
        self.folder.mkdir(exist_ok=True)
        self.programs = [one for one in programs(overlay.build) if overlay.copies_in(one[0])]
        self.say, self.paths = say, {}
        noted = overlay.home / "ruled_out"
        noted.write_bytes(bytes(overlay.size))
        seen = set()
        # What is ruled out is noted before main, by any program that an object is in.
        for program, arguments in sorted(self.programs, key=lambda one: len(overlay.copies_in(one[0]))):
            held = {overlay.output(one) for one in overlay.copies_in(program)}
            if not held <= seen and are_sources(arguments):
                seen |= held
                attempt([str(self.linked(program)), "--gtest_list_tests"], 60, self.folder,
                        PLUMB_MUTANTS_REACHED=str(noted))
        self.noted = noted.read_bytes()
        say(f"{len(self.paths)} of {len(self.programs)} programs linked")

    def linked(self, program):
        """Its path; those of the harness start the tool's own programs, which lie beside it."""
        with self.lock:
            if not program.startswith("reference/") and "bin/plumb-local" not in self.paths:
                for own in ("bin/plumb-local", "bin/plumb-liar"):
                    self.paths[own] = self.overlay.link(own)
            if program not in self.paths:
                self.paths[program] = self.overlay.link(program)
            return self.paths[program]

    def ruled_out(self, number):
        return self.noted[number] == 2

    def reaches(self, program, mutation):
        return any(mutation.file in self.overlay.touched(one) for one in self.overlay.copies_in(program))

    def kill(self, mutation):
        room = str(pathlib.Path(mutation.file).parent)
        near = lambda one: (not are_sources(one[1]), str(pathlib.Path(one[0]).parent) != room)
        return first_killer(self.killed(program, arguments, mutation)
                            for program, arguments in sorted(self.programs, key=near) if self.reaches(program, mutation))

    def killed(self, program, arguments, mutation):
        """By one program; one that takes as long without a mutation kills none by it."""
        words = command(self.linked(program), arguments, [])
        killer = killed(words, 120, self.folder, mutation)
        if killer and killer.endswith(OUT_OF_TIME) and not self.in_time(tuple(words)):
            return f"{NO_VERDICT}: {pathlib.Path(program).name} takes as long without a mutation"
        return killer

    @functools.cache
    def in_time(self, words):
        code, _ = attempt(words, 120, self.folder)
        return code == 0
