"""Weights that a script restores and that are missing: its variables take their initial values, as made-up ones."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from npu_bridge._smoke.imports import after_import
from npu_bridge._smoke.made_files import MadeFiles
from tensorflow.python.training import checkpoint_management, checkpoint_utils, saver


def install(files: MadeFiles) -> None:
    """Let variables be initialized where their values would come from a file that is not there."""
    _install_saver(files)
    _install_first_values(files)
    for module in ("keras.src.engine.training", "keras.src.engine.training_v1"):
        after_import(module, lambda loaded: _install_keras(loaded, files))


def _install_saver(files: MadeFiles) -> None:
    restored, saved = saver.Saver.restore, saver.Saver.save

    def restore(self: Any, sess: Any, save_path: Any) -> Any:
        place = _place(files, save_path)
        if place is None or checkpoint_management.checkpoint_exists(place):
            return restored(self, sess, place)
        found = list(_variables(self._var_list if self._var_list is not None else _all(sess.graph)))
        sess.run([variable.initializer for variable in found if getattr(variable, "initializer", None) is not None])
        files.made[files.places.shown(place)] = f"the initial values of {len(found)} variables, for weights"
        return None

    def save(self: Any, sess: Any, save_path: Any, *arguments: Any, **named: Any) -> Any:
        text = isinstance(save_path, str | bytes | os.PathLike)
        return saved(self, sess, files.places.written(os.fsdecode(save_path)) if text else save_path, *arguments, **named)

    saver.Saver.restore, saver.Saver.save = restore, save


def _place(files: MadeFiles, path: Any) -> str | None:
    return files.places.read(os.fsdecode(path)) if isinstance(path, str | bytes | os.PathLike) else None


def _all(graph: Any) -> Any:
    from tensorflow.python.framework import ops

    return graph.get_collection(ops.GraphKeys.GLOBAL_VARIABLES)


def _variables(given: Any) -> Iterable[Any]:
    """The variables of a saver's list, or of its dictionary, the parts of a partitioned one each for itself."""
    for one in given.values() if isinstance(given, dict) else given:
        yield from one if isinstance(one, list | tuple) else [one]


def _install_first_values(files: MadeFiles) -> None:
    """tf.train.init_from_checkpoint."""
    real = checkpoint_utils._init_from_checkpoint

    def first_values(ckpt_dir_or_file: Any, assignment_map: Any) -> Any:
        place = _place(files, ckpt_dir_or_file)
        if place is None or os.path.isdir(place) or checkpoint_management.checkpoint_exists(place):
            return real(place or ckpt_dir_or_file, assignment_map)
        files.made[files.places.shown(place)] = "the initial values of variables, for weights"
        return None

    checkpoint_utils._init_from_checkpoint = first_values


def _install_keras(module: Any, files: MadeFiles) -> None:
    real = module.Model.load_weights

    def load_weights(self: Any, filepath: Any, *arguments: Any, **named: Any) -> Any:
        place = _place(files, filepath)
        if place is None or os.path.lexists(place) or checkpoint_management.checkpoint_exists(place):
            return real(self, place or filepath, *arguments, **named)
        files.made[files.places.shown(place)] = "the initial values of a Keras model, for weights"
        return None

    module.Model.load_weights = load_weights
