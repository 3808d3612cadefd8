"""Names that TensorFlow 2.4 to 2.6 had in modules and classes which 2.15 still has."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

from npu_device._log import once
from tensorflow.python.framework import ops

_OF_KERAS = (
    "activations", "backend", "callbacks", "constraints", "initializers", "layers", "losses", "metrics", "models", "optimizers",
    "regularizers", "utils",
)  # fmt: skip
"""Modules of Keras that held its own code up to 2.6; in 2.15 they are packages of what is public.  Source: Keras 2.6 and 2.15."""


def install() -> None:
    """Put the names back."""
    _give_keras_a_version()
    for name in _OF_KERAS:
        _look_also_in(import_module(f"keras.{name}"), import_module(f"keras.src.{name}"))
    if not hasattr(ops.Graph, "_last_id"):
        ops.Graph._last_id = property(ops.Graph.num_operations)  # the vendor's copies of get_seed make an operation's seed of it


def _give_keras_a_version() -> None:
    """`tf.keras.__version__`: that of Keras, which it was from 2.6 on.

    `tf.keras` is one module as an attribute, and another one from `import tensorflow.keras` on, which runs its file again.
    """
    import keras

    for name in ("keras.api._v2.keras", "tensorflow.keras"):
        public = import_module(name)
        if not hasattr(public, "__version__"):
            vars(public)["__version__"] = keras.__version__


def _look_also_in(public: ModuleType, own: ModuleType) -> None:
    """Find names of a module in another one where it lacks them."""
    if not hasattr(public, "__getattr__"):
        vars(public)["__getattr__"] = _finder(public.__name__, own)


def _finder(public: str, own: ModuleType) -> Callable[[str], Any]:
    def found(name: str) -> Any:
        if name.startswith("__") or not hasattr(own, name):
            raise AttributeError(f"module {public!r} has no attribute {name!r}")
        once(f"{public}.{name} is gone since this script was written; here it works, today it is {own.__name__}.{name}")
        return getattr(own, name)

    return found
