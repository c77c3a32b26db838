"""The folder of a history: a folder for each night, of which the records are kept for some nights and the rest for ever.

    HISTORY/lock                     one night at a time
    HISTORY/nights/NAME/             a night; its name is the time at which it began, or what --night says
        *.jsonl                      its records, which are the truth
        *.js                         what became of each case, for the page that compares any two nights (cases.py)
        *.xml                        JUnit of each row: a case of it that has become worse is a failure
        night.junit.xml              JUnit of the night: what makes it red
        night.json                   what came of it, written last: without it the night was killed
    HISTORY/lines/                   the lines of these cases, a file for all nights that judge the same
    HISTORY/pages/                   made anew from these
"""
import contextlib
import dataclasses
import errno
import fcntl
import json
import os
import pathlib
import re


class Refused(Exception):
    """Bad input, or another night is running."""


WHAT_TO_DO = {errno.ENOSPC: "the disk is full: make room", errno.EDQUOT: "the quota is used up: make room",
              errno.EFBIG: "larger than a file may be here (ulimit -f): raise the limit",
              errno.EROFS: "this disk can only be read: name a folder on another",
              errno.EACCES: "this user may not write there: name another folder, or change its owner",
              errno.EPERM: "this user may not write there: name another folder, or change its owner",
              errno.ENOENT: "it is not there, and cannot be made: name a folder that can",
              errno.ENOTDIR: "a part of this path is a file, not a folder: name another",
              errno.EEXIST: "this is a file, not a folder: name another"}


def what_to_do(error):
    """What a user does about an error of the system."""
    return WHAT_TO_DO.get(error.errno, error.strerror)


@dataclasses.dataclass
class Night:
    name: str
    folder: pathlib.Path
    told: dict | None  # night.json; None: it was killed, or is not over


def nights(history):
    """All of them, the oldest first: by when they began, whatever their names."""
    found = []
    for folder in (history / "nights").glob("*"):
        file = folder / "night.json"
        if folder.is_dir():
            found.append(Night(folder.name, folder, told_in(file) if file.exists() else None))
    return sorted(found, key=when)


def when(night):
    """By what nights are in order: when the first run of one began, as names of nights say a time; then by their names."""
    dated = re.fullmatch(r"\d{4}-\d\d-\d\dT.*", night.name)
    began = night.told.get("began") or (None if dated else night.told["ended"]) if night.told else began_in(night.folder)
    return began or night.name, night.name


def began_in(folder):
    """When the first of the runs in its records began; None where there is none."""
    heads = [line for line in map(first_line, folder.glob("*.jsonl")) if '"started"' in line]
    return min((json.loads(line)["started"].replace(":", "-") for line in heads), default=None)


def first_line(file):
    with open(file) as lines:
        line = lines.readline()
    return line if line.endswith("\n") else ""


def told_in(file):
    try:
        return json.loads(file.read_text())
    except ValueError as error:
        raise Refused(f"{file}: {error}; without this file its night has not come to its end") from None


def has_cases(record):
    """A run that judged none leaves where it would have come from, and no more."""
    with open(record) as lines:
        return any('"case":' in line for line in lines)


def answered(row):
    """The backends of a row of night.json that came to any answer: not those that did not run, or did not start."""
    return [backend for backend in row["statuses"] if backend not in row["missing"]]


def last_answers(nights, row, joined):
    """Of each backend, by its name from night to night, the last of these nights in which it answered in this row."""
    found = {}
    for one in nights:
        if (one.folder / f"{row}.jsonl").exists():
            found |= {joined(backend): one for told in one.told["rows"] if told["name"] == row for backend in answered(told)}
    return found


def record_of(last, row, joined, into):
    """The record that has what each backend answered last, by its night; written where it is of several nights. None where there is
    nothing."""
    nights = {one.name: one for one in last.values()}
    if len(nights) < 2:
        return next((one.folder / f"{row}.jsonl" for one in nights.values()), None)
    with open(into, "w") as out:
        for one in nights.values():
            mine, runs = {backend for backend, night in last.items() if night.name == one.name}, set()
            for line in open(one.folder / f"{row}.jsonl"):
                said = json.loads(line)
                if mine & set(map(joined, said.get("backends", [said.get("backend", "")]))):
                    runs.add(said.get("run"))
                    out.write(line)
                elif "ended" in said and said["run"] in runs:
                    out.write(line)
    return into


def write_whole(path, text):
    """A file that is there whole or not at all."""
    new = path.with_name(path.name + ".new")
    try:
        with open(new, "w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, path)
    finally:
        new.unlink(missing_ok=True)


def is_locked(path):
    """Whether somebody has this lock."""
    try:
        with locked(path):
            return False
    except Refused:
        return True


@contextlib.contextmanager
def locked(path):
    """Throws Refused where another has the lock; it goes with its process."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Refused(f"another night is running: it has {path}") from None
        yield


def forget(history, keep):
    """Takes away the records of all but the last `keep` nights that came to their end; what came of them stays."""
    whole = [one for one in nights(history) if one.told]
    for one in whole[:-keep]:
        for kind in ("*.jsonl", "*.js"):
            for file in one.folder.glob(kind):
                file.unlink()
    used = {name for file in (history / "nights").glob("*/*.js") for name in re.findall(r'"lines":"(\w+)"', file.read_text())}
    for file in (history / "lines").glob("*.js"):
        if file.stem not in used:
            file.unlink()
