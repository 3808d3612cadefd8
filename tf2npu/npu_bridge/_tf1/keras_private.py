"""Private attributes of Keras objects that TF 1.15 had under other names and old scripts read."""

from __future__ import annotations

import threading
from importlib import import_module
from typing import Any

from npu_bridge._tf1.journal import Journal

# class of Keras : name in TF 1.15 : name in 2.15
RENAMED = (("keras.src.engine.base_layer", "Layer", "_layers", "_self_tracked_trackables"),)
# module : class in TF 1.15 : class in 2.15
RENAMED_CLASSES = (("keras.src.engine.functional", "Network", "Functional"),)


class _Sessions(threading.local):
    """Keras' session of each thread; another one is asked anew which variables it has initialized.

    Keras notes on a variable that it is initialized, whatever session that was in. ``tf.keras`` makes a session when a loss is
    built of plain operations, the package ``keras`` did not: scripts of that package give it theirs after the model is made.
    """

    _current: Any = None

    @property
    def session(self) -> Any:
        """The session, None before there is one."""
        return self._current

    @session.setter
    def session(self, session: Any) -> None:
        if session is not None and session is not self._current:
            backend = import_module("keras.src.backend")
            for variable in backend._get_variables(session.graph):
                variable._keras_initialized = False
        self._current = session


def add(journal: Journal) -> None:
    """Offer each attribute under its old name as well."""
    journal.set(vars(import_module("keras.src.backend")), "_SESSION", _Sessions())
    for module, class_name, old, new in RENAMED:
        owner = getattr(import_module(module), class_name)
        if old not in vars(owner):
            setattr(owner, old, _alias(new))
            journal.on_undo(lambda owner=owner, old=old: delattr(owner, old))
    for module, old, new in RENAMED_CLASSES:
        names = vars(import_module(module))
        journal.set(names, old, names[new])


def _alias(name: str) -> property:
    return property(lambda self: getattr(self, name), lambda self, value: setattr(self, name, value))
