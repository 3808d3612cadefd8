"""A record of every change made to TensorFlow's namespaces, so that all of it can be taken back."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from typing import Any

_ABSENT = object()


class Journal:
    """Applies changes to dictionaries and undoes them in reverse order."""

    def __init__(self) -> None:
        self._undo_steps: list[Callable[[], object]] = []

    def set(self, namespace: MutableMapping[str, Any], name: str, value: object) -> None:
        """Bind ``name`` in ``namespace`` and remember what it was."""
        before = namespace.get(name, _ABSENT)
        if before is value:
            return
        namespace[name] = value
        self._undo_steps.append(lambda: _restore(namespace, name, before))

    def delete(self, namespace: MutableMapping[str, Any], name: str) -> None:
        """Remove ``name`` from ``namespace`` if it is there and remember its value."""
        before = namespace.pop(name, _ABSENT)
        if before is not _ABSENT:
            self._undo_steps.append(lambda: _restore(namespace, name, before))

    def on_undo(self, step: Callable[[], object]) -> None:
        """Run ``step`` when the changes made so far are undone."""
        self._undo_steps.append(step)

    def undo(self) -> None:
        """Take back every change, last one first."""
        while self._undo_steps:
            self._undo_steps.pop()()


def _restore(namespace: MutableMapping[str, Any], name: str, before: object) -> None:
    if before is _ABSENT:
        namespace.pop(name, None)
    else:
        namespace[name] = before
