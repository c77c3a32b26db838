"""Options: what is refused, the defaults, and that the harness's table of backends says the same as the workers."""

import contextlib
import importlib.util
import io
import pathlib
import re
import unittest

import plumb_worker

ADAPTERS = pathlib.Path(__file__).resolve().parent.parent
TABLE = {"style": ("auto", "explicit"), "grad": ("", "lhs", "rhs"), "hlo": None}


def refused(given):
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        try:
            plumb_worker.checked("mine", TABLE, given)
        except SystemExit as ended:
            return ended.code, said.getvalue()
    return None


def rows():
    """{backend: {option: its values, or None}} of harness/backend/rows.cc, for those that are workers."""
    text = (ADAPTERS.parent / "harness/backend/rows.cc").read_text()
    found = {}
    row = r'\{"(\w+)", "[^"]*",\s*"", "adapters/[^"]*", \{[^}]*\},\s*\{(\{.*?\})\}\},'
    for name, options in re.findall(row, text, re.S):
        each = re.findall(r'\{"(\w+)",\s*\{([^}]*)\}', options)
        found[name] = {option: set(re.findall(r'"(\w+)"', values)) or None for option, values in each}
    return found


def worker(name):
    spec = importlib.util.spec_from_file_location(f"{name}_worker", ADAPTERS / name / "worker.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Choices(unittest.TestCase):
    def test_an_unknown_one_ends_the_program_with_what_there_is(self):
        self.assertEqual(refused({"stile": "auto"}), (2, "mine: no option 'stile'; there are style, grad, hlo\n"))
        self.assertEqual(refused({"style": "odd"}), (2, "mine: style=odd is none of auto, explicit\n"))
        self.assertEqual(refused({"grad": "both"}), (2, "mine: grad=both is none of lhs, rhs\n"))
        self.assertIsNone(refused({"hlo": "anything", "grad": ""}))

    def test_what_is_not_given_is_the_default(self):
        self.assertEqual(plumb_worker.checked("mine", TABLE, {"grad": "", "hlo": "x"}), {"style": "auto", "hlo": "x"})

    def test_the_harness_knows_the_same_options(self):
        table = rows()
        self.assertEqual(set(table), {"flax", "jax", "maxtext", "te", "torch"})
        for name, options in table.items():
            mine = {option: values and set(filter(None, values)) for option, values in worker(name).OPTIONS.items()}
            with self.subTest(name):
                self.assertEqual(options, mine)


if __name__ == "__main__":
    unittest.main()
