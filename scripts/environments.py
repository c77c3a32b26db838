"""The Python environments that scripts/environment makes, for the scripts that need one."""
import os
import pathlib
import sys


def python_of(environment):
    """The Python of NAME@RELEASE; None where it has not been made."""
    home = os.environ.get("PLUMB_HOME") or os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "plumbline")
    python = pathlib.Path(home, "env", environment, "bin", "python")
    return python if python.exists() else None


def begin_in(environment, module):
    """Begins the script anew with the environment's Python, for this one lacks the module."""
    python = python_of(environment)
    if python and sys.executable != str(python):
        os.execv(python, [python, *sys.argv])
    sys.exit(f"{os.path.basename(sys.argv[0])}: this Python has no {module}: {pathlib.Path(__file__).with_name('environment')} {environment}")
