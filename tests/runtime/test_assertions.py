"""Assertions run on the device, their messages (text) included, and fail as TensorFlow's do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tests.runtime.device import device_of, device_session


@pytest.fixture(autouse=True)
def fresh_graph():
    with tf.Graph().as_default():
        yield


def guarded() -> tuple[Any, Any]:
    x = tf.placeholder(tf.float32, [None], name="x")
    with tf.control_dependencies([tf.assert_less(x, 2.0, message="too large"), tf.assert_rank(x, 1)]):
        return x, tf.reduce_sum(x * 2.0)


def failure(session: tf.Session, y: Any, feeds: Any) -> str:
    with session, pytest.raises(tf.errors.InvalidArgumentError) as caught:
        session.run(y, feeds)
    assert caught.value.op.type == "Assert"
    return next(line for line in str(caught.value).splitlines() if "assertion failed" in line).split(" node ")[-1]


def test_assertions_are_on_the_device() -> None:
    x, y = guarded()
    with device_session() as session:
        assert session.run(y, {x: [1.0, 1.5]}) == 5.0
        program = device_of(session)._state.record.programs[-1]
    assert program.host_nodes == {}
    assert any("Assert" in name for name in program.device_nodes)


def test_the_message_is_tensorflow_s() -> None:
    x, y = guarded()
    feeds = {x: np.array([1.0, 2.0, 2.5, 0.1], np.float32)}
    mine, theirs = failure(device_session(), y, feeds), failure(tf.Session(), y, feeds)
    assert theirs.startswith("assertion failed: [too large]")
    assert theirs in mine


def test_text_made_on_the_host_is_shown() -> None:
    x = tf.placeholder(tf.float32, [])
    message = tf.string_join(["value ", tf.as_string(tf.cast(x, tf.int32))])
    with tf.control_dependencies([tf.Assert(x > 0, [message, x])]):
        y = x + 1.0
    mine, theirs = failure(device_session(), y, {x: -3.0}), failure(tf.Session(), y, {x: -3.0})
    assert "[value -3] [-3]" in theirs
    assert theirs in mine
    with device_session() as session:
        assert session.run(y, {x: 3.0}) == 4.0
