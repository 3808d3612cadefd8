"""A module under a second name."""

from __future__ import annotations

from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType


class ModuleAlias:
    """A loader that hands out a module which has its own name and spec already, and leaves both.  name: its own."""

    def __init__(self, name: str) -> None:
        self._name = name

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The module itself, so that what one name changes the other sees."""
        self._module = import_module(self._name)
        self._spec = self._module.__spec__
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        """It has run; the import system has given it the spec of the second name."""
        module.__spec__ = self._spec
