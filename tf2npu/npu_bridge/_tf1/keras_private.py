"""Private attributes of Keras objects that TF 1.15 had under other names and old scripts read."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from typing import Any

from npu_bridge._tf1.journal import Journal
from tensorflow.python.eager import context

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
        if session is not None and session is not self._current and not context.executing_eagerly():
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
    normalization = import_module("keras.src.layers.normalization.batch_normalization").BatchNormalizationBase
    normalization.__init_subclass__ = classmethod(_without_mask)
    journal.on_undo(lambda: delattr(normalization, "__init_subclass__"))


_MOMENTS = ("_moments", "_calculate_mean_and_var")


def _without_mask(cls: type) -> None:
    """Let a script's own moments, as TPU models have them, be called as in TF 1.15: without the mask that 2.15 hands over."""
    for name in _MOMENTS:
        own = vars(cls).get(name)
        if inspect.isfunction(own) and "mask" not in inspect.signature(own).parameters:
            setattr(cls, name, _called_as_in_tf1(own))


def _called_as_in_tf1(own: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(own)
    def moments(self: Any, inputs: Any, reduction_axes: Any, keep_dims: Any, mask: Any = None) -> Any:
        return own(self, inputs, reduction_axes, keep_dims=keep_dims)

    return moments


def _alias(name: str) -> property:
    return property(lambda self: getattr(self, name), lambda self, value: setattr(self, name, value))
