"""The folder of a history: a folder for each night, of which the records are kept for some nights and the rest for ever.

    HISTORY/lock                     one night at a time
    HISTORY/nights/NAME/             a night, by the time it began
        *.jsonl                      its records, which are the truth
        *.js                         what became of each case, for the page that compares any two nights (cases.py)
        *.xml                        JUnit: what has become worse is a failure
        night.json                   what came of it, written last: without it the night was killed
    HISTORY/lines/                   the lines of these cases, a file for all nights that judge the same
    HISTORY/pages/                   made anew from these
"""
import contextlib
import dataclasses
import fcntl
import json
import os
import pathlib
import re


class Refused(Exception):
    """Bad input, or another night is running."""


@dataclasses.dataclass
class Night:
    name: str
    folder: pathlib.Path
    told: dict | None  # night.json; None: it was killed, or is not over


def nights(history):
    """All of them, the oldest first."""
    found = []
    for folder in sorted((history / "nights").glob("*")):
        file = folder / "night.json"
        if folder.is_dir():
            found.append(Night(folder.name, folder, told_in(file) if file.exists() else None))
    return found


def told_in(file):
    try:
        return json.loads(file.read_text())
    except ValueError as error:
        raise Refused(f"{file}: {error}; without this file its night has not come to its end") from None


def has_cases(record):
    """A run that judged none leaves where it would have come from, and no more."""
    with open(record) as lines:
        return any('"case":' in line for line in lines)


def last_before(history, name, row="*"):
    """The last night before one that came to its end and of which there are cases, of this row; None where there is none."""
    whole = [one for one in nights(history)
             if one.told and one.name < name and any(map(has_cases, one.folder.glob(f"{row}.jsonl")))]
    return whole[-1] if whole else None


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
