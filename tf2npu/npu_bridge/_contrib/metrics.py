"""``tf.contrib.metrics``: what TensorFlow itself carries on; the streaming metrics are ``tf_slim``'s."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from tensorflow.python.ops.sets import set_difference, set_intersection, set_size, set_union

__all__ = ["confusion_matrix", "set_difference", "set_intersection", "set_size", "set_union"]


def confusion_matrix(
    labels: Any, predictions: Any, num_classes: Any = None, dtype: Any = tf.int32, name: str | None = None, weights: Any = None
) -> tf.Tensor:
    """The confusion matrix: the number of times that each class (row) was taken for each class (column)."""
    return tf.math.confusion_matrix(labels, predictions, num_classes, dtype, name, weights)
