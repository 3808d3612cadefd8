"""The first work of a process that a launcher of `tf2npu run` starts: TensorFlow gets its TF1 meaning when it is imported.

A script of a host imports TensorFlow before npu_bridge, and TensorFlow 1 is what it finds there. Processes that do without
TensorFlow stay as they are. Nothing but the standard library is imported here, as this runs in every process.
"""

import importlib
import importlib.util
import os
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

_NAMES = ("tensorflow", "tensorflow_core", "keras")
"""Packages that mean TensorFlow 1 on a host."""


class _NpuBridgeFirst(MetaPathFinder):
    """A meta path finder that imports npu_bridge when one of these is imported for the first time."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name not in _NAMES:
            return None
        sys.meta_path.remove(self)
        importlib.import_module("npu_bridge")
        if name in sys.modules:
            return ModuleSpec(name, _Ready(sys.modules[name]), is_package=True)
        return importlib.util.find_spec(name)


class _Ready(Loader):
    """Hands out a module that exists already and leaves its own spec as it was."""

    def __init__(self, module: ModuleType) -> None:
        self._module, self._spec = module, module.__spec__
        module.__spec__ = None  # else Python takes it for the spec that was found, and runs the module again

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec


def _run_the_next() -> None:
    """The sitecustomize that this one hides, if there is one."""
    here = os.path.dirname(os.path.abspath(__file__))
    spec = PathFinder.find_spec(__name__, [place for place in sys.path if os.path.abspath(place) != here])
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


sys.meta_path.insert(0, _NpuBridgeFirst())
_run_the_next()
