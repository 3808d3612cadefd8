"""RunOptions and RunMetadata: a run ends in time, and its steps are told with device and times."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from tensorflow.python.client import timeline

from tests.runtime.device import device_config, device_session, hooks


@pytest.fixture(autouse=True)
def fresh_graph():
    with tf.Graph().as_default():
        yield


def endless() -> Any:
    """A loop that takes minutes."""
    x = tf.placeholder_with_default(np.ones((64, 64), np.float32), [64, 64])
    return tf.while_loop(lambda i, a: i < 10**7, lambda i, a: (i + 1, tf.matmul(a, x) * 0.01), [0, x])[1]


def test_a_run_ends_in_time_and_the_session_goes_on() -> None:
    loop, v = endless(), tf.Variable(1.0)
    with device_session() as session:
        session.run(v.initializer)
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(loop, options=tf.RunOptions(timeout_in_ms=100))
        assert session.run(v) == 1.0


def test_a_run_that_waits_for_a_queue_ends_in_time() -> None:
    """The host waits there, in one step; afterwards the queue gives its elements as if nobody had asked."""
    queue = tf.FIFOQueue(2, tf.float32, [[]])
    put, taken = queue.enqueue(3.0), queue.dequeue() * 2.0
    with device_session() as session:
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(taken, options=tf.RunOptions(timeout_in_ms=200))
        session.run(put)
        assert session.run(taken, options=tf.RunOptions(timeout_in_ms=60_000)) == 6.0


def test_the_timeout_of_the_configuration_counts() -> None:
    loop = endless()
    hooks.install()
    config = device_config()
    config.operation_timeout_in_ms = 100
    with tf.Session(config=config) as session, pytest.raises(tf.errors.DeadlineExceededError):
        session.run(loop)


def test_steps_are_told_with_device_and_times() -> None:
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    y = tf.matmul(x, tf.ones([4, 3]), name="product")
    text = tf.as_string(y, name="text")
    metadata, full = tf.RunMetadata(), tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    with device_session() as session:
        session.run([y, text], {x: np.ones((2, 4))}, options=full, run_metadata=metadata)
    nodes = {stats.device[-5:]: [node.node_name for node in stats.node_stats] for stats in metadata.step_stats.dev_stats}
    assert "product" in nodes["NPU:0"]
    assert "text" in nodes["CPU:0"]
    for stats in metadata.step_stats.dev_stats:
        assert all(node.all_start_micros > 0 and node.all_end_rel_micros > 0 for node in stats.node_stats)
    assert "product" in timeline.Timeline(metadata.step_stats).generate_chrome_trace_format()


def test_without_a_trace_nothing_is_told() -> None:
    metadata = tf.RunMetadata()
    with device_session() as session:
        session.run(tf.constant(1.0) + 1.0, options=tf.RunOptions(), run_metadata=metadata)
    assert not metadata.step_stats.dev_stats
