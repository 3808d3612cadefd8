"""While loops: lifted to the device, or whole on the host, with the same values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from npu_runtime.executor.program import Task
from npu_runtime.executor.steps import prepared
from npu_runtime.kernels.base import all_kernels
from tests.runtime.device import device_of, device_session
from tests.runtime.test_session import X, same_on_both


@pytest.fixture(autouse=True)
def fresh_graph():
    with tf.Graph().as_default():
        yield


def host_nodes(fetch: Any, feeds: Any = None) -> dict[str, str]:
    with device_session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        session.run(fetch, feeds)
        return device_of(session)._state.record.programs[-1].host_nodes


def test_loops_run_on_the_device_with_their_gradients() -> None:
    v = tf.Variable(1.1)
    _, y = tf.while_loop(lambda i, a: i < 4, lambda i, a: (i + 1, tf.sin(a * v) + a), [0, tf.constant([2.0, 3.0])])
    gradient = tf.gradients(y, v)
    same_on_both([([y, gradient], {})] * 2)
    assert host_nodes([y, gradient]) == {}


def test_nested_loops_with_gradients() -> None:
    v = tf.Variable(0.9)

    def outer(i: Any, a: Any) -> Any:
        _, inner = tf.while_loop(lambda j, b: j < i + 1, lambda j, b: (j + 1, b * v + 0.1), [0, a])
        return i + 1, inner + a

    _, y = tf.while_loop(lambda i, a: i < 3, outer, [0, tf.constant([1.0, 2.0])])
    same_on_both([([y, tf.gradients(y, v)], {})])


def test_branches_inside_a_loop() -> None:
    v = tf.Variable(1.5)

    def body(i: Any, a: Any) -> Any:
        return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: a * v, lambda: tf.cond(a > 3.0, lambda: a - 1.0, lambda: a + 0.5))

    _, y = tf.while_loop(lambda i, a: i < 5, body, [0, tf.constant(1.0)])
    same_on_both([([y, tf.gradients(y, v)], {})])


def test_a_loop_inside_a_branch() -> None:
    p = tf.placeholder(tf.bool, [])
    v = tf.Variable(2.0)

    def turning() -> Any:
        return tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * v), [0, v])[1]

    y = tf.cond(p, turning, lambda: v - 1.0)
    same_on_both([([y, tf.gradients(y, v)], {p: True}), ([y, tf.gradients(y, v)], {p: False})])


def test_a_loop_that_never_turns() -> None:
    n = tf.placeholder(tf.int32, [])
    _, y = tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a * 2.0), [0, tf.constant([1.0, 2.0])])
    same_on_both([(y, {n: 0}), (y, {n: 3})])


def test_variables_change_inside_a_loop() -> None:
    for use_resource in (False, True):
        v = tf.get_variable(f"v{use_resource}", initializer=1.0, use_resource=use_resource)

        def body(i: Any, v: Any = v) -> Any:
            with tf.control_dependencies([tf.assign_add(v, 2.0)]):
                return i + 1

        end = tf.while_loop(lambda i: i < 4, body, [0], parallel_iterations=1)
        same_on_both([(end, {}), (v, {})])


def test_host_work_inside_takes_the_loop_to_the_host() -> None:
    v = tf.Variable(1.5)

    def body(i: Any, a: Any) -> Any:
        number = tf.py_func(lambda b: np.float32(b + 1), [tf.stop_gradient(a)], tf.float32)
        number.set_shape([])
        return i + 1, a * v + number

    _, y = tf.while_loop(lambda i, a: i < 3, body, [0, tf.constant(1.0)])
    same_on_both([(tf.exp(y), {})])
    assert "Python functions run on the host" in " ".join(host_nodes(y).values())


def test_map_scan_and_fold() -> None:
    rows = tf.constant(X)
    w = tf.Variable(tf.ones([4]))
    mapped = tf.map_fn(lambda row: tf.reduce_sum(row * w), rows)
    scanned = tf.scan(lambda a, row: a * 0.5 + row * w, rows)
    folded = tf.foldl(lambda a, row: a + tf.tanh(row) * w, rows, initializer=tf.zeros([4]))
    loss = tf.reduce_sum(mapped) + tf.reduce_sum(scanned) + tf.reduce_sum(folded)
    same_on_both([([mapped, scanned, folded, tf.gradients(loss, w)], {})])


def test_tensor_array_by_hand() -> None:
    array = tf.TensorArray(tf.float32, 3, clear_after_read=False, element_shape=[2])
    array = array.write(0, [1.0, 2.0]).write(2, [5.0, 6.0])
    split = tf.TensorArray(tf.float32, 2, infer_shape=False, clear_after_read=False)
    split = split.split(tf.constant([[1.0], [2.0], [3.0]]), [1, 2])
    gathered = tf.TensorArray(tf.float32, 4).unstack(tf.constant([1.0, 2.0, 3.0, 4.0])).gather([3, 0])
    same_on_both([([array.stack(), array.read(1), array.size(), split.concat(), split.read(1), gathered], {})])


@pytest.mark.whole(beyond=1)
@pytest.mark.parametrize("cell", ["lstm", "gru", "basic"])
def test_recurrent_networks(cell: str) -> None:
    kinds = {"lstm": tf.nn.rnn_cell.LSTMCell, "gru": tf.nn.rnn_cell.GRUCell, "basic": tf.nn.rnn_cell.BasicRNNCell}
    with tf.variable_scope("net", initializer=tf.random_uniform_initializer(-0.5, 0.5, seed=3)):
        outputs, _ = tf.nn.bidirectional_dynamic_rnn(
            kinds[cell](3), kinds[cell](3), tf.constant(X.reshape(2, 8, 4)), sequence_length=[8, 3], dtype=tf.float32
        )
        loss = tf.reduce_mean(tf.square(tf.concat(outputs, -1)))
        train = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
    same_on_both([([loss, train], {})] * 4)


def test_an_error_inside_a_loop_names_the_node() -> None:
    x = tf.placeholder(tf.int32, [None])
    _, y = tf.while_loop(
        lambda i, a: i < 3, lambda i, a: (i + 1, a + tf.gather(tf.constant([1.0]), x, name="pick")[0]), [0, tf.constant(0.0)]
    )
    with device_session() as session, pytest.raises(tf.errors.InvalidArgumentError) as caught:
        session.run(y, {x: [7]})
    assert caught.value.op.name.endswith("pick")


def test_too_little_memory_inside_a_loop_names_the_node() -> None:
    n = tf.placeholder(tf.int32, [None])
    _, y = tf.while_loop(
        lambda i, a: i < 3, lambda i, a: (i + 1, a + tf.reduce_sum(tf.fill(n, 1.0, name="all"))), [0, tf.constant(0.0)]
    )
    with device_session() as session, pytest.raises(tf.errors.ResourceExhaustedError) as caught:  # TensorFlow's too, after 30 s
        session.run(y, {n: [1 << 16] * 3})
    assert caught.value.op.name.endswith("all")


def test_identities_in_a_loop_hand_on_what_the_iteration_began_with() -> None:
    def body(i: Any, a: Any, b: Any, c: Any) -> Any:
        before = tf.identity(tf.identity(a))
        with tf.control_dependencies([before, tf.sin(b)]):
            kept = tf.identity(b)
        return tf.identity(i) + 1, kept, before + tf.identity(c), tf.identity(c)

    start = tf.constant(0.5)
    *_, a, b, c = tf.while_loop(lambda i, *_: tf.identity(i) < 5, body, [0, tf.constant([1.0, 2.0]), tf.ones([2]), start])
    same_on_both([([a, b, c], {}), (tf.gradients(a * b, [start]), {})])


def test_gated_gradients_leave_a_loop_by_an_identity() -> None:
    start = tf.Variable([1.0, 2.0])
    w = tf.Variable(0.5)
    _, y = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, tf.tanh(a * w) + 1.0), [0, start * 2.0])
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    train = optimizer.minimize(tf.reduce_sum(y), gate_gradients=optimizer.GATE_OP)
    same_on_both([(train, {}), ([start, w], {})] * 2)
    assert host_nodes(train) == {}


def test_gradient_of_a_scan_inside_a_loop() -> None:
    x = tf.placeholder_with_default(tf.ones([3, 4]), [3, 4])

    def body(i: Any, a: Any) -> Any:
        return i + 1, a + tf.scan(lambda b, c: b + tf.sin(c), x * tf.cast(i + 1, tf.float32))

    _, y = tf.while_loop(lambda i, a: i < 2, body, (tf.constant(0), x))
    gradient = tf.gradients(y, x)
    same_on_both([([y, gradient], {})])
    assert host_nodes([y, gradient]) == {}


def test_what_waits_for_a_folded_value_waits_for_what_that_waited_for() -> None:
    v = tf.get_variable("v", initializer=1.0, use_resource=True)

    def body(i: Any) -> Any:
        with tf.control_dependencies([v.assign_add(2.0)]):
            return i + 1

    end = tf.while_loop(lambda i: i < 4, body, [0], parallel_iterations=1)
    with tf.control_dependencies([end]):
        folded = tf.constant(3.0) * 2.0
    with tf.control_dependencies([folded]):
        after = v.read_value()
    same_on_both([([after, folded], {})] * 2)


@pytest.mark.parametrize("use_resource", [False, True])
def test_a_gradient_may_wait_for_updates_behind_its_loop(use_resource: bool) -> None:
    """`with tf.control_dependencies(update_ops)` around minimize, where the batch norm comes behind the recurrent network."""
    x = tf.placeholder_with_default(tf.sin(tf.reshape(tf.range(60.0), [4, 5, 3])), [None, 5, 3])
    with tf.variable_scope("net", use_resource=use_resource, initializer=tf.constant_initializer(0.3)):
        _, state = tf.nn.dynamic_rnn(tf.nn.rnn_cell.BasicRNNCell(2), x, dtype=tf.float32)
        h = tf.layers.batch_normalization(tf.concat([state, tf.square(state) + x[:, 0, :2]], 1), training=True)
        loss = tf.reduce_mean(tf.square(tf.tanh(h) - tf.range(4.0)))
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    same_on_both([([loss, train], {}), (tf.global_variables(), {})] * 2)
    assert host_nodes([loss, train]) == {}


@pytest.mark.parametrize("use_resource", [False, True])
def test_gradients_of_two_loops_wait_for_updates_behind_both(use_resource: bool) -> None:
    """The counter of each waits for what comes behind the other, which comes behind that one's counter: a circle of loops."""
    x = tf.placeholder_with_default(tf.sin(tf.reshape(tf.range(60.0), [4, 5, 3])), [None, 5, 3])
    with tf.variable_scope("net", use_resource=use_resource, initializer=tf.constant_initializer(0.3)):
        cells = [tf.nn.rnn_cell.BasicRNNCell(2) for _ in range(2)]
        outputs, _ = tf.nn.bidirectional_dynamic_rnn(*cells, x, dtype=tf.float32)
        normal = [tf.layers.batch_normalization(y[:, 0] + tf.square(y[:, -1]) * x[:, 1, :2], training=True) for y in outputs]
        loss = tf.reduce_mean(tf.square(tf.tanh(tf.concat(normal, 1)) - tf.range(4.0)))
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    same_on_both([([loss, train], {}), (tf.global_variables(), {})] * 2)
    assert host_nodes([loss, train]) == {}


def test_a_gradient_that_waits_for_the_result_of_its_loop_does_not_wait() -> None:
    """TensorFlow cannot run such a graph ("inputs from different frames"); the gradient does not depend on the order."""
    v = tf.get_variable("v", initializer=0.4, use_resource=True)
    _, y = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, tf.sin(a * v)), [0, tf.constant(1.0)])
    plain = tf.gradients(y, v)[0]
    with tf.control_dependencies([y]):
        waiting = tf.gradients(y, v)[0]
    with tf.Session() as session:
        session.run(v.initializer)
        expected = session.run(plain)
    with device_session() as session:
        session.run(v.initializer)
        np.testing.assert_allclose(session.run(waiting), expected, rtol=1e-6)


LARGE_START = np.linspace(-1, 1, 40_000, dtype=np.float32).reshape(200, 200)
"""Large enough for sums to stay where they are."""


def test_sums_in_a_loop_leave_alone_what_it_was_given() -> None:
    fed, v = tf.placeholder(tf.float32, [200, 200]), tf.get_variable("v", initializer=LARGE_START, use_resource=True)
    ref = tf.get_variable("ref", initializer=LARGE_START, use_resource=False)
    start = [0, fed, v.read_value(), tf.identity(ref), tf.sin(fed)]

    def body(i: Any, *values: Any) -> Any:
        return (i + 1, *[value + tf.cos(value * 0.5) for value in values[:2]], *[fed - value for value in values[2:]])

    ends = tf.while_loop(lambda i, *rest: i < 4, body, start)
    feeds = LARGE_START.copy()
    same_on_both([([*ends, *start[1:], v, ref], {fed: feeds})] * 2)
    np.testing.assert_array_equal(feeds, LARGE_START)


def test_sums_in_a_loop_that_are_read_again() -> None:
    """By the next turn under another name, by a tensor array, by the gradient and by the test."""
    v = tf.get_variable("v", initializer=LARGE_START + 2, use_resource=True)
    kept = tf.TensorArray(tf.float32, size=5, clear_after_read=False)

    def body(i: Any, a: Any, b: Any, total: Any, kept: Any) -> Any:
        both = a + b
        more = total + both * v
        return i + 1, b, both, more, kept.write(i, more)

    start = [0, v * 0.3, tf.square(v) * 0.2, tf.zeros_like(v), kept]
    end = tf.while_loop(lambda i, a, b, total, kept: (i < 5) & (tf.reduce_max(total) < 1e6), body, start)
    y = tf.reduce_sum(end[3] * end[1]) + tf.reduce_sum(end[4].stack())
    same_on_both([([*end[:4], end[4].stack(), tf.gradients(y, v)], {})] * 2)


@pytest.mark.parametrize("position", [0, 1])
def test_a_result_takes_the_memory_of_what_only_its_slot_has(position: int) -> None:
    task = Task("sum", "AddV2", all_kernels()["AddV2"].function, (0, 1), (2,), spent=(position,))
    run = prepared(task.function, task)
    slots: list[Any] = [LARGE_START + 1, LARGE_START + 2, None]
    address = slots[position].ctypes.data
    run(slots)
    assert slots[2].ctypes.data == address
    for other in (LARGE_START + 3, LARGE_START + 4):
        slots[:2] = [other[:], other[:]]
        run(slots)
        assert not np.shares_memory(slots[2], other)
    owned = LARGE_START + 5
    slots[:2] = [owned, owned]
    run(slots)
    np.testing.assert_array_equal(owned, LARGE_START + 5)


def test_what_a_loop_compares_is_not_written_over_what_it_compares() -> None:
    """A region of two large inputs, one of which nobody else reads, whose result has another type."""
    v = tf.get_variable("v", initializer=LARGE_START, use_resource=True)

    def body(i: Any, a: Any, t: Any, above: Any) -> Any:
        return i + 1, a + 0.1, tf.sin(a), tf.square(t) > a

    start = [0, v + 0.0, tf.cos(v), tf.zeros([200, 200], tf.bool)]
    ends = tf.while_loop(lambda i, *rest: i < 4, body, start)
    same_on_both([(ends, {})] * 2)
