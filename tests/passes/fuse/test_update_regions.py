"""Updates of variables computed in their own memory: TensorFlow's values whatever else reads and writes them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from npu_runtime.executor.program import Task
from tests.runtime.device import device_of, device_session


@pytest.fixture(autouse=True)
def fresh_graph():
    with tf.Graph().as_default():
        yield


ROWS = 5000
"""Of a variable that is large enough for regions when a row has eight numbers."""


def _ref_variable(name: str, seed: int) -> tf.Variable:
    return tf.get_variable(name, [ROWS, 8], initializer=tf.random_normal_initializer(seed=seed), use_resource=False)


def _both(variables: list[tf.Variable], step: Any, feeds: dict[Any, Any] | None = None) -> list[np.ndarray]:
    """The variables after three steps on the device, checked against TensorFlow's."""
    results = []
    for make in (tf.Session, device_session):
        with make() as session:
            session.run(tf.global_variables_initializer())
            for _ in range(3):
                session.run(step, feeds)
            results.append(session.run(variables))
    for theirs, mine in zip(*results, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-6)
    return results[1]


def _ops_of_last_program(session: tf.Session) -> list[str]:
    plan = list(device_of(session)._plans.values())[-1]
    return [step.op for runner in plan.runners.values() for step in runner.program.steps if isinstance(step, Task)]


def test_a_sparse_update_by_adam_writes_nothing_but_its_variables() -> None:
    table, places = _ref_variable("table", 1), tf.placeholder(tf.int32, [6])
    loss = tf.reduce_sum(tf.square(tf.nn.embedding_lookup(table, places)))
    step = tf.train.AdamOptimizer(0.1).minimize(loss)
    feeds = {places: [3, 4, 3, 0, 7, ROWS - 1]}
    _both(tf.global_variables(), step, feeds)
    with device_session() as session:
        session.run(tf.global_variables_initializer())
        session.run(step, feeds)
        made = _ops_of_last_program(session)
    assert made.count("_UpdateRegion") == 3
    assert made.count("Sqrt") == 1  # of the rate's correction, a scalar
    assert made.count("Assign") == 2  # the powers of beta, scalars
    assert "AssignSub" not in made


def test_a_value_read_before_another_update_is_not_read_later() -> None:
    first, second = _ref_variable("first", 1), _ref_variable("second", 2)
    doubled = first.value() * 2.0
    with tf.control_dependencies([doubled]):
        moved = tf.assign_add(first, tf.ones([ROWS, 8]))
    with tf.control_dependencies([moved]):
        step = tf.assign(second, doubled)
    mine = _both([first, second], step.op)
    np.testing.assert_allclose(mine[1], (mine[0] - 1) * 2, rtol=1e-5, atol=1e-5)


def test_a_variable_set_to_what_another_view_of_it_shows() -> None:
    variable = _ref_variable("turned", 1)
    _both([variable], tf.assign(variable, variable.value()[::-1] * 0.5 + 1.0).op)
    _both([variable], tf.assign_sub(variable, tf.reshape(tf.transpose(variable.value()), [ROWS, 8]) * 0.5).op)


def test_a_variable_updated_from_itself_and_one_without_a_value() -> None:
    variable = _ref_variable("own", 1)
    _both([variable], tf.assign_add(variable, tf.tanh(variable.value()) * variable.value()).op)
    with device_session() as session:
        session.run(tf.assign(variable, tf.random_normal([ROWS, 8], seed=1) * 2.0 + 1.0))
        assert session.run(variable).std() > 1.9
    with device_session() as session, pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value own"):
        session.run(tf.assign_add(variable, tf.random_normal([ROWS, 8], seed=1) * 2.0))
