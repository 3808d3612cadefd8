"""``tf.contrib``, as far as well-kept packages carry it on: slim, layers and framework come from ``tf_slim``."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

from npu_bridge._tf1.journal import Journal
from npu_bridge._tf1.twins import names_of, public

ROOT = "tensorflow.contrib"
# contrib module -> modules whose public names it offers, later ones win.
SOURCES = {
    "slim": ("tf_slim.ops.framework_ops", "tf_slim"),
    "layers": ("tf_slim.layers.sparse_ops", "tf_slim.layers.utils", "tf_slim.layers"),
    "framework": ("tf_slim.ops.framework_ops", "tf_slim.ops.variables", "tf_slim.ops.arg_scope"),
}
# Names that live in TensorFlow itself: contrib name -> path below `tf`.
FROM_TENSORFLOW = {
    "layers": {"summaries": "summary"},
    "framework": {
        "nest": "nest",
        "get_global_step": "train.get_global_step",
        "get_or_create_global_step": "train.get_or_create_global_step",
        "init_from_checkpoint": "train.init_from_checkpoint",
        "list_variables": "train.list_variables",
        "load_variable": "train.load_variable",
        "load_checkpoint": "train.load_checkpoint",
        "is_tensor": "is_tensor",
        "sort": "sort",
        "argsort": "argsort",
    },
}
# Paths below a contrib module -> where they are.
SUBMODULES = {
    "slim.nets": "tf_slim.nets",
    "slim.python.slim.nets": "tf_slim.nets",
    "slim.python.slim.learning": "tf_slim.learning",
    "layers.python.layers.utils": "tf_slim.layers.utils",
    "layers.python.layers.layers": "tf_slim.layers.layers",
    "layers.python.layers.initializers": "tf_slim.layers.initializers",
    "layers.python.layers.regularizers": "tf_slim.layers.regularizers",
    "framework.python.ops.arg_scope": "tf_slim.ops.arg_scope",
    "framework.python.ops.variables": "tf_slim.ops.variables",
    "framework.python.ops": "tf_slim.ops.variables",
}
# What to write instead of the contrib modules that are not here.
INSTEAD = {
    "data": "tf.data and tf.data.experimental",
    "rnn": "tf.nn.rnn_cell",
    "tpu": "tf.estimator.tpu and tf.tpu",
    "image": "tf.image",
    "estimator": "tf.estimator",
    "losses": "tf.losses",
    "metrics": "tf.metrics",
    "summary": "tf.summary",
    "keras": "tf.keras",
    "distribute": "tf.distribute",
    "cluster_resolver": "tf.distribute.cluster_resolver",
    "saved_model": "tf.saved_model",
    "lookup": "tf.lookup",
    "feature_column": "tf.feature_column",
    "learn": "tf.estimator",
    "mixed_precision": "npu_bridge's NPULossScaleOptimizer and its loss scale managers",
}


class ContribModule(ModuleType):
    """A module that says, for a name it lacks, which name of TensorFlow to use."""

    def __init__(self, path: str) -> None:
        super().__init__(f"{ROOT}.{path}".rstrip("."))
        self.__path__: list[str] = []
        self.__package__ = self.__name__

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if self.__name__ == ROOT and name in SOURCES:
            return import_module(f"{ROOT}.{name}")
        raise AttributeError(explain(f"{self.__name__[len(ROOT) + 1 :]}.{name}".lstrip(".")))


def explain(path: str) -> str:
    """Say that ``tf.contrib.<path>`` is not there, and what is."""
    instead = INSTEAD.get(path.partition(".")[0])
    hint = f"use {instead}" if instead else "TensorFlow 2 dropped it; bring its code into your project"
    return f"tf.contrib.{path} is not available under npu_bridge on TensorFlow 2.15: {hint}"


def build(path: str) -> ModuleType | None:
    """Make ``tensorflow.contrib.<path>``; None when it is not one of those that are offered."""
    if path in SUBMODULES:
        return import_module(SUBMODULES[path])
    if path and path not in SOURCES and not any(known.startswith(path + ".") for known in SUBMODULES):
        return None
    module = ContribModule(path)
    for source in SOURCES.get(path, ()):
        vars(module).update(public(names_of(import_module(source))))
    for name, place in FROM_TENSORFLOW.get(path, {}).items():
        value: Any = sys.modules["tensorflow"]
        for part in place.split("."):
            value = getattr(value, part)
        vars(module)[name] = value
    return module


def offer(journal: Journal) -> None:
    """Bind ``tf.contrib``; its parts are loaded when somebody asks for them."""
    contrib = build("")
    journal.set(sys.modules, ROOT, contrib)
    journal.set(vars(sys.modules["tensorflow"]), "contrib", contrib)
