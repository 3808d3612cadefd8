"""Finds modules by the paths that they had in TensorFlow 2.4 to 2.6."""

from __future__ import annotations

import csv
import sys
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

from npu_device._log import once
from npu_device._module_alias import ModuleAlias


@cache
def _moved() -> dict[str, tuple[str, ...]]:
    """Old path -> the modules whose names it has today, the first one first.  What stands below an old path is below the first.
    Some paths of today are here as well: `from OLD import name` asks for a name below the package that has moved.

    Source: the trees of TensorFlow and Keras 2.4, 2.6 and 2.15.
    """
    with (Path(__file__).parent / "modules.csv").open(encoding="utf-8", newline="") as file:
        return {row["old"]: tuple(row["new"].split()) for row in csv.DictReader(file)}


_STILL_THERE = ("keras", "tensorflow.python.keras")
"""Packages that 2.15 has, of which only some modules are gone."""


class OldModules:
    """A meta path finder.  It is the first, or the next one would load what is below a moved package a second time."""

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: object = None) -> ModuleSpec | None:
        """The module at an old path, with the names of the new ones; None for what is where it was."""
        places = _places(name, path)
        if not places:
            return None
        first = places[0].__name__
        once(f"{name} is gone since this script was written; here it works, today it is {first}")
        is_package = len(places) > 1 or hasattr(places[0], "__path__")
        return ModuleSpec(name, ModuleAlias(first) if len(places) == 1 else _Names(places), is_package=is_package)


def _places(name: str, path: Sequence[str] | None) -> tuple[ModuleType, ...]:
    """The modules of today for an old path; empty for a path that no release had, or whose module is gone."""
    package, _, last = name.rpartition(".")
    own = getattr(sys.modules.get(package), "__name__", package)
    paths = _moved().get(name) or (_below_moved(name) if own == package else (f"{own}.{last}",))
    if name in _STILL_THERE or not paths or (own == package and _is_found(name, path)):
        return ()
    try:
        return tuple(import_module(path) for path in paths)
    except ModuleNotFoundError:
        return ()


def _below_moved(name: str) -> tuple[str, ...]:
    """The path of today of a module in a package that stands in the table."""
    old = name.rpartition(".")[0]
    while old and old not in _moved():
        old = old.rpartition(".")[0]
    is_today = not old or name.startswith(_moved()[old][0])
    return () if is_today else (_moved()[old][0] + name[len(old) :],)


def _is_found(name: str, path: Sequence[str] | None) -> bool:
    """Whether 2.15 has a module where it was; below a package that has moved, what is found there is found by another name."""
    return PathFinder.find_spec(name, path) is not None


class _Names:
    """A loader that gives a module the names of several others."""

    def __init__(self, places: tuple[ModuleType, ...]) -> None:
        self._places = places

    def create_module(self, spec: ModuleSpec) -> None:
        """A new module is as Python makes it."""

    def exec_module(self, module: ModuleType) -> None:
        for place in reversed(self._places):
            vars(module).update({name: value for name, value in vars(place).items() if not name.startswith("__")})
        vars(module)["__getattr__"] = self._later

    def _later(self, name: str) -> Any:
        """A name that a place makes when it is asked for."""
        for place in self._places:
            if not name.startswith("__") and hasattr(place, name):
                return getattr(place, name)
        raise AttributeError(name)
