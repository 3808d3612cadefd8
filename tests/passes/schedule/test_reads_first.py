"""Reads that nothing orders against an update come before it, as on TensorFlow, where they are ready when a run begins."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tests.runtime.device import device_session

Fetches = tuple[list[tf.Tensor], list[tf.Operation]]
"""Tensors that show variables, and operations that change them meanwhile."""
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
            # weights of order one, each of whose updates is rounded by 1e-7; what was read too late is off by 1e-2
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


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


@pytest.mark.parametrize("use_resource", [True, False], ids=["resource", "ref"])
def test_one_call_of_the_host_looks_before_and_behind_an_update(use_resource: bool) -> None:
    value = tf.get_variable("value", initializer=[1.0, 2.0], use_resource=use_resource)
    update = value.assign_add([10.0, 10.0])
    early = tf.summary.histogram("early", value)
    with tf.control_dependencies([update.op]):
        late = tf.summary.histogram("late", value.read_value() if use_resource else value)
    merged = tf.summary.merge([early, late])
    with device_session() as session:
        session.run(value.initializer)
        for n in range(2):
            sums = [one.histo.sum for one in tf.Summary.FromString(session.run(merged)).value]
            assert sums == [3.0 + 20.0 * n, 23.0 + 20.0 * n]


@pytest.fixture(params=[False, True], ids=["switch", "functional"])
def is_functional(request: pytest.FixtureRequest) -> Iterator[bool]:
    (tf.enable_control_flow_v2 if request.param else tf.disable_control_flow_v2)()
    yield request.param
    tf.disable_control_flow_v2()


@pytest.mark.parametrize("use_resource", [True, False], ids=["resource", "ref"])
def test_beside_conditionals_and_in_them(use_resource: bool, is_functional: bool) -> None:
    """Plain reads, reads in branches and reads for the host; TF 1.15 has all of them ahead of the update in most runs."""
    flag = tf.placeholder(tf.bool, [])
    weights = tf.get_variable("w", [6, 5], use_resource=use_resource or is_functional)

    def loss() -> tf.Tensor:
        product = tf.cond(flag, lambda: tf.matmul(X, weights) * 0.5, lambda: tf.sin(tf.matmul(X, weights)))
        return tf.reduce_sum(tf.square(tf.tanh(product)))

    train = tf.train.GradientDescentOptimizer(0.5).minimize(loss())
    in_branches = tf.cond(flag, lambda: tf.reduce_sum(weights * 2.0), lambda: tf.reduce_sum(weights))
    told = tf.py_func(lambda w: w.sum(), [weights], tf.float32)
    told_in_a_branch = tf.cond(flag, lambda: tf.py_func(lambda w: w.sum(), [weights], tf.float32), lambda: tf.constant(7.0))
    with tf.control_dependencies([train]):
        behind = tf.reduce_sum(weights.read_value())
    looks = [tf.reduce_sum(weights * 1.0), loss(), in_branches, told, told_in_a_branch]
    with tf.Session() as plain, device_session() as session:
        for one in (plain, session):
            one.run(weights.initializer)
        plain.run(weights.assign(session.run(weights)))
        for n in range(4):
            feed = {flag: n % 2 == 0}
            expected = [*plain.run(looks, feed), plain.run(behind, feed)]
            np.testing.assert_allclose(session.run([*looks, behind, train], feed)[:-1], expected, rtol=1e-4, atol=1e-5)


def test_an_update_behind_a_merge_comes_first_where_the_read_is_later_than_its_shorter_branch(is_functional: bool) -> None:
    flag, x = tf.placeholder(tf.bool, []), tf.placeholder(tf.float32, [2, 2])
    value = tf.get_variable("value", [2, 2], initializer=tf.zeros_initializer(), use_resource=True)

    def far(y: tf.Tensor, n: int) -> tf.Tensor:
        return far(tf.matmul(y, x), n - 1) if n else y

    other = tf.get_variable("other", [2, 2], initializer=tf.zeros_initializer(), use_resource=True)
    update = value.assign(tf.cond(flag, lambda: x + 1.0, lambda: far(x, 9))).op
    with tf.control_dependencies([other.assign(far(x, 5)).op]):
        late = value.read_value() * 1.0
    with device_session() as session:
        session.run([value.initializer, other.initializer])
        np.testing.assert_array_equal(session.run([update, late], {flag: True, x: np.eye(2)})[1], np.eye(2) + 1.0)
