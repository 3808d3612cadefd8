"""``import keras`` beside TensorFlow 1.15: the package of its own that stood for the same layers as ``tf.keras``.

Its public modules get the names of ``tf.keras``, so that a model of either joins the session that ``set_session`` was given,
and its old module paths (``keras.layers.convolutional``, ``keras.engine.topology``) lead to the same objects.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

from npu_bridge._tf1 import keras_spellings
from npu_bridge._tf1.journal import Journal
from npu_bridge._tf1.twins import KERAS_V1, names_of, public

ROOT = "keras"
# Folders of Keras 2.15 itself, whose names are not the public ones.
_OWN = frozenset({"__internal__", "api", "dtensor", "protobuf", "src"})
# Old path -> names that are public elsewhere now. Source: the modules of Keras 2.2.4 and 2.3.1.
_MOVED_NAMES = {
    "engine": "Input InputLayer InputSpec Layer Model",
    "engine.base_layer": "InputSpec Layer",
    "engine.network": "InputLayer Layer get_source_inputs",
    "engine.topology": "Input InputLayer InputSpec Layer get_source_inputs",
    "engine.training": "Model",
    "utils.generic_utils": "CustomObjectScope Progbar custom_object_scope deserialize_keras_object get_custom_objects"
    " serialize_keras_object",
}
_WHERE = ("", ".layers", ".utils")  # below tf.keras
# Second names of layers, which TensorFlow's copy never had.
_ALIASES = {"Deconvolution2D": "Conv2DTranspose", "Deconvolution3D": "Conv3DTranspose"}


def serve(journal: Journal) -> None:
    """Give the public modules of ``keras`` the names of ``tf.keras``."""
    for name, module in sorted(sys.modules.items()):
        if _is_public(name):
            twin = sys.modules.get(KERAS_V1 + name[len(ROOT) :])
            if twin is not None:
                for bound, value in public(names_of(twin)).items():
                    if not isinstance(value, ModuleType):
                        journal.set(vars(module), bound, value)
    layers = vars(import_module("keras.layers"))
    for alias, name in _ALIASES.items():
        journal.set(layers, alias, layers[name])
    backend = import_module("keras.backend")
    journal.set(vars(backend), "tensorflow_backend", backend)
    journal.set(sys.modules, "keras.backend.tensorflow_backend", backend)

    tensor = import_module("tensorflow.python.framework.tensor").Tensor
    if not hasattr(tensor, "_keras_shape"):
        tensor._keras_shape = property(_keras_shape)
        journal.on_undo(lambda: delattr(tensor, "_keras_shape"))


def _keras_shape(tensor: Any) -> tuple[int | None, ...]:
    """The static shape of a tensor that a layer made, as Keras noted it before ``int_shape``; others lack the attribute."""
    if not hasattr(tensor, "_keras_history") or tensor.shape.rank is None:
        raise AttributeError(f"{type(tensor).__name__!r} object has no attribute '_keras_shape'")
    return tuple(tensor.shape.as_list())


def _is_public(name: str) -> bool:
    top, _, rest = name.partition(".")
    return top == ROOT and rest.partition(".")[0] not in _OWN


def find(name: str) -> ModuleType | None:
    """The module behind an old path below ``keras``; None when Keras has a file of its own there."""
    if not _is_public(name):
        return None
    path = name[len(ROOT) + 1 :]
    module = keras_spellings.build(path, ROOT)
    extra = _moved_names(path)
    if module is None and extra:
        module = ModuleType(name)
        module.__path__ = []
    if module is not None:
        vars(module).update(extra)
    return module


def _moved_names(path: str) -> dict[str, Any]:
    found = {}
    for name in _MOVED_NAMES.get(path, "").split():
        places = [names_of(import_module(KERAS_V1 + where)) for where in _WHERE]
        found[name] = next(place[name] for place in places if name in place)
    return found
