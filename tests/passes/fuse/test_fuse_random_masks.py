"""Masks of dropouts told by the random bits: TensorFlow's masks run after run, and where the numbers are still made."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from npu_runtime.executor.program import Task
from npu_runtime.kernels.fused.random_mask import RANDOM_MASK
from tests.runtime.device import device_of, device_session

SHAPE = (201, 303)


@pytest.fixture(autouse=True)
def fresh_graph():
    with tf.Graph().as_default():
        tf.set_random_seed(7)
        yield


def _runs(session: tf.Session, fetches: list[Any], feeds: dict[Any, Any] | None) -> list[Any]:
    """The results of each of three rounds of runs."""
    return [session.run(fetch, feeds) for _ in range(3) for fetch in fetches]


def _compare(*fetches: Any, feeds: dict[Any, Any] | None = None) -> list[list[str]]:
    """The ops of the program of each fetch; all sessions give TensorFlow's bits, whichever runs follow each other."""
    with tf.Session() as session:
        theirs = _runs(session, list(fetches), feeds)
    with device_session(fusion="off") as session:
        single = _runs(session, list(fetches), feeds)
    with device_session() as session:
        fused = _runs(session, list(fetches), feeds)
        plans = list(device_of(session)._plans.values())
        programs = [runner.program for plan in plans for runner in plan.runners.values()]
    for mine, plain, expected in zip(fused, single, theirs, strict=True):
        np.testing.assert_array_equal(mine, expected)
        np.testing.assert_array_equal(plain, expected)
    return [[step.op for step in program.steps if isinstance(step, Task)] for program in programs]


def test_dropout_of_a_fixed_rate_and_of_one_that_is_fed() -> None:
    rate = tf.placeholder(tf.float32, [])
    x = tf.linspace(1.0, 2.0, SHAPE[1]) * tf.ones(SHAPE)
    dropped = tf.nn.dropout(x, rate=0.1) + tf.nn.dropout(x, rate=1.0 - rate)
    (ops,) = _compare([dropped, *tf.gradients(dropped, [x])], feeds={rate: 0.7})
    assert ops.count(RANDOM_MASK) == 2
    assert "RandomUniform" not in ops


def test_runs_that_see_the_numbers_go_on_where_the_others_stopped() -> None:
    numbers = tf.random_uniform(SHAPE, seed=3)
    kept = tf.cast(numbers >= 0.25, tf.float32) * 2.0
    masked, seen = _compare(kept, numbers)
    assert RANDOM_MASK in masked
    assert "RandomUniform" in seen


def test_numbers_that_others_read_or_wait_for_are_made() -> None:
    read, waited, compared = (tf.random_uniform(SHAPE, seed=i + 1) for i in range(3))
    masks = [numbers >= 0.5 for numbers in (read, waited, compared)]
    with tf.control_dependencies([waited]):
        after = tf.constant(1.0) * 2.0
    both = [tf.cast(mask, tf.float32) * after for mask in masks]
    (ops,) = _compare([*both, read * 1.5, masks[2]])
    assert RANDOM_MASK not in ops


def test_other_types_and_bounds_that_are_no_scalars_are_compared() -> None:
    narrow = tf.random_uniform(SHAPE, seed=1, dtype=tf.float16) >= tf.constant(0.5, tf.float16)
    rows = tf.random_uniform(SHAPE, seed=2) >= tf.linspace(0.0, 1.0, SHAPE[1])
    turned = tf.greater_equal(0.5, tf.random_uniform(SHAPE, seed=3))
    (ops,) = _compare([tf.cast(mask, tf.float32) * 2.0 for mask in (narrow, rows, turned)])
    assert RANDOM_MASK not in ops


def test_a_rate_that_the_host_tells_is_not_waited_for() -> None:
    rate = tf.numpy_function(lambda: np.float32(0.25), [], tf.float32)
    rate.set_shape([])
    mask = tf.random_uniform(SHAPE, seed=1) >= rate
    (ops,) = _compare(tf.cast(mask, tf.float32) * 2.0)
    assert RANDOM_MASK not in ops


def test_a_dropout_in_a_branch() -> None:
    is_training = tf.placeholder(tf.bool, [])
    x = tf.linspace(1.0, 2.0, SHAPE[1]) * tf.ones(SHAPE)
    made = tf.cond(is_training, lambda: tf.nn.dropout(x, rate=0.5), lambda: x) * 2.0
    for value in (True, False):
        assert all(RANDOM_MASK in ops for ops in _compare(made, feeds={is_training: value}))


def test_numbers_are_drawn_although_the_comparison_is_not_made() -> None:
    is_training = tf.placeholder(tf.bool, [])
    numbers = tf.random_uniform(SHAPE, seed=1)
    off, on = tf.raw_ops.Switch(data=0.5, pred=is_training)
    masked = tf.cast(numbers >= on, tf.float32)
    made = tf.raw_ops.Merge(inputs=[masked, tf.fill(SHAPE, off)])[0] * 2.0
    with device_session() as session, tf.Session() as other:
        for value in (True, False, False, True):
            np.testing.assert_array_equal(*(s.run(made, {is_training: value}) for s in (session, other)))
