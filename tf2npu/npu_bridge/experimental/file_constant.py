"""A constant whose value is in a file."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import tensorflow as tf


def file_constant(
    shape: Sequence[int], dtype: tf.DType, file_path: str | None = None, file_id: str | None = None, name: str | None = None
) -> tf.Tensor:
    """The raw numbers of a file as a tensor.  Raises: ValueError unless exactly one of file_path and file_id is given."""
    if (file_path is None) == (file_id is None):
        raise ValueError("give exactly one of file_path and file_id")
    if file_path is None:
        raise ValueError(f"file_id {file_id!r}: no file is registered under an id here; give file_path")
    values = np.fromfile(file_path, dtype=tf.as_dtype(dtype).as_numpy_dtype)
    return tf.constant(values.reshape(shape), name=name or "FileConstant")
