"""scripts/environment, with an interpreter that only pretends: no network, no packages."""

import os
import stat
import subprocess
import tempfile
import unittest

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir, "scripts", "environment")

# `python -m venv DIR` copies this script into DIR/bin/python; there `-m pip` knows releases 0.10.2, 1.0 and 2.0.
PRETENDER = """#!/bin/bash
here=${0%/bin/python}
case "$*" in
  "-c import venv, ensurepip") exit ${NO_VENV:-0} ;;
  "-c import sysconfig"*) mkdir -p "$here/site"; echo "$here/site" ;;
  "-V") echo "Python 3.99" ;;
  "-m venv "*) mkdir -p "${!#}/bin"; cp "$0" "${!#}/bin/python"; printf '#!x\\n' > "${!#}/bin/pip" ;;
  *"pip "*"==1.0"*|*"pip "*"==2.0"*|*"pip "*"==3.0"*|*"pip "*"==0.10.2"*)
    echo "$*" >> "$here/installed"; [ -z "$KILLED" ] || kill -9 $PPID ;;
  *"pip "*"pydantic"*) [ -z "$NO_PYDANTIC" ] || {
    echo "ERROR: Could not find a version that satisfies the requirement pydantic (from versions: none)"; exit 1; }
    echo "$*" >> "$here/installed" ;;
  *"pip "*) [ -z "$OTHER_PYTHON" ] || echo "ERROR: Ignored the following versions that require a different python version: 8.9 Requires-Python >=4.1; 9.9 Requires-Python >=4.2"
    echo -n "ERROR: Could not find a version that satisfies the requirement ${!#} "
    echo "(from versions: ${VERSIONS-1.0, 2.0})"
    exit 1 ;;
  *"-I -c "*) [ -z "$BROKEN" ] || { echo "ImportError: no" >&2; exit 1; }
    sed -n 's/^[^=]*==\\([^ ]*\\).*/\\1/p' "$here/installed" | head -1 ;;
esac
"""


class Environment(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.home = folder.name
        self.python = os.path.join(self.home, "pretender")
        with open(self.python, "w") as f:
            f.write(PRETENDER)
        os.chmod(self.python, os.stat(self.python).st_mode | stat.S_IXUSR)

    def run_script(self, *arguments, **env):
        env = {**os.environ, "PLUMB_HOME": self.home, "PLUMB_PYTHON": self.python, **env}
        return subprocess.run([SCRIPT, *arguments], env=env, capture_output=True, text=True)

    def place(self, name):
        return os.path.join(self.home, "env", name)

    def listed(self):
        return [line.split()[0] for line in self.run_script("--list").stdout.splitlines()]

    def test_made_listed_removed(self):
        made = self.run_script("jax@1.0")
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertRegex(made.stdout, r"made jax@1.0: \S+ in ")
        self.assertTrue(os.path.exists(os.path.join(self.place("jax@1.0"), "bin", "python")))
        self.assertFalse(os.path.exists(os.path.join(self.place("jax@1.0"), "bin", "pip")))
        self.assertEqual(self.listed(), ["jax@1.0"])
        self.assertRegex(self.run_script("jax@1.0").stdout, "jax@1.0 is whole")
        self.assertRegex(self.run_script("--remove", "jax@1.0").stdout, "removed jax@1.0")
        self.assertEqual(self.listed(), [])

    def test_a_half_made_one_is_not_taken_for_whole(self):
        killed = self.run_script("jax@1.0", KILLED="1")
        self.assertEqual(killed.returncode, -9)
        self.assertFalse(os.path.exists(self.place("jax@1.0")))
        self.assertEqual(self.listed(), [])
        self.assertEqual(self.run_script("jax@1.0").returncode, 0)
        self.assertEqual(self.listed(), ["jax@1.0"])

    def test_a_folder_that_is_not_whole_is_made_anew(self):
        os.makedirs(os.path.join(self.place("jax@1.0"), "bin"))
        self.assertIn("made jax@1.0", self.run_script("jax@1.0").stdout)

    def test_one_that_leans_on_another(self):
        made = self.run_script("te@3.0+jax1.0")
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertRegex(made.stdout, r"made jax@1.0: \S+ in (.|\n)*"
                         r"made te@3.0\+jax1.0: \S+ in \S+, and leans on jax@1.0 \(")
        self.assertEqual(self.listed(), ["jax@1.0", "te@3.0+jax1.0"])
        with open(os.path.join(self.place("te@3.0+jax1.0"), "plumbline"), encoding="utf-8") as f:
            self.assertEqual(f.read(), "--no-deps transformer-engine==3.0\npydantic packaging\nflax jax==1.0\non jax@1.0\n")
        with open(os.path.join(self.place("te@3.0+jax1.0"), "installed"), encoding="utf-8") as f:
            self.assertNotIn("jax", f.read().replace("flax jax==1.0", ""), "it has one, and Flax takes no other")
        refused = self.run_script("--remove", "jax@1.0")
        self.assertEqual(refused.returncode, 1)
        self.assertIn("te@3.0+jax1.0 needs jax@1.0; remove what leans on it first", refused.stderr)
        self.assertIn("te@3.0+jax1.0 is whole", self.run_script("te@3.0+jax1.0").stdout)
        self.assertEqual(self.run_script("--remove", "te@3.0+jax1.0").returncode, 0)
        self.assertEqual(self.run_script("--remove", "jax@1.0").returncode, 0)
        self.assertEqual(self.listed(), [])

    def test_the_packages_of_all_below_are_seen(self):
        made = self.run_script("maxtext@1.0+flax2.0")
        self.assertEqual(made.returncode, 0, made.stderr)
        with open(os.path.join(self.place("maxtext@1.0+flax2.0"), "site", "plumbline.pth"), encoding="utf-8") as f:
            self.assertEqual([line.split("/env/")[1] for line in f], ["flax@2.0/site\n", "jax@0.10.2/site\n"])

    def test_a_missing_base_is_made_again(self):
        self.run_script("te@3.0+jax1.0")
        os.rename(self.place("jax@1.0"), self.place("gone"))
        self.assertRegex(self.run_script("te@3.0+jax1.0").stdout, r"made jax@1.0(.|\n)*te@3.0\+jax1.0 is whole")

    def adopting(self, said):
        """An interpreter that says so of the modules that it has."""
        python = os.path.join(self.home, "some python")
        with open(python, "w", encoding="utf-8") as f:
            f.write("#!/bin/bash\ncase $* in\n" + "".join(f'  *"import {m}"*) echo {v} ;;\n' for m, v in said.items()) +
                    "  *) echo \"ImportError: no ${*: -1}\" >&2; exit 1 ;;\nesac\n")
        os.chmod(python, 0o755)
        return python

    def test_adopted_is_whatever_an_interpreter_has(self):
        python = self.adopting({"jax": "1.7", "torch": "2.6.0"})
        adopted = self.run_script("--adopt", python, "jax", "torch", "flax")
        self.assertEqual(adopted.returncode, 0, adopted.stderr)
        self.assertRegex(adopted.stdout, f"{python} cannot import flax: ImportError: no .*\n.*scripts/environment flax@RELEASE makes one")
        self.assertEqual(self.listed(), ["jax@1.7", "torch@2.6.0"])
        own = os.path.join(self.place("jax@1.7"), "bin", "python")
        self.assertEqual(subprocess.run([own, "-c", "import torch"], capture_output=True, text=True).stdout, "2.6.0\n")
        self.assertEqual(self.run_script("--adopt", self.adopting({"jax": "1.7"}), "jax").returncode, 0)

    def test_nothing_that_was_made_is_adopted_over(self):
        self.run_script("jax@1.0")
        self.assertIn("jax@1.0 is whole already", self.run_script("--adopt", self.adopting({"jax": "1.0"}), "jax").stdout)
        self.assertTrue(os.path.exists(os.path.join(self.place("jax@1.0"), "installed")))

    def test_what_cannot_be_adopted(self):
        table = [({"jax": "0.7.0"}, ["jax"], "has jax 0.7.0, which is too old"), ({}, ["jax"], "cannot import jax: ImportError: no import jax"),
                 ({"jax": "no release"}, ["jax"], "has a jax whose release is no number: no release"),
                 ({"jax": "1.7"}, ["jax", "jaxx"], "no framework named 'jaxx' can be adopted (flax, jax, maxtext, te, torch can)"),
                 ({}, ["../jax"], "no framework named '../jax'"), ({}, [], "scripts/environment --adopt PYTHON jax torch")]
        for has, frameworks, words in table:
            with self.subTest(words):
                found = self.run_script("--adopt", self.adopting(has), *frameworks)
                self.assertNotEqual(found.returncode, 0)
                self.assertIn(words, found.stdout + found.stderr)
                self.assertEqual(self.listed(), [])

    def test_an_interpreter_that_is_not_there(self):
        found = self.run_script("--adopt", "jax", "torch")  # the interpreter was forgotten
        self.assertEqual(found.returncode, 1)
        self.assertIn("there is no interpreter jax: scripts/environment --adopt PYTHON jax torch", found.stderr)

    def test_what_can_go_wrong(self):
        self.run_script("jax@2.0")
        table = [
            ([], {}, 2, "scripts/environment jax@0.9.1"),
            (["jax"], {}, 1, "'jax' is not NAME@RELEASE"),
            (["jax@"], {}, 1, "'jax@' is not NAME@RELEASE"),
            (["jax@1.0/../x"], {}, 1, "is not NAME@RELEASE"),
            (["flux@1.0"], {}, 1, "no framework named 'flux' (there are: duckdb, flax, imb, jax, matplotlib, maxtext, mpich, openmpi, otava, te, torch)"),
            (["jax@1.0+flax1.0"], {}, 1, "jax leans on no other environment: jax@1.0"),
            (["te@3.0+flax1.0"], {}, 1, "te leans on jax, as in te@3.0+jax0.10.2; not on 'flax1.0'"),
            (["te@9.9+jax2.0"], {}, 1, "there is no te 9.9 for Python 3.99; the newest are 1.0 2.0"),
            (["te@3.0+jax9.9"], {}, 1, "there is no jax 9.9 for Python 3.99"),
            (["te@3.0+jax2.0"], {"NO_PYDANTIC": "1"}, 1, "pip finds no release at all of pydantic, which te 3.0 needs"),
            (["te@2.7.0"], {}, 1, "te 2.7.0 is too old: its adapter works with 2.8.0 and later"),
            (["te@3.0+jax0.7.2"], {}, 1, "jax 0.7.2 is too old: its adapter works with 0.8.0 and later"),
            (["--frobnicate"], {}, 1, "unknown option --frobnicate"),
            (["jax@1.0", "jax@2.0"], {}, 1, "one environment at a time"),
            (["--remove", "jax@1.0"], {}, 1, "there is no environment jax@1.0"),
            (["jax@9.9"], {}, 1, "there is no jax 9.9 for Python 3.99; the newest are 1.0 2.0"),
            (["jax@9.9"], {"OTHER_PYTHON": "1"}, 1, f"jax 9.9 needs Python >=4.2, and {self.python} is Python 3.99. Where there is one:\n"
             "  PLUMB_PYTHON=python4.2 scripts/environment jax@9.9\n"),
            (["jax@9x9"], {"OTHER_PYTHON": "1"}, 1, "there is no jax 9x9 for Python 3.99; the newest are 1.0 2.0"),
            (["jax@9.9"], {"VERSIONS": "none"}, 1, "pip finds no release at all of jax 9.9"),
            (["jax@1.0"], {"PLUMB_PYTHON": "no-such-python"}, 1, "no-such-python is missing"),
            (["jax@1.0"], {"NO_VENV": "1"}, 1, "apt-get install python3-venv"),
            (["jax@1.0"], {"BROKEN": "1"}, 1, "was installed but cannot be imported"),
        ]
        for arguments, env, code, words in table:
            with self.subTest(" ".join(arguments) + str(env)):
                found = self.run_script(*arguments, **env)
                self.assertEqual(found.returncode, code)
                self.assertIn(words, found.stderr + (found.stdout if code == 2 else ""))
                self.assertEqual(self.listed(), ["jax@2.0"])
                self.assertFalse([n for n in os.listdir(os.path.join(self.home, "env")) if n.startswith(".making")])


if __name__ == "__main__":
    unittest.main()
