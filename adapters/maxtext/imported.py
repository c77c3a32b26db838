"""MaxText's own files, without the rest of MaxText.

A module that is listed in REAL is the installed file, unedited. Every other module of maxtext, and what is not
installed, is an empty stand-in: the resolvers name such modules in annotations, or in functions that are not called
here. A call of a stand-in raises, and so would be reported.
"""

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
import types

REAL = ("maxtext.utils.sharding", "maxtext.common.common_types", "maxtext.utils.maxtext_utils")
PACKAGES = ("maxtext", "maxtext.utils", "maxtext.common")


class Named(type):
    """The type of a name in a stand-in: a class, good for an annotation, that cannot be called."""

    def __getattr__(cls, name):
        return named(f"{cls.__name__}.{name}", name)

    def __call__(cls, *arguments, **keywords):
        raise RuntimeError(f"{cls.__name__} is a stand-in")


def named(path, name):
    if name.startswith("__"):
        raise AttributeError(name)
    return Named(path, (), {})


class StandIn(types.ModuleType):
    """A module that has every name."""

    def __getattr__(self, name):
        return named(f"{self.__name__}.{name}", name)


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the stand-ins of maxtext. `folder` is where the package lies."""

    def __init__(self, folder):
        self.folder, self.stood_in = folder, []

    def find_spec(self, name, path, target=None):
        if name in PACKAGES:
            spec = importlib.machinery.ModuleSpec(name, self, is_package=True)
            spec.submodule_search_locations = ["/".join([self.folder, *name.split(".")[1:]])]
            return spec
        if not name.startswith("maxtext.") or name in REAL:
            return None  # the file itself
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        if spec.name in PACKAGES:
            return types.ModuleType(spec.name)
        self.stood_in.append(spec.name)
        return StandIn(spec.name)

    def exec_module(self, module):
        pass


def folder():
    """Where the installed package lies; its __init__ is not run."""
    return importlib.util.find_spec("maxtext").submodule_search_locations[0]


def load(name, finder):
    """One module of REAL. What it asks for and is not installed is stood in for."""
    while True:
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as e:
            if not e.name or e.name.startswith("maxtext"):
                raise
            stand_in_for(e.name, finder)


def start():
    finder = Finder(folder())
    sys.meta_path.insert(0, finder)
    return finder


def stand_in_for(name, finder):
    """A package that is not installed."""
    parts = name.split(".")
    for i in range(1, len(parts) + 1):
        sys.modules.setdefault(".".join(parts[:i]), StandIn(".".join(parts[:i])))
        sys.modules[".".join(parts[:i])].__path__ = []
    finder.stood_in.append(name)
