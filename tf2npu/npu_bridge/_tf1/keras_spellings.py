"""One Keras for all spellings: ``tf.keras``, ``tensorflow.python.keras``, ``tf.layers``, ``tensorflow.python.layers``.

TensorFlow 1.15 had one Keras. 2.15 carries an old copy of it in ``tensorflow.python.keras`` beside the package ``keras`` that
serves ``tf.keras``; a session given to the copy's ``set_session`` never reaches a model of the other. Classes and functions of
the copy are therefore replaced, wherever TensorFlow's modules hold them, by those of ``keras``.
"""

from __future__ import annotations

import sys
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from types import FunctionType, ModuleType
from typing import Any

from npu_bridge._tf1.journal import Journal
from npu_bridge._tf1.twins import KERAS_V1, names_of, public

OLD = "tensorflow.python.keras"
# Where a part of the old tree lives in Keras 2.15, longest prefix first.
MOVED = (
    ("engine.network", "engine.functional"),
    ("layers.legacy_rnn.rnn_cell_impl", "layers.rnn.legacy_cells"),
    ("layers.recurrent", "layers.rnn"),
    ("layers.merge", "layers.merging"),
    ("layers.convolutional_recurrent", "layers.rnn"),
    ("layers.wrappers", "layers.rnn"),
    ("layers.embeddings", "layers.core.embedding"),
    ("layers.advanced_activations", "layers.activation"),
    ("layers.normalization", "layers.normalization"),
    ("layers.noise", "layers.regularization"),
    ("layers.local", "layers.locally_connected"),
    ("optimizer_v2.learning_rate_schedule", "optimizers.schedules.learning_rate_schedule"),
    ("optimizer_v2", "optimizers.legacy"),
    ("optimizer_v1", "optimizers.legacy.optimizer_v1"),
    ("saving.hdf5_format", "saving.legacy.hdf5_format"),
    ("saving.model_config", "saving.legacy.model_config"),
    ("saving.save", "saving.legacy.save"),
    ("saving.saved_model", "saving.legacy.saved_model"),
    ("saving.saving_utils", "saving.legacy.saving_utils"),
)
# Modules of TensorFlow that re-export the old copy and are loaded only when somebody asks for them.
RE_EXPORTS = ("base", "convolutional", "core", "layers", "pooling")


def _load(name: str) -> ModuleType | None:
    if name in sys.modules:
        return sys.modules[name]
    try:
        return import_module(name) if find_spec(name) else None
    except ImportError:
        return None


def counterparts(path: str) -> list[dict[str, Any]]:
    """The namespaces where names of ``tensorflow.python.keras.<path>`` are now: the public API first, then Keras' own modules."""
    moved = path
    for old, new in MOVED:
        if path == old or path.startswith(old + "."):
            moved = new + path[len(old) :]
            break
    found = [_load(f"{KERAS_V1}.{path}".rstrip(".")), _load(f"keras.src.{moved}".rstrip("."))]
    if moved.endswith("legacy_cells"):
        found.append(_load("keras.src.layers.rnn.legacy_cell_wrappers"))  # Keras keeps wrappers of cells in a file of their own
    if path.startswith("layers.") and not path.startswith("layers.legacy_rnn"):
        found.insert(1, _load(f"{KERAS_V1}.layers"))
    return [names_of(module) for module in found if module is not None]


def _belongs_to_old(value: object) -> bool:
    return isinstance(value, type | FunctionType) and str(value.__module__).startswith(OLD + ".")


def unify(journal: Journal) -> None:
    """Replace the old copy's classes and functions in every module of TensorFlow that holds them."""
    for name in RE_EXPORTS:
        import_module(f"tensorflow.python.layers.{name}")
    replaced: dict[int, object] = {}
    old_names = [name for name in sorted(sys.modules) if name == OLD or name.startswith(OLD + ".")]
    for name in old_names:
        _unify_module(journal, sys.modules[name], name[len(OLD) + 1 :], replaced)
    for name, module in sorted(sys.modules.items()):
        if name.startswith("tensorflow.") and isinstance(module, ModuleType):
            for bound, value in list(vars(module).items()):
                if id(value) in replaced:
                    journal.set(vars(module), bound, replaced[id(value)])
            if name not in old_names:
                _rebase(journal, module, replaced)
    normalization = import_module("keras.src.legacy_tf_layers.normalization")
    for alias, source in (("BatchNorm", "BatchNormalization"), ("batch_norm", "batch_normalization")):
        target = vars(import_module("tensorflow.python.layers.normalization"))
        journal.set(target, alias, getattr(normalization, source))
        journal.set(target, source, getattr(normalization, source))


def _rebase(journal: Journal, module: ModuleType, replaced: dict[int, object]) -> None:
    """Let the layers that TensorFlow itself defines (those of feature columns) descend from the Keras that serves all else."""
    for value in list(vars(module).values()):
        if isinstance(value, type) and value.__module__ == module.__name__:
            before = value.__bases__
            after = tuple(replaced.get(id(base), base) for base in before)
            if after != before:
                value.__bases__ = after
                journal.on_undo(partial(setattr, value, "__bases__", before))


def _unify_module(journal: Journal, module: ModuleType, path: str, replaced: dict[int, object]) -> None:
    sources = counterparts(path)
    for name, value in list(vars(module).items()):
        if _belongs_to_old(value):
            new = next((source[name] for source in sources if name in source), None)
            if new is not None:
                replaced[id(value)] = new
                journal.on_undo(lambda keep=value: keep)  # the id stays taken as long as the entry exists
                journal.set(vars(module), name, new)
    api = sources[0] if sources else {}
    for name, value in public(api).items():
        if not isinstance(value, ModuleType) and name not in vars(module):
            journal.set(vars(module), name, value)


def build(path: str, root: str = OLD) -> ModuleType | None:
    """A module for a path below ``tensorflow.python.keras``, or ``root``, that TF 1.15 had and 2.15 has not."""
    sources = counterparts(path)
    if not sources:
        return None
    module = ModuleType(f"{root}.{path}")
    for source in reversed(sources):
        vars(module).update(public(source))
    vars(module)["__path__"] = []
    return module
