"""Options: what is refused, the defaults, and the rows that worker and harness read."""

import contextlib
import io
import json
import pathlib
import re
import tempfile
import unittest

import plumb_worker

ADAPTERS = pathlib.Path(__file__).resolve().parent.parent
ROW = {"options": {"style": {"values": {"auto": "", "explicit": ""}, "default": "auto"},
                   "grad": {"values": {"lhs": "", "rhs": ""}}, "hlo": {"help": "a folder"}}}


def checked(given):
    with tempfile.TemporaryDirectory() as above:
        folder = pathlib.Path(above) / "mine"
        folder.mkdir()
        (folder / "backend.json").write_text(json.dumps(ROW))
        return plumb_worker.checked(folder, given)


def refused(given):
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        try:
            checked(given)
        except SystemExit as ended:
            return ended.code, said.getvalue()
    return None


class Choices(unittest.TestCase):
    def test_an_unknown_one_ends_the_program_with_what_there_is(self):
        self.assertEqual(refused({"stile": "auto"}), (2, "mine: no option 'stile'; there are style, grad, hlo\n"))
        self.assertEqual(refused({"style": "odd"}), (2, "mine: style=odd is none of auto, explicit\n"))
        self.assertEqual(refused({"grad": "both"}), (2, "mine: grad=both is none of lhs, rhs\n"))
        self.assertIsNone(refused({"hlo": "anything", "grad": ""}))

    def test_what_is_not_given_is_the_default(self):
        self.assertEqual(checked({"grad": "", "hlo": "x"}), {"style": "auto", "hlo": "x"})

    def test_every_row_names_its_defaults_among_its_values(self):
        rows = sorted(ADAPTERS.glob("*/backend.json"))
        self.assertGreater(len(rows), 6)
        for path in rows:
            for name, option in json.loads(path.read_text())["options"].items():
                with self.subTest(f"{path.parent.name}: {name}"):
                    self.assertTrue(option.get("values") or option.get("help"))
                    if "values" in option and "default" in option:
                        self.assertIn(option["default"], option["values"])


    def test_pages_speak_of_the_options_there_are(self):
        """A page may say more of an option than its row; it names no other, and no other value."""
        pages = [page for page in sorted(ADAPTERS.glob("*/README.md")) if "| option |" in page.read_text()]
        self.assertGreater(len(pages), 4)
        for page in pages:
            table = json.loads((page.parent / "backend.json").read_text())["options"]
            lines = page.read_text().split("| option |")[1].split("\n\n")[0].splitlines()[2:]
            lists = "| option | values |" in page.read_text()
            name, said = None, set()
            for line in lines:
                first, second = (cell.strip() for cell in line.split("|")[1:3])
                name = first.strip("`") or name
                said.add(name)
                for value in re.findall("`([^`]*)`", second) if lists and "values" in table.get(name, {}) else ():
                    with self.subTest(f"{page.parent.name}: {name}={value}"):
                        self.assertIn(value, table[name]["values"])
            with self.subTest(page.parent.name):
                self.assertEqual(said, set(table))


if __name__ == "__main__":
    unittest.main()
