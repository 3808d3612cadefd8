"""Shapes of rank 0, 1 and 2, by which code written after TF 1's own ``tf.nn.dropout`` checks its arguments.

Source: tensorflow/python/framework/tensor_shape.py of TF 1.15; TensorFlow 2.15 has them no more.
"""

from __future__ import annotations

from typing import Any

from tensorflow.python.framework.tensor_shape import TensorShape

__all__ = ["matrix", "scalar", "vector"]


def scalar() -> Any:
    """The TensorShape ()."""
    return TensorShape([])


def vector(length: Any) -> Any:
    """The TensorShape (length,); length: an int, a Dimension, or None where it is open."""
    return TensorShape([length])


def matrix(rows: Any, cols: Any) -> Any:
    """The TensorShape (rows, cols); rows, cols: as `length` of vector."""
    return TensorShape([rows, cols])
