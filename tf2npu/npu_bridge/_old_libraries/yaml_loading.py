"""``yaml.load`` without a loader, which PyYAML took until 6.0."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from npu_bridge._log import once
from npu_bridge._tf1.journal import Journal


def add(journal: Journal, yaml: ModuleType) -> None:
    """Let ``load`` and ``load_all`` do without a loader. Source: PyYAML 5.1, whose default is FullLoader."""
    for name in ("load", "load_all"):
        journal.set(vars(yaml), name, _with_default(yaml, getattr(yaml, name)))


def _with_default(yaml: ModuleType, function: Any) -> Any:
    def load(stream: Any, Loader: Any = None) -> Any:
        if Loader is None:
            once(f"yaml.{function.__name__} without Loader is an error today: give Loader=yaml.FullLoader")
            Loader = yaml.FullLoader
        return function(stream, Loader)

    return load
