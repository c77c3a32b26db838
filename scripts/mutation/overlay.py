"""The switchable build: copies of the sources with their mutations as switches, compiled as the build folder compiles
the originals and linked with the objects of its tests."""
import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess

import sites

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
ROOMS = ("reference/", "harness/trace/", "harness/judge/", "harness/diagnose/")
SPAN = 4096  # numbers of a file


def run(command, **how):
    return subprocess.run(command, capture_output=True, text=True, **how)


class Overlay:
    def __init__(self, build, home, jobs, say):
        self.build, self.home, self.jobs, self.say = build, build / home, jobs, say
        self.keys = None  # of the mutations to compile; None: all
        self.copies, self.objects = self.home / "src", self.home / "obj"
        listed = json.loads((build / "compile_commands.json").read_text())
        # Of rooms, not of tests, whose commands may name a room's precompiled header.
        self.commands = [one for one in listed if "/plumb_" in self.output(one) and self.originals(one)]
        self.deps = self.read_deps()
        files = {file for one in self.commands for file in self.originals(one)}
        self.files = sorted(files | {file for one in self.commands for file in self.deps.get(self.output(one), ())})
        self.barred_file = self.home / "barred.json"
        self.barred = set(json.loads(self.barred_file.read_text())) if self.barred_file.exists() else set()

    def output(self, command):
        return re.search(r" -o (\S+)", command["command"])[1]

    def originals(self, command):
        """The sources of an object in these rooms; a unity build names several."""
        path = pathlib.Path(command["file"])
        text = path.read_text() if path.suffix == ".cxx" and path.exists() else f'#include "{path}"'
        found = [name.removeprefix(f"{ROOT}/") for name in re.findall(r'#include "([^"]+)"', text)]
        return [name for name in found if name.startswith(ROOMS)]

    def read_deps(self):
        """Headers of these rooms by object."""
        found, at = {}, None
        for line in run(["ninja", "-C", str(self.build), "-t", "deps"]).stdout.split("\n"):
            if line and not line.startswith(" "):
                at = found.setdefault(line.split(":")[0], set())
            elif line.strip().endswith(".h"):
                name = os.path.relpath(self.build / line.strip(), ROOT)
                if name.startswith(ROOMS):
                    at.add(name)
        return found

    def generate(self, write=True):
        """The mutations of all files; writes the copies."""
        self.mutations, self.changed = [], set()
        for index, file in enumerate(self.files):
            data = (ROOT / file).read_bytes()
            source = sites.Source(file, data, 1 + SPAN * index, self.keys, self.barred)
            assert source.next <= 1 + SPAN * (index + 1), file
            copy = self.copies / file
            self.mutations += source.mutations
            if not write:
                continue
            if source.mutations:
                self.changed.add(file)
                if not copy.exists() or copy.read_text() != source.copy:
                    copy.parent.mkdir(parents=True, exist_ok=True)
                    copy.write_text(source.copy)
            else:
                copy.unlink(missing_ok=True)
        self.size = 1 + SPAN * (len(self.files) + 1)

    def object_of(self, command):
        return self.objects / self.output(command)

    def touched(self, command):
        return self.changed & (set(self.originals(command)) | self.deps.get(self.output(command), set()))

    def compile(self, command):
        """Compiles the copy of an object; what the compiler said where it failed."""
        to, names = self.object_of(command), self.originals(command)
        source = to.with_suffix(".cc")
        to.parent.mkdir(parents=True, exist_ok=True)
        source.write_text("".join(f'#include "{self.copies / name if name in self.changed else ROOT / name}"\n'
                                  for name in names))
        words = shlex.split(command["command"])
        words = words[:words.index("-o")] + ["-include", str(HERE / "switch.h"), "-O1", "-w", "-D_GLIBCXX_ASSERTIONS"]
        first = next(i for i, word in enumerate(words) if word.startswith("-I"))
        words.insert(first, f"-I{self.copies}")
        texts = [(self.copies / name).read_text() for name in sorted(self.touched(command))]
        texts += [(HERE / "switch.h").read_text(), source.read_text(), " ".join(words)]
        texts += [(ROOT / name).read_text() for name in sorted(self.deps.get(self.output(command), set()) | set(names))]
        digest = hashlib.sha256("\n".join(texts).encode()).hexdigest()
        stamp = to.with_suffix(".stamp")
        if to.exists() and stamp.exists() and stamp.read_text() == digest:
            return ""
        done = run(words + ["-o", str(to), "-c", str(source)], cwd=self.build)
        if done.returncode == 0:
            stamp.write_text(digest)
        return done.stderr if done.returncode else ""

    def bar(self, said):
        """Bars the mutations that the compiler accuses: the last switch before the first error of each line that is
        not barred yet (its place may have others, which keep it)."""
        numbers, seen = set(), set()
        switched = {number for one in self.mutations for number in (one.site, one.number)}
        for file, line, column in re.findall(rf"{re.escape(str(self.copies))}/(\S+?):(\d+):(\d+): (?:error|internal compiler error|  required)", said):
            if (file, line) in seen:
                continue
            seen.add((file, line))
            text = (self.copies / file).read_bytes().split(b"\n")[int(line) - 1].decode()
            found = [(match.start() < int(column), int(match[1]))
                     for match in re.finditer(r"plumb_mutant::(?:\w+<|on\()(\d+)", text)]
            before = [number for is_before, number in found if is_before and number in switched]
            after = [number for is_before, number in found if not is_before and number in switched]
            numbers |= set(before[-1:] or after[:1])
        accused = {one.key for one in self.mutations if one.site in numbers or one.number in numbers}
        if not accused:
            raise SystemExit(f"mutate: a copy does not compile:\n{said[:4000]}")
        self.barred |= accused
        self.barred_file.write_text(json.dumps(sorted(self.barred), indent=0))
        return len(accused)

    def make(self):
        """Compiles until every copy compiles without the mutations that do not."""
        self.home.mkdir(exist_ok=True)
        for attempt in range(40):
            self.generate()
            todo = [one for one in self.commands if self.touched(one)]
            self.say(f"compiling {len(todo)} objects with {len(self.mutations)} mutations")
            with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
                failed = [said for said in pool.map(self.compile, todo) if said]
            if not failed:
                break
            self.say(f"{sum(self.bar(said) for said in failed)} mutations do not compile")
        else:
            raise SystemExit("mutate: no copy compiles")
        switch, source = self.home / "switch.o", HERE / "switch.cc"
        if not switch.exists() or switch.stat().st_mtime < source.stat().st_mtime:
            done = run(["g++", "-std=c++20", "-O1", "-c", str(source), "-o", str(switch)])
            if done.returncode:
                raise SystemExit(f"mutate: {source} does not compile:\n{done.stderr[:3000]}")

    def archive(self, command):
        room = re.search(r"(\S+)/CMakeFiles/(plumb_\w+)\.dir", self.output(command))
        return f"{room[1]}/lib{room[2]}.a"

    @functools.cached_property
    def links(self):
        """What links each program of the build folder, by its name there."""
        said = run(["ninja", "-C", str(self.build), "-t", "commands"]).stdout
        found = (shlex.split(words) for words in re.findall(r": && (\S.*?) && :", said) if " -o " in words)
        return {words[words.index("-o") + 1]: words for words in found}

    def copies_in(self, program):
        """The objects in it of which there are copies."""
        words = set(self.links.get(program, ()))
        return [one for one in self.commands if self.archive(one) in words and self.touched(one)]

    def link(self, program):
        """A program of the build folder, linked with the copies before all else: an inline function of a header is
        taken from where it comes first. Its new path; None where no copy is in it."""
        if not self.copies_in(program):
            return None
        words = list(self.links[program])
        ours = [one for one in self.commands if self.archive(one) in words]
        objects = [str(self.object_of(one) if self.touched(one) else self.build / self.output(one)) for one in ours]
        to = self.home / "bin" / pathlib.Path(program).name
        to.parent.mkdir(exist_ok=True)
        words[words.index("-o") + 1] = str(to)
        first = next(i for i, word in enumerate(words) if word.endswith(".o"))
        archives = {self.archive(one) for one in ours}
        words = [*words[:first], str(self.home / "switch.o"), *objects,
                 *(word for word in words[first:] if word not in archives)]
        inputs = [self.build / word for word in words if word.endswith((".o", ".a"))]
        stamp, known = to.with_suffix(".stamp"), str([(str(one), one.stat().st_mtime_ns) for one in inputs])
        if not (to.exists() and stamp.exists() and stamp.read_text() == known):
            done = run(words, cwd=self.build)
            if done.returncode:
                raise SystemExit(f"mutate: {program} does not link:\n{done.stderr[:3000]}")
            stamp.write_text(known)
        return to
