"""Savers."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from tensorflow.python.training.saver import BulkSaverBuilder


class NPUBulkSaverBuilder(BulkSaverBuilder):
    """The builder of ``NPUSaver``."""


class NPUSaver(tf.train.Saver):
    """``tf.train.Saver``; the device's variables are read and written through it like any other."""

    def __init__(self, var_list: Any = None, reshape: bool = False, sharded: bool = False, max_to_keep: int = 5,
                 keep_checkpoint_every_n_hours: float = 10000.0, *args: Any, **kwargs: Any) -> None:  # fmt: skip
        if len(args) < 3:
            kwargs.setdefault("builder", NPUBulkSaverBuilder())
        super().__init__(var_list, reshape, sharded, max_to_keep, keep_checkpoint_every_n_hours, *args, **kwargs)
