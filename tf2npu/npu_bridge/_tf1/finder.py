"""Finds modules that TF 1.15 had at a path where TensorFlow 2.15 has nothing."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType

from npu_bridge._tf1 import contrib, examples, keras_spellings, private_aliases, standalone_keras
from npu_bridge._tf1.journal import Journal

CORE = "tensorflow_core"  # what the package behind ``tensorflow`` was called in TF 1.15


class OldPathFinder:
    """A meta path finder for ``tensorflow.contrib``, ``.examples``, ``.python.keras``, ``keras`` and modules that moved."""

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: object = None) -> ModuleSpec | None:
        """Find a module by its TF 1.15 path."""
        if not name.startswith(("tensorflow.", CORE, "keras.")):
            return None
        module = find(name)
        return None if module is None else ModuleSpec(name, _Ready(module), is_package=hasattr(module, "__path__"))


def find(name: str) -> ModuleType | None:
    """The module that serves a TF 1.15 path, or None when TensorFlow's own files do."""
    if name == CORE or name.startswith(CORE + "."):
        return import_module("tensorflow" + name[len(CORE) :])
    if name.startswith(contrib.ROOT + "."):
        path = name[len(contrib.ROOT) + 1 :]
        module = contrib.build(path)
        if module is None:
            # Under another name than the module's, or "from package import name" would put its own words in the place of these.
            raise ModuleNotFoundError(contrib.explain(path), name=contrib.ROOT)
        return module
    if name.startswith(standalone_keras.ROOT + "."):
        return standalone_keras.find(name)
    if name == examples.ROOT or name.startswith(examples.ROOT + "."):
        return examples.build(name)
    if name.startswith(keras_spellings.OLD + "."):
        return keras_spellings.build(name[len(keras_spellings.OLD) + 1 :])
    for old, new in private_aliases.MOVED_MODULES.items():
        if name == old or name.startswith(old + "."):
            return import_module(new + name[len(old) :])
    return None


class _Ready:
    """Hands out a module that exists already and leaves its own spec as it was."""

    def __init__(self, module: ModuleType) -> None:
        self._module, self._spec = module, module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        if self._spec is not None:
            module.__spec__ = self._spec


def add(journal: Journal) -> None:
    """Install the finder and forget what it loaded when the swap is undone."""
    finder = OldPathFinder()
    before = set(sys.modules)
    sys.meta_path.insert(0, finder)

    def remove() -> None:
        sys.meta_path.remove(finder)
        for name in set(sys.modules) - before:
            is_served = isinstance(getattr(sys.modules[name].__spec__, "loader", None), _Ready)
            if is_served or name.startswith((contrib.ROOT + ".", examples.ROOT, CORE, *private_aliases.MOVED_MODULES)):
                del sys.modules[name]

    journal.on_undo(remove)
