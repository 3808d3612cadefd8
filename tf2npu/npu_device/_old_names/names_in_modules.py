"""Names that TensorFlow 2.4 to 2.6 had in modules and classes which 2.15 still has."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from npu_device._log import once
from tensorflow.python.framework import ops

_OF_KERAS = (
    "activations", "applications", "applications.imagenet_utils", "backend", "callbacks", "constraints", "initializers", "layers",
    "losses", "metrics", "models", "optimizers", "regularizers", "utils",
)  # fmt: skip
"""Modules of Keras that held its own code up to 2.6; in 2.15 they hold what is public.  Source: Keras 2.6 and 2.15."""

Find = Callable[[str], str]
"""Gives the path of today of a name, "" for none."""


def install() -> None:
    """Put the names back."""
    _give_keras_a_version()
    for name in _OF_KERAS:
        _look_further(import_module(f"keras.{name}"), _in_module(import_module(f"keras.src.{name}")))
    for module, names in _moved().items():
        _look_further(import_module(module), lambda name, names=names: names.get(name, ""))
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


def _moved() -> dict[str, dict[str, str]]:
    """The names that a module has lost, with their paths of today, by module.  Source: TensorFlow 2.6 and 2.15."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    with (Path(__file__).parent / "names.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            module, _, name = row["old"].rpartition(".")
            found[module][name] = row["new"]
    return found


def _in_module(own: ModuleType) -> Find:
    return lambda name: f"{own.__name__}.{name}" if hasattr(own, name) else ""


def _look_further(module: ModuleType, find: Find) -> None:
    """Find names elsewhere that a module lacks; one that has a way of its own to make names keeps it."""
    if hasattr(module, "__getattr__"):
        return

    def found(name: str) -> Any:
        today = "" if name.startswith("__") else find(name)
        if not today:
            raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
        once(f"{module.__name__}.{name} is gone since this script was written; here it works, today it is {today}")
        place, _, last = today.rpartition(".")
        return getattr(import_module(place), last)

    vars(module)["__getattr__"] = found
