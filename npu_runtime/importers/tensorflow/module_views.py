"""Modules that see another `tensorflow` than the rest of the process: of another version, or from before a change of names."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any


class ViewFinder:
    """A meta path finder that loads modules with builtins whose `import tensorflow` gives a view.

    view: what they see.  is_seeing: whether a module does, by its dotted name.
    """

    def __init__(self, view: ModuleType, is_seeing: Callable[[str], bool]) -> None:
        def import_view(name: str, *args: Any, **kwargs: Any) -> ModuleType:
            module = builtins.__import__(name, *args, **kwargs)
            return view if module is sys.modules["tensorflow"] else module

        self._is_seeing = is_seeing
        self._builtins = {**vars(builtins), "__import__": import_view}

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: object = None) -> ModuleSpec | None:
        """The module as another finder would load it, with these builtins; None for one that sees what all see."""
        spec = PathFinder.find_spec(name, path) if self._is_seeing(name) else None
        if spec is not None and spec.loader is not None:
            loader: Any = _WithBuiltins(spec.loader, self._builtins)
            spec.loader = loader
        return spec


class _WithBuiltins:
    """A loader that puts other builtins into the module before it runs it."""

    def __init__(self, loader: Any, names: dict[str, Any]) -> None:
        self._loader, self._names = loader, names

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> Any:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        vars(module)["__builtins__"] = self._names
        self._loader.exec_module(module)
