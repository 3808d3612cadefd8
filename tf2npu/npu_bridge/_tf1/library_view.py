"""Keeps the v2 ``tensorflow`` for libraries that were written against it.

``tensorflow_estimator`` and TensorBoard say ``import tensorflow as tf`` and mean v2. They get a copy of the module tree as it
was before the swap, so that they behave as they do in a process without npu_bridge.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType

from npu_bridge._tf1 import twins
from npu_bridge._tf1.journal import Journal

from npu_runtime.importers.tensorflow.module_views import ViewFinder

LIBRARIES = frozenset({
    "tensorflow_estimator", "tensorboard", "tensorflow_probability", "tensorflow_addons", "tensorflow_hub",
    "tensorflow_datasets", "tensorflow_text", "tensorflow_model_optimization", "tf2onnx", "tf_keras",
})  # fmt: skip


def make_view() -> ModuleType:
    """Copy ``tensorflow`` and the v2 modules below it; the names are shared, the dictionaries are not."""
    tensorflow = sys.modules["tensorflow"]
    import_module(twins.KERAS_V2)
    import_module(twins.ESTIMATOR_V2)
    originals = [tensorflow, tensorflow.summary, *twins.v2_modules().values()]
    copies = {id(module): _copy(module) for module in originals}
    for copy in copies.values():
        for name, value in vars(copy).items():
            if isinstance(value, ModuleType) and id(value) in copies:
                vars(copy)[name] = copies[id(value)]
    view = copies[id(tensorflow)]
    keras = copies[id(sys.modules[twins.KERAS_V2])]
    for name in ("losses", "metrics", "optimizers", "initializers"):  # lazy loaders that point into Keras
        setattr(view, name, getattr(keras, name))
    view.keras, view.estimator = keras, copies[id(sys.modules[twins.ESTIMATOR_V2])]
    return view


def _copy(module: ModuleType) -> ModuleType:
    copy = ModuleType(module.__name__)
    vars(copy).update(vars(module))
    return copy


def apply(journal: Journal, view: ModuleType) -> None:
    """Hand the view to libraries, those already imported and those that are imported later."""
    tensorflow = sys.modules["tensorflow"]
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in LIBRARIES and isinstance(module, ModuleType):
            for bound, value in list(vars(module).items()):
                if value is tensorflow:
                    journal.set(vars(module), bound, view)
    for name in ("tensorflow.compat.v2", "tensorflow._api.v2.compat.v2"):
        if name in sys.modules:
            journal.set(vars(sys.modules[name]), "keras", view.keras)
            journal.set(vars(sys.modules[name]), "estimator", view.estimator)
            journal.set(vars(sys.modules[name]), "summary", view.summary)
    finder = ViewFinder(view, lambda name: name.partition(".")[0] in LIBRARIES)
    sys.meta_path.insert(0, finder)
    journal.on_undo(lambda: sys.meta_path.remove(finder))
