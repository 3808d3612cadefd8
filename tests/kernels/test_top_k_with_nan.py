"""The largest entries of rows that hold NaN are those that TensorFlow's own way of looking finds."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from npu_runtime.kernels.base import all_kernels
from tests.kernels.oracle import plain_session

N_ROWS = 3
LENGTHS = (2, 7, 8, 9, 16, 17, 40, 333)
"""Around the packets of Eigen and the short pieces of std::sort."""


def rows_with_nan(random: np.random.Generator, length: int, dtype: tf.DType) -> np.ndarray:
    rows = random.normal(size=(N_ROWS, length))
    rows = np.round(rows) if random.random() < 0.4 else rows  # many are equal
    rows[random.random(rows.shape) < random.choice([0.05, 0.3, 0.9])] = np.nan
    return rows.astype(dtype.as_numpy_dtype)


@pytest.mark.parametrize("is_sorted", [True, False])
@pytest.mark.parametrize("dtype", [tf.float32, tf.float16, tf.bfloat16], ids=lambda t: t.name)
def test_top_k(dtype: tf.DType, is_sorted: bool) -> None:
    random = np.random.default_rng(1)
    with tf.Graph().as_default(), plain_session() as session:
        x, k = tf.placeholder(dtype, [None, None]), tf.placeholder(tf.int32, [])
        y = tf.nn.top_k(x, k, sorted=is_sorted)
        for length in LENGTHS:
            for count in {1, 2, length // 2, length - 1, length} - {0}:
                rows = rows_with_nan(random, length, dtype)
                theirs = session.run(y, {x: rows, k: count})
                values, places = all_kernels()["TopKV2"].function(rows, np.int32(count).reshape(()), sorted=is_sorted)
                np.testing.assert_array_equal(places, theirs.indices)
                np.testing.assert_array_equal(values.astype(np.float32), theirs.values.astype(np.float32))


def test_rows_so_bad_that_the_sort_goes_too_deep() -> None:
    """NaN in every other place: the pieces of a quick sort hardly shrink."""
    row = np.arange(2000, dtype=np.float32)
    row[::2] = np.nan
    with tf.Graph().as_default(), plain_session() as session:
        theirs = session.run(tf.nn.top_k(tf.constant(row), len(row)).indices)
    np.testing.assert_array_equal(all_kernels()["TopKV2"].function(row, np.int32(len(row)).reshape(()))[1], theirs)
