"""Changes to a module as soon as somebody imports it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

from npu_bridge._tf1.journal import Journal

Change = Callable[[Journal, ModuleType], None]


class AfterImport:
    """A meta path finder that runs a change after each of some modules is loaded."""

    def __init__(self, changes: Mapping[str, Change]) -> None:
        self._changes = changes
        self._journal: Journal | None = None

    def watch(self, journal: Journal) -> None:
        """Change the modules that are loaded, and those that will be."""
        self._journal = journal
        for name, change in self._changes.items():
            if name in sys.modules:
                change(journal, sys.modules[name])
        sys.meta_path.insert(0, self)
        journal.on_undo(lambda: sys.meta_path.remove(self))

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: object = None) -> ModuleSpec | None:
        """Find a watched module and arrange that it is changed once it has run."""
        if name not in self._changes or self._journal is None:
            return None
        spec = PathFinder.find_spec(name, path)
        if spec is None or spec.loader is None:
            return None
        spec.loader = _Changing(spec.loader, self._changes[name], self._journal)
        return spec


class _Changing:
    """A loader that changes the module behind the loader's back."""

    def __init__(self, loader: Any, change: Change, journal: Journal) -> None:
        self._loader, self._change, self._journal = loader, change, journal

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        self._change(self._journal, module)
