"""Conversions there and back, in graphs that TensorFlow built."""

from __future__ import annotations

import tensorflow.compat.v1 as tf

from npu_runtime.observers.prediction.round_trips import round_trips
from tests.lowering.lowered import lowered


def test_a_conversion_of_what_is_computed_again_reads_nothing_and_is_no_round_trip():
    """A column times a row is never stored, so the task that turns it into blocks has no stored input."""
    with tf.Graph().as_default():
        column, row = tf.placeholder(tf.float32, [64, 1]), tf.placeholder(tf.float32, [1, 64])
        weights = tf.get_variable("weights", [64, 64])
        tasks = lowered([tf.matmul(column * row, weights)], mode="must_keep_origin_dtype")
        assert any(task.head.op_type == "TransData" and not task.read for task in tasks)
        assert round_trips(tasks) == set()
