"""Reads that nothing orders against an update come before it, as on TensorFlow, where they are ready when a run begins."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tests.runtime.device import device_session

Fetches = tuple[list[tf.Tensor], list[tf.Operation]]
"""What looks at variables, and what changes them meanwhile."""
X = np.linspace(-1, 1, 24, dtype=np.float32).reshape(4, 6)


@pytest.fixture(autouse=True)
def graph() -> Iterator[None]:
    with tf.Graph().as_default():
        tf.set_random_seed(3)
        yield


def _network(use_resource: bool) -> tuple[tf.Variable, Callable[[], tf.Tensor], tf.Operation]:
    weights = tf.get_variable("w", [6, 5], use_resource=use_resource)

    def loss() -> tf.Tensor:
        return tf.reduce_sum(tf.square(tf.tanh(tf.matmul(X, weights))))

    return weights, loss, tf.train.GradientDescentOptimizer(0.5).minimize(loss())


def second_network(use_resource: bool) -> Fetches:
    """A loss and its gradients, built on the same weights behind the optimizer."""
    weights, loss, train = _network(use_resource)
    again = loss()
    return [again, *tf.gradients(again, [weights])], [train]


def moving_average(use_resource: bool) -> Fetches:
    weights, _, train = _network(use_resource)
    average = tf.train.ExponentialMovingAverage(0.9)
    with tf.control_dependencies([average.apply([weights])]):
        return [tf.identity(average.average(weights))], [train]


def target_network(use_resource: bool) -> Fetches:
    weights, _, train = _network(use_resource)
    target = tf.get_variable("target", [6, 5], initializer=tf.zeros_initializer(), use_resource=use_resource)
    with tf.control_dependencies([target.assign(weights).op]):
        return [tf.identity(target)], [train]


@pytest.mark.parametrize("use_resource", [True, False], ids=["resource", "ref"])
@pytest.mark.parametrize("build", [second_network, moving_average, target_network])
def test_what_need_not_wait_reads_first(build: Callable[[bool], Fetches], use_resource: bool) -> None:
    """One run on the device gives what TensorFlow gives in two: first the looks, then the changes."""
    looks, changes = build(use_resource)
    seen: dict[str, list[list[np.ndarray]]] = {"TensorFlow": [], "device": []}
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            seen["TensorFlow"].append(session.run(looks))
            session.run(changes)
    with device_session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            seen["device"].append(session.run([*changes, *looks])[len(changes) :])
    for theirs, mine in zip(seen["TensorFlow"], seen["device"], strict=True):
        for expected, found in zip(theirs, mine, strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("use_resource", [True, False], ids=["resource", "ref"])
def test_two_variables_are_exchanged(use_resource: bool) -> None:
    """Each takes the other's value: both reads come before both writes."""
    one = tf.get_variable("one", initializer=[1.0, 2.0], use_resource=use_resource)
    other = tf.get_variable("other", initializer=[10.0, 20.0], use_resource=use_resource)
    swap = [one.assign(other + 0.5).op, other.assign(one + 0.25).op]
    with device_session() as session:
        session.run([one.initializer, other.initializer])
        session.run(swap)
        np.testing.assert_array_equal(session.run([one, other]), [[10.5, 20.5], [1.25, 2.25]])


@pytest.mark.parametrize("use_resource", [True, False], ids=["resource", "ref"])
def test_what_waits_reads_last(use_resource: bool) -> None:
    value = tf.get_variable("value", initializer=1.0, use_resource=use_resource)
    step = value.assign_add(1.0)
    with tf.control_dependencies([step.op if use_resource else step]):
        behind = value.read_value() * 10.0
    beside = value * 10.0
    with device_session() as session:
        session.run(value.initializer)
        assert session.run([behind, beside]) == [20.0, 10.0]


@pytest.mark.parametrize("use_resource", [True, False], ids=["resource", "ref"])
def test_writes_of_one_variable_keep_their_order(use_resource: bool) -> None:
    """The reader behind both makes the first come later; the second stays behind it."""
    value = tf.get_variable("value", initializer=1.0, use_resource=use_resource)
    writes = [value.assign(5.0).op, value.assign_add(2.0).op]
    beside = value * 10.0
    with device_session() as session:
        session.run(value.initializer)
        assert session.run([*writes, beside])[-1] == 10.0
        assert session.run(value) == 7.0


def test_a_ref_variable_that_is_read_late_is_read_late() -> None:
    """As TensorFlow does: the second update has farther to go, and finds what the first has left."""
    average = tf.get_variable("average", initializer=8.0, use_resource=False)
    x = tf.placeholder(tf.float32, [4])
    soon = tf.assign_sub(average, (average - tf.reduce_mean(x)) * 0.5)
    far = tf.tanh(tf.sin(tf.exp(tf.tanh(tf.square(x)))))
    late = tf.assign_sub(average, (average - tf.reduce_mean(far) * 0.0) * 0.5)
    with device_session() as session:
        session.run(average.initializer)
        session.run([soon.op, late.op], {x: np.ones(4)})
        assert session.run(average) == (8.0 + 1.0) / 2 / 2


def test_initializers_that_are_run_again_see_each_other() -> None:
    weights = tf.get_variable("w", [3], initializer=tf.random_normal_initializer(), use_resource=False)
    shadow = tf.Variable(weights.initialized_value(), use_resource=False)
    with device_session() as session:  # TensorFlow does mostly the same: nothing orders the two
        for _ in range(3):
            session.run(tf.global_variables_initializer())
            np.testing.assert_array_equal(*session.run([weights, shadow]))


@pytest.mark.parametrize("use_resource", [True, False], ids=["resource", "ref"])
def test_a_summary_of_a_variable_shows_what_the_step_began_with(use_resource: bool) -> None:
    """Summaries are made by the host, in a call behind the device's part of the step; one that waits for the update shows it."""
    weights, loss, train = _network(use_resource)
    early = tf.summary.merge([tf.summary.histogram("w", weights), tf.summary.scalar("loss", loss())])
    printed = tf.py_func(lambda w, value: w.sum(), [weights, loss()], tf.float32)
    with tf.control_dependencies([train]):
        late = tf.summary.histogram("after", tf.identity(weights) if use_resource else weights)
    with device_session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(2):
            before = session.run(weights)
            _, first, sums = session.run([train, early, printed])
            between = session.run(weights)
            last = session.run(late)
            after = session.run(weights)
            assert abs(before.sum() - between.sum()) > 1e-3 and abs(between.sum() - after.sum()) > 1e-3
            np.testing.assert_allclose(tf.Summary.FromString(first).value[0].histo.sum, before.sum(), rtol=1e-5)
            np.testing.assert_allclose(sums, before.sum(), rtol=1e-5)
            np.testing.assert_allclose(tf.Summary.FromString(last).value[0].histo.sum, after.sum(), rtol=1e-5)
