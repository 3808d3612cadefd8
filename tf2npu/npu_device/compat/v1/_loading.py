"""Loads npu_bridge so that `tensorflow` keeps its meaning: npu_bridge's own modules alone see the names of TensorFlow 1.

Under its own name npu_bridge is for scripts of TensorFlow 1.15, so that importing it changes what `tensorflow` means. A script
that says npu_device runs on TensorFlow 2 and writes `tf.compat.v1` where it means that: `tf.image.resize` is not its namesake.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from npu_runtime.importers.tensorflow.module_views import ViewFinder

_NAMES = "npu_bridge._tf1"
"""The part of npu_bridge that changes what `tensorflow` means."""
_kept: list[Any] = []
"""The changes of behaviour that `use_version_1` has made; empty while TensorFlow 2's is on."""


def load() -> None:
    """Import npu_bridge; a process that has done so under its own name is left as it is."""
    if "npu_bridge" in sys.modules:
        return
    found = find_spec("npu_bridge")
    assert found is not None and found.origin is not None  # it comes in the same distribution
    sys.modules[_NAMES] = _without_changes(Path(found.origin).with_name("_tf1"))
    view = import_module("tensorflow.compat.v1")
    sys.meta_path.insert(0, ViewFinder(view, lambda name: name.startswith("npu_bridge.")))
    import_module("npu_bridge")


def use_version_1() -> None:
    """Switch eager execution and the rest of TensorFlow 2's behaviour off; a second call does nothing."""
    load()
    if not _kept:
        behavior, journal = (import_module(f"{_NAMES}.{name}") for name in ("behavior", "journal"))
        _kept.append(journal.Journal())
        behavior.use_v1(_kept[0])


def _without_changes(folder: Path) -> ModuleType:
    """A package in the place of the one that changes names, which changes none, and has its modules."""
    package = ModuleType(_NAMES)
    package.__path__ = [str(folder)]
    vars(package).update(install=lambda: None, uninstall=lambda: None, is_installed=lambda: False)
    return package
