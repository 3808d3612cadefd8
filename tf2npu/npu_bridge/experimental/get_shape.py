"""The joined shapes of several tensors."""

from __future__ import annotations

from collections.abc import Sequence

import tensorflow as tf


def getshape(x: Sequence[tf.Tensor], name: str | None = None) -> tf.Tensor:
    """Shapes of all tensors, one after the other: int32 [sum of the ranks]."""
    with tf.name_scope(name, "GetShape"):
        return tf.concat([tf.shape(value) for value in x], axis=0)
