"""Ref variables of the host, which runs one call after another: updates are made once, nothing is read too soon."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from tensorflow.core.framework import attr_value_pb2
from tensorflow.python.ops import array_ops

from tests.runtime.device import device_session
from tests.runtime.test_session import same_on_both

X = np.float32([0.5, 1.0])


@pytest.fixture(autouse=True)
def fresh_graph():
    with tf.Graph().as_default():
        yield


def wide() -> Any:
    """A variable that the device has no type for."""
    return tf.Variable(tf.constant([1.0, 2.0], tf.float64), use_resource=False)


def fed() -> Any:
    return tf.placeholder_with_default(X, [2])


def far(x: Any) -> Any:
    for _ in range(6):
        x = tf.tanh(x)
    return x


def summed(v: Any) -> Any:
    """A loop that reads the variable, three times, and cannot run on the device."""
    add = lambda i, s: (i + 1, s + tf.cast(tf.cast(v, tf.float64) * 2.0, tf.float32))  # noqa: E731
    return tf.while_loop(lambda i, s: i < 3, add, [0, tf.zeros([2])])[1]


def loop_behind(amount: Callable[[], Any]) -> Any:
    v = tf.Variable([1.0, 2.0], use_resource=False)
    with tf.control_dependencies([tf.assign_sub(v, amount())]):
        return summed(v)


def loops_and_updates() -> Any:
    v = tf.Variable([1.0, 2.0], use_resource=False)
    first = tf.assign(v, tf.exp(fed()))
    with tf.control_dependencies([first]):
        between = summed(v)
    with tf.control_dependencies([tf.assign_sub(first, between)]):
        return [between, summed(v)]


def chain() -> Any:
    v, step = wide(), tf.cast(tf.tanh(fed()), tf.float64)
    first = tf.assign_add(v, step)
    with tf.control_dependencies([tf.assign_sub(first, step * 2.0)]):
        last = tf.scatter_add(tf.assign_add(first, tf.cast(tf.exp(fed()), tf.float64)), [0], [step[1]])
    return tf.identity(last) + tf.cast(tf.sin(fed()), tf.float64)


def branch(is_taken: bool) -> Any:
    v, step = wide(), tf.cast(tf.tanh(fed()), tf.float64)
    first = tf.assign_add(v, step)
    taken = tf.placeholder_with_default(is_taken, [])
    return tf.cond(taken, lambda: tf.assign_sub(first, step * 3.0), lambda: tf.identity(first))


def loop_updates(by: Callable[[Any], Any], read: Callable[[Any], Any]) -> Any:
    """A loop that updates a variable and looks at it through what was read of it before the loop."""
    v = tf.Variable([1.0, 2.0], use_resource=False)
    first = tf.assign(v, tf.exp(fed()))
    outside = read(v)

    def body(i: Any, s: Any) -> Any:
        with tf.control_dependencies([tf.assign_add(v, by(s))]):
            return i + 1, s + tf.cast(tf.cast(tf.identity(outside), tf.float64) * 0.5, tf.float32)

    with tf.control_dependencies([first]):
        total = tf.while_loop(lambda i, s: i < 3, body, [0, tf.tanh(fed())], parallel_iterations=1)[1]
    with tf.control_dependencies([total]):
        return [total, tf.assign_add(first, total) * 2.0, tf.tanh(fed())]


def scalar(start: Any) -> Any:
    return tf.Variable(tf.constant(start), use_resource=False)


def seen_before_and_behind() -> Any:
    """The first read is the variable's memory, and shows the update to whoever looks behind it."""
    v = scalar(np.float64(1))
    early, seen = tf.tanh(tf.cast(v * 2.0, tf.float32)), tf.identity(v)
    with tf.control_dependencies([early]):
        update = tf.assign_add(v, 1.0)
    with tf.control_dependencies([update]):
        return [early, v * 3.0, seen * 5.0, tf.py_func(lambda a: a + 0.5, [seen], tf.float64)]


def text_seen_behind() -> Any:
    v = scalar("a")
    early = tf.strings.join([v, "1"])
    with tf.control_dependencies([early]):
        update = tf.assign(v, "b")
    with tf.control_dependencies([update]):
        return [early, tf.strings.join([v, "2"])]


def seen_in_a_branch(is_taken: bool) -> Any:
    v = scalar(np.float64(1))

    def updated() -> Any:
        with tf.control_dependencies([tf.assign_add(v, tf.cast(tf.tanh(fed()[0]), tf.float64)).op]):
            return v * 3.0

    return tf.cond(tf.placeholder_with_default(is_taken, []), updated, lambda: tf.identity(v) * 5.0)


def kept() -> Any:
    """A variable of a type that the device has, which the script wants on the host."""
    with tf.get_default_graph()._attr_scope({"_variable_placement": attr_value_pb2.AttrValue(s=b"host")}):
        return scalar(np.float32(1))


def kept_and_read_in_a_branch() -> Any:
    v = kept()
    return tf.cond(far(fed())[0] < 3.0, lambda: v.read_value() * 3.0, lambda: v.read_value() * 5.0)


def kept_and_updated_in_a_branch() -> Any:
    v = kept()

    def updated() -> Any:
        with tf.control_dependencies([tf.assign_add(v, tf.tanh(fed()[0])).op]):
            return tf.identity(v) * 3.0

    return tf.cond(far(fed())[0] < 3.0, updated, lambda: tf.identity(v) * 5.0)


def kept_and_read_behind() -> Any:
    v = kept()
    early = v.read_value() * 2.0
    with tf.control_dependencies([early]):
        update = tf.assign_add(v, tf.tanh(fed()[0]))
    with tf.control_dependencies([update]):
        return [early, tf.identity(v) * 3.0]


def seen_behind_python() -> Any:
    """The shape of what Python gives is unknown: the variable is read in the calls that tell it, and updated behind them."""
    v = scalar(np.float64(1))
    told = tf.py_func(lambda a: a + a, [v.read_value()], tf.float64)
    with tf.control_dependencies([told]):
        first = tf.assign_add(v, 1.0)
    return [told, tf.assign_add(first, tf.cast(tf.tanh(tf.reduce_sum(fed())), tf.float64)) * 2.0]


def fetched_as_it_is_at_the_end() -> Any:
    v = scalar(np.float64(1))
    seen = v.read_value()
    with tf.control_dependencies([tf.cast(seen * 2.0, tf.float32)]):
        return [seen, tf.assign_add(v, tf.cast(tf.tanh(fed()[0]), tf.float64)).op]


def read_and_updated_in_turn() -> Any:
    """Each update is of what was read behind the one before."""
    v = wide()
    with tf.control_dependencies([tf.assign_add(v, tf.cast(tf.tanh(fed()), tf.float64))]):
        seen, squared = v.read_value(), tf.square(v._ref())
    with tf.control_dependencies([squared]):
        last = tf.assign_add(v, seen)
    with tf.control_dependencies([last]):
        return [squared * 2.0, v.read_value(), tf.cast(v._ref(), tf.float32) * 3.0]


CASES: dict[str, Callable[[], Any]] = {
    "a loop behind an update by the device": lambda: loop_behind(lambda: tf.tanh(fed())),
    "a loop behind an update by a constant": lambda: loop_behind(lambda: [0.5, 1.0]),
    "loops between updates": loops_and_updates,
    "updates of what updates return": chain,
    "a loop that updates what was read outside": lambda: loop_updates(lambda s: tf.ones([2]), lambda v: v),
    "a loop that updates by what was read outside": lambda: loop_updates(lambda s: s, lambda v: v),
    "a loop that updates what the device reads too": lambda: loop_updates(tf.tanh, lambda v: v.read_value()),
    "reads and updates in turn": read_and_updated_in_turn,
    "one read before and behind an update": seen_before_and_behind,
    "text read before and behind an update": text_seen_behind,
    "a read behind an update in a branch that is taken": lambda: seen_in_a_branch(True),
    "a read behind an update in a branch that is not": lambda: seen_in_a_branch(False),
    "updates behind Python": seen_behind_python,
    "a variable kept on the host, read in a branch": kept_and_read_in_a_branch,
    "a variable kept on the host, updated in a branch": kept_and_updated_in_a_branch,
    "a variable kept on the host, read before and behind an update": kept_and_read_behind,
    "a read that is fetched": fetched_as_it_is_at_the_end,
    "an update's result in a branch that is taken": lambda: branch(True),
    "an update's result in a branch that is not": lambda: branch(False),
}


@pytest.mark.parametrize("name", CASES)
def test_updates_are_made_once(name: str) -> None:
    fetches = CASES[name]()
    (v,) = tf.global_variables()
    same_on_both([(fetches, {}), (v, {})] * 2)


def test_what_has_no_value_yet_is_not_read() -> None:
    """A moving average starts as the variable's initial value, which another call of the host gives it in the same step."""
    v = wide()
    average = tf.train.ExponentialMovingAverage(0.9)
    copy = tf.Variable(v.initialized_value(), use_resource=False)
    with tf.control_dependencies([tf.assign_add(v, [1.0, 1.0])]):
        update = average.apply([v])
    with tf.control_dependencies([update]):
        seen = tf.identity(average.average(v))
    same_on_both([([seen, copy], {})] * 2)


@pytest.mark.parametrize("use_resource", [True, False], ids=["resource", "ref"])
@pytest.mark.parametrize("place", ["host", "device"])
def test_what_need_not_wait_reads_first(place: str, use_resource: bool) -> None:
    """A rate is of the count that the step began with: one run gives what TensorFlow gives in two, first the read."""
    count = tf.get_variable("count", [], tf.float64, tf.zeros_initializer(), use_resource=use_resource)
    counted = tf.assign_add(count, tf.ones([], tf.float64)).op
    rate = tf.cast(count * 0.5, tf.float32) + 0.25
    looks = [rate * fed(), tf.as_string(rate)] if place == "device" else [count.read_value() * 2.0]
    mine, theirs = [], []
    with device_session() as device, tf.Session() as plain:
        for session in (device, plain):
            session.run(tf.global_variables_initializer())
        for _ in range(3):
            mine.append(device.run([looks, counted])[0])
            theirs.append(plain.run(looks))
            plain.run(counted)
    for got, expected in zip(mine, theirs, strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(got, expected, strict=True))


def as_written() -> tf.Session:
    """TensorFlow without Grappler, some of whose simplifications of a branch wait for a control output that is dead."""
    config = tf.ConfigProto()
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    return tf.Session(config=config)


def in_a_branch(v: Any, x: Any) -> Any:
    return tf.cond(far(x[0]) < 3.0, lambda: tf.stack([v, v]), lambda: tf.stack([v, v, v]))


def told_in_a_branch(v: Any, x: Any) -> Any:
    return tf.cond(far(x[0]) < 3.0, lambda: tf.py_func(lambda a: a + a, [v], v.dtype.base_dtype), lambda: tf.identity(v))


def behind_the_device(v: Any, x: Any) -> Any:
    with tf.control_dependencies([far(x)]):
        return v.read_value() + v.read_value()


@pytest.mark.parametrize("use_resource", [True, False], ids=["resource", "ref"])
@pytest.mark.parametrize("build", [in_a_branch, told_in_a_branch, behind_the_device])
@pytest.mark.parametrize(
    "start", [np.float64(1), np.float64([1, 2]), np.complex64(1j), "a"], ids=["scalar", "vector", "complex", "text"]
)
def test_a_read_that_was_made_before_an_update_comes_first(start: Any, build: Callable[..., Any], use_resource: bool) -> None:
    """Though the read waits for the device and the update for nothing; in most runs TensorFlow does the same."""
    x = tf.placeholder(tf.float32, [2])
    v = tf.get_variable("v", initializer=start, use_resource=use_resource)
    look = build(v, x)
    update = tf.assign(v, v.read_value() + tf.constant(start)).op
    mine, theirs = [], []
    with device_session() as device, as_written() as plain:
        for session in (device, plain):
            session.run(v.initializer)
        for _ in range(3):
            mine.append(device.run([look, update], {x: X})[0])
            theirs.append(plain.run(look, {x: X}))
            plain.run(update)
    for got, expected in zip(mine, theirs, strict=True):
        np.testing.assert_array_equal(got, expected)


def test_nobody_is_dead_because_a_read_before_him_is() -> None:
    """The update comes behind a read in a branch that is not taken; and is made."""
    v, x = wide(), tf.placeholder(tf.float32, [2])
    look = tf.cond(far(x[0]) < 0.0, lambda: v * 2.0, lambda: tf.zeros([2], tf.float64))
    update = tf.assign_add(v, [1.0, 1.0]).op
    same_on_both([([look, update], {x: X}), (v, {}), (tf.group(look, update), {x: -X}), (v, {})])


def test_writes_keep_the_order_in_which_they_were_made() -> None:
    """As those on the device do; TensorFlow leaves it open."""
    v, x = wide(), tf.placeholder(tf.float32, [2])
    writes = [tf.assign(v, tf.cast(far(x), tf.float64)).op, tf.assign(v, [5.0, 6.0]).op, tf.assign_add(v, [1.0, 1.0]).op]
    with device_session() as session:
        session.run(v.initializer)
        session.run(writes, {x: X})
        np.testing.assert_array_equal(session.run(v), [6.0, 7.0])


def test_a_constant_of_the_host_that_waits_for_a_placeholder() -> None:
    x = tf.placeholder(tf.float32, [2])
    v = wide()
    with tf.control_dependencies([x]):
        doubled = v.read_value() * 2.0
    same_on_both([(doubled, {x: X}), (doubled, {x: X})])


def test_a_variable_that_is_fetched_is_shown_as_it_is_at_the_end() -> None:
    """From YOLOv3's training: a count of float64 that chooses the rate, behind which the update and its count come."""
    count = tf.Variable(1.0, dtype=tf.float64, use_resource=False)
    rate = tf.cond(count < 3.0, lambda: count * 0.5, lambda: tf.cos(count))
    weights = tf.Variable(X, use_resource=False)
    train = tf.train.AdamOptimizer(rate).minimize(tf.reduce_sum(tf.square(weights)))
    with tf.control_dependencies([train, tf.assign_add(count, 1.0)]):
        step = tf.no_op()
    same_on_both([([step, count], {})] * 3)


def test_an_update_does_not_wait_for_a_read_in_a_branch_that_is_not_taken() -> None:
    v = wide()
    other, taken = tf.raw_ops.Switch(data=tf.zeros([2], tf.float64), pred=tf.placeholder_with_default(False, []))
    with tf.control_dependencies([tf.identity(taken)]):
        inside = v._ref() * 2.0
    amount = fed()
    for _ in range(6):
        amount = tf.tanh(amount)
    update = tf.assign_add(v, tf.cast(amount, tf.float64))
    read = tf.raw_ops.Merge(inputs=[inside, other]).output
    same_on_both([([read, tf.group(update)], {}), (v, {})] * 2)


@pytest.mark.parametrize("dtype", [tf.float64, tf.float32, tf.complex64])
def test_what_was_read_before_a_variable_grows_is_what_it_was(dtype: Any) -> None:
    """As in tf_slim's streaming_concat: behind an assignment of another shape the old elements are copied back."""
    array = tf.Variable(tf.zeros([0], dtype), validate_shape=False, use_resource=False)
    size = tf.Variable(0, use_resource=False)
    batch = tf.placeholder(dtype, [None])
    new_size = size + tf.shape(batch)[0]

    def grow() -> Any:
        old = array.value()
        with tf.control_dependencies([old]):
            emptied = tf.assign(array, tf.zeros([2 * new_size], dtype), validate_shape=False)
        with tf.control_dependencies([emptied]):
            copied = array[:size].assign(old[:size])
        with tf.control_dependencies([copied]):
            return tf.no_op()

    grown = tf.cond(new_size > array_ops.shape_internal(array, optimize=False)[0], grow, tf.no_op)
    with tf.control_dependencies([grown]):
        appended = array[size:new_size].assign(batch)
    with tf.control_dependencies([appended]):
        update = tf.group(size.assign(new_size))
    same_on_both([step for i in range(4) for step in ((update, {batch: np.arange(i, i + 3)}), (array[:size], {}))])
