"""The shape of a resource variable, asked for where its handle has come through a loop, a condition or a call."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tests.runtime.device import device_session

Read = Callable[[], tf.Tensor]


def n_elements(read: Read) -> tf.Tensor:
    """By the shape that a step sees: not the one that was known when the graph was built."""
    return tf.raw_ops.Prod(input=tf.raw_ops.Shape(input=read()), axis=[0]) + tf.raw_ops.Rank(input=read())


def in_loop(read: Read) -> tf.Tensor:
    return tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s + n_elements(read)), (0, 0))[1]


def in_loop_in_loop(read: Read) -> tf.Tensor:
    return tf.while_loop(lambda i, s: i < 2, lambda i, s: (i + 1, s + in_loop(read)), (0, 0))[1]


def in_condition(read: Read) -> tf.Tensor:
    return tf.cond(tf.placeholder_with_default(True, []), lambda: n_elements(read), lambda: tf.constant(0))


def in_condition_in_loop(read: Read) -> tf.Tensor:
    body = lambda i, s: (i + 1, s + tf.cond(i > 0, lambda: n_elements(read), lambda: 0))  # noqa: E731
    return tf.while_loop(lambda i, s: i < 3, body, (0, 0))[1]


def in_call(read: Read) -> tf.Tensor:
    return tf.function(lambda: n_elements(read))()


def in_loop_in_call(read: Read) -> tf.Tensor:
    return tf.function(lambda: in_loop(read))()


@contextmanager
def control_flow_v2(is_on: bool) -> Iterator[None]:
    """Functional ops or switches and frames."""
    was_on = tf.control_flow_v2_enabled()
    (tf.enable_control_flow_v2 if is_on else tf.disable_control_flow_v2)()
    try:
        yield
    finally:
        (tf.enable_control_flow_v2 if was_on else tf.disable_control_flow_v2)()


@pytest.mark.parametrize("is_functional", [False, True])
@pytest.mark.parametrize("shape", [(2, 3), (), (1, 4)])
@pytest.mark.parametrize("place", [in_loop, in_loop_in_loop, in_condition, in_condition_in_loop, in_call, in_loop_in_call])
def test_the_shape_is_the_values(place: Callable[[Read], Any], shape: tuple[int, ...], is_functional: bool) -> None:
    with tf.Graph().as_default(), control_flow_v2(is_functional):
        v = tf.get_variable("v", initializer=np.ones(shape, np.float32), use_resource=True)
        asked = place(v.read_value)
        with tf.Session() as theirs, device_session() as ours:
            for session in (theirs, ours):
                session.run(v.initializer)
            assert ours.run(asked) == theirs.run(asked)


def test_a_ref_variable_that_was_given_another_shape_is_read_in_a_loop_as_it_is() -> None:
    """TensorFlow does not look at shapes again either; small kernels of known shapes must."""
    with tf.Graph().as_default():
        v = tf.Variable(np.ones((2, 4), np.float32), use_resource=False)
        reshaped = tf.assign(v, np.arange(12, dtype=np.float32).reshape(2, 6), validate_shape=False)

        def body(i: tf.Tensor, mean: tf.Tensor, total: tf.Tensor) -> tuple[tf.Tensor, ...]:
            read = v.read_value()
            part = tf.raw_ops.Split(axis=1, value=read, num_split=2)[1]
            return i + 1, mean + tf.reduce_mean(read, [0, 1]), total + tf.reduce_sum(part, [0, 1])

        made = tf.while_loop(lambda i, *_: i < 3, body, (0, 0.0, 0.0))[1:]
        with tf.Session() as theirs, device_session() as ours:
            for session in (theirs, ours):
                session.run(v.initializer)
                session.run(reshaped.op)
            assert ours.run(made) == theirs.run(made)
