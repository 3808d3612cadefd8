"""Functions of libraries that a script may import later: they are replaced when it does."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from importlib.abc import MetaPathFinder
from types import ModuleType
from typing import Any

Change = Callable[[ModuleType], None]


def after_import(name: str, change: Change) -> None:
    """Change a module when it is loaded, now where it is."""
    if name in sys.modules:
        change(sys.modules[name])
    else:
        sys.meta_path.insert(0, _Finder(name, change))


class _Finder(MetaPathFinder):
    """Finds the one module as Python does, and lets its loader change it."""

    def __init__(self, name: str, change: Change) -> None:
        self._name, self._change = name, change

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        """The module's specification; None for any other module."""
        if fullname != self._name:
            return None
        sys.meta_path.remove(self)
        found = importlib.util.find_spec(fullname)
        if found is not None and found.loader is not None:
            real = found.loader.exec_module

            def load(module: ModuleType) -> None:
                real(module)
                self._change(module)

            vars(found.loader)["exec_module"] = load
        return found
