"""What a file says that a night shall do. What is wrong with it is said before anything runs, with the line."""
import difflib
import os
import re
import shlex
import tomllib

from night import judging, tool
from night.history import Refused

# What a configuration may say, and what each has to be.
TEXT, TEXTS, NUMBER, TABLES = "a text", "a list of texts", "a whole number above 0", "a table, as in [[judge]]"
KNOWN = {"": {"history": TEXT, "keep": NUMBER, "fail-on": TEXTS, "judge": TABLES, "bench": TABLES},
         "judge": {"name": TEXT, "flags": TEXT, "backends": TEXTS, "waivers": TEXT},
         "bench": {"name": TEXT, "flags": TEXT, "backends": TEXTS}}
IS = {TEXT: lambda value: isinstance(value, str),
      TEXTS: lambda value: isinstance(value, list) and all(isinstance(one, str) for one in value),
      NUMBER: lambda value: type(value) is int and value > 0,
      TABLES: lambda value: isinstance(value, list) and all(isinstance(one, dict) for one in value)}
LINE = "on x=2: reshard f32[8@x] -> f32[8]"  # any


def config_of(path):
    """The configuration, its paths from its folder. Throws Refused where it says what nobody reads."""
    try:
        text = path.read_text()
        config = tomllib.loads(text)
    except OSError as error:
        raise Refused(f"{path}: {error.strerror}; expected a configuration (scripts/night/README.md has one)") from None
    except UnicodeDecodeError as error:
        raise Refused(f"{path}: {error}") from None
    except tomllib.TOMLDecodeError as error:
        raise Refused(not_toml(path, text, str(error))) from None
    check_table(path, text, config)
    config = {"history": "history", "keep": 30, "fail-on": judging.FAIL_ON, "judge": [], "bench": []} | config
    for word in config["fail-on"]:
        if word not in judging.CHANGES:
            raise refused(path, text, ("", 0, "fail-on"), f"fail-on has no {word}, only {', '.join(judging.CHANGES)}{near(word, judging.CHANGES)}")
    for kind in ("judge", "bench"):
        for number, one in enumerate(config[kind]):
            check_row(path, text, kind, number, one)
    check_names(path, text, config)
    return config


def rows(config):
    return config["judge"] + config["bench"]


# What a night says to plumb itself, and how a configuration says it.
OWN = {"--backend": "backends of the row name it", "--waivers": "waivers of the row name the file", "--record": "the history has the record",
       "--resume": "scripts/nightly --resume goes on", "--shard": "scripts/nightly --shard takes a part",
       "--dry-run": "nothing would run", "--help": "nothing would run", "-h": "nothing would run"}

# What begins, ends or hides a table that stands inline.
TOKENS = re.compile(r'''"""(?s:.*?)"""|"(?:\\.|[^"\\\n])*"|'[^'\n]*'|\#[^\n]*|[{}]''')


def inline_line(text, kind, number):
    """The line of the numbered table of kind = [{...}, {...}]; 0 where there is none."""
    head = re.search(rf"(?m)^\s*{kind}\s*=\s*\[", text)
    depth, seen = 0, -1
    for token in TOKENS.finditer(text, head.end()) if head else ():
        seen += token[0] == "{" and depth == 0
        depth += (token[0] == "{") - (token[0] == "}")
        if seen == number:
            return text.count("\n", 0, token.start()) + 1
    return 0


def line_of(text, table, number, key):
    """The line of a key of the numbered [[table]], or of this table where it does not have it: 0 where there is none."""
    at, seen, found = "", -1, 0
    for count, line in enumerate(text.splitlines(), 1):
        if head := re.match(r"\s*\[\[?\s*([\w-]+)", line):
            at, seen = head[1], seen + (head[1] == table)
            found = count if at == table and seen == number or not table and at == key else found
        elif at == table and seen == (number if table else -1) and re.match(rf"""\s*["']?{re.escape(key)}["']?\s*=""", line):
            return count
    return found or (inline_line(text, table, number) if table else 0)


def refused(path, text, place, words):
    line = line_of(text, *place)
    return Refused(f"{path}:{line}: {words}" if line else f"{path}: {words}")


def not_toml(path, text, said):
    """tomllib's words, with the line: it says "(at line 3, column 5)" or "(at end of document)"."""
    words, _, where = said.removesuffix(")").rpartition(" (at ")
    lines = text.splitlines() or [""]
    found = re.fullmatch(r"line (\d+), column (\d+)", where)
    line, column = (int(found[1]), int(found[2])) if found else (len(lines), len(lines[-1]) + 1)
    shown = lines[line - 1] if line <= len(lines) else ""
    return f"{path}:{line}: {words or said}\n  {shown}\n  {' ' * (column - 1)}^"


def near(word, known):
    found = difflib.get_close_matches(word, known, 1)
    return f"; did you mean {found[0]}?" if found else ""


def check_table(path, text, table, kind="", number=0):
    for key, value in table.items():
        place = kind, number, key
        if key not in KNOWN[kind]:
            raise refused(path, text, place, f"{f'[[{kind}]]' if kind else 'a file'} has no {key}{near(key, KNOWN[kind])}")
        if not IS[KNOWN[kind][key]](value):
            raise refused(path, text, place, f"{key} has to be {KNOWN[kind][key]}")


def check_row(path, text, kind, number, row):
    """A row, with what it does not say."""
    check_table(path, text, row, kind, number)
    place = lambda key: (kind, number, key)
    if not re.fullmatch(r"[\w-]+", row.get("name", "")):
        raise refused(path, text, place("name"), f"each [[{kind}]] needs a name of letters, digits, - and _")
    row["kind"], row["words"], row["base"] = kind, row.get("flags", ""), path.resolve().parent
    try:
        row["flags"] = shlex.split(row["words"])
    except ValueError as error:
        raise refused(path, text, place("flags"), f"{row['name']}: flags: {error}") from None
    for word in row["flags"]:
        if (own := word.partition("=")[0]) in OWN:
            said = pointed(row["words"], f"'{own}' is not for a row: {OWN[own]}")
            raise refused(path, text, place("flags"), f"{row['name']}: flags: {said}")
    row.setdefault("backends", ["local"])
    if len(set(row["backends"])) < len(row["backends"]) or not row["backends"]:
        raise refused(path, text, place("backends"), f"{row['name']}: backends has to name one, and none twice")
    if "waivers" in row and not (path.parent / row["waivers"]).is_file():
        raise refused(path, text, place("waivers"), f"{row['name']}: there is no file {row['waivers']}")


def check_names(path, text, config):
    seen = set()
    for kind in ("judge", "bench"):
        for number, row in enumerate(config[kind]):
            if row["name"] in seen:
                raise refused(path, text, (kind, number, "name"), f"two rows have the name {row['name']}: each has a record of its own")
            seen.add(row["name"])
    if not seen:
        raise Refused(f"{path}: there has to be a [[judge]] or [[bench]]")


def check_flags(path, config):
    """Throws Refused where plumb would not take the flags of a row, its waivers, or the name of a backend: tried where nothing is run.
    What is not here is no such thing: the others of its night run."""
    if not os.access(tool.PLUMB, os.X_OK):
        raise Refused(f"there is no program {tool.PLUMB}: scripts/plumb builds it")
    text = path.read_text()
    for kind in ("judge", "bench"):
        for number, row in enumerate(config[kind]):
            waived = ["--waivers", row["waivers"]] if "waivers" in row else []
            done = tool.plumb(row["base"], *tool.run_words(row, "local", "a-record"), *waived, "--dry-run")
            if done.returncode:
                raise refused(path, text, (kind, number, "flags"), f"{row['name']}: flags: {pointed(row['words'], tool.said(done))}")
            for backend in row["backends"]:
                said = tool.said(tool.plumb(row["base"], tool.VERBS[kind], LINE, "--backend", backend, "--dry-run"))
                if said.endswith("^") and not said.startswith("no program "):  # it points at what is misspelt
                    raise refused(path, text, (kind, number, "backends"), f"{row['name']}: backends: {said}")


def pointed(words, said):
    """What plumb said of flags, and where in them stands what it quotes."""
    quoted = re.search(r"'([^'\n]+)'", said)
    if "\n" in said or not quoted or quoted[1] not in words:
        return said
    at = words.index(quoted[1])
    before = words[:at].rpartition("\n")[2]
    line = before + words[at:].partition("\n")[0]
    return f"{said}\n  {line}\n  {' ' * len(before)}^"
