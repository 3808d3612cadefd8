"""If, Case and While of TensorFlow 2's kind: lowered onto the device, with TensorFlow's values and gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tests.kernels.oracle import plain_session
from tests.runtime.device import device_of, device_session
from tests.runtime.test_session import X, same_on_both


@pytest.fixture(autouse=True)
def functional_graph():
    tf.enable_control_flow_v2()
    with tf.Graph().as_default() as graph:
        yield graph
    tf.disable_control_flow_v2()


def host_nodes(fetch: Any, feeds: Any = None) -> dict[str, str]:
    with device_session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        session.run(fetch, feeds)
        return device_of(session)._state.record.programs[-1].host_nodes


def on_device(fetches: Any, feeds: list[dict[Any, Any]], op: str = "") -> list[Any]:
    """The same values as TensorFlow's for each of the feeds, with nothing on the host."""
    if op:
        assert any(operation.type in (op, f"Stateless{op}") for operation in tf.get_default_graph().get_operations())
    values = same_on_both([(fetches, feed) for feed in feeds])
    assert host_nodes(fetches, feeds[0]) == {}
    return values


def test_cond_with_gradient() -> None:
    v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=True)
    p = tf.placeholder(tf.bool, [])
    y = tf.cond(p, lambda: tf.sin(v) * v, lambda: tf.reduce_sum(v) + tf.exp(v))
    on_device([y, tf.gradients(y, v)], [{p: True}, {p: False}], "If")


def test_second_gradient_of_a_cond() -> None:
    """A branch hands its gradient an optional, and the zero gradient of one that is not needed is an optional too."""
    v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=True)
    p = tf.placeholder(tf.bool, [])
    y = tf.cond(p, lambda: tf.sigmoid(v) * v, lambda: tf.cond(v[0] > 0.0, lambda: tf.sin(v), lambda: tf.tanh(v) * v))
    first = tf.gradients(y, v)[0]
    on_device([y, first, tf.gradients(first * first, v)], [{p: True}, {p: False}], "If")


def test_nested_cond_and_the_other_branch_has_no_effect() -> None:
    v = tf.get_variable("v", initializer=1.0, use_resource=True)
    n = tf.placeholder(tf.int32, [])

    def small() -> Any:
        return tf.cond(n < 2, lambda: v.assign_add(10.0) + 0.0, lambda: tf.constant(7.0))

    y = tf.cond(n < 4, small, lambda: v.assign_sub(100.0) + 0.0)
    on_device(y, [{n: 0}, {n: 3}, {n: 5}], "If")
    same_on_both([(y, {n: 0}), (v, {}), (y, {n: 3}), (v, {}), (y, {n: 5}), (v, {})])


def test_effects_of_a_cond_happen_when_its_function_says_so() -> None:
    v = tf.get_variable("v", initializer=1.0, use_resource=True)

    def with_effect() -> Any:
        v.assign_add(5.0)
        return tf.constant(2.0)

    p = tf.placeholder_with_default(True, [])
    unsaid = tf.cond(p, with_effect, lambda: tf.constant(3.0))
    said = tf.function(lambda p: tf.cond(p, with_effect, lambda: tf.constant(3.0)))(p)
    same_on_both([(unsaid, {}), (v, {}), (unsaid.op, {}), (v, {})])
    same_on_both([(said, {}), (v, {}), (said.op, {}), (v, {}), (said, {p: False}), (v, {})])


def test_predicates_that_are_numbers_or_tensors() -> None:
    x = tf.constant([1.0, 2.0])
    branches = [tf.function(body).get_concrete_function(x) for body in (lambda x: x * 2.0, lambda x: x - 1.0)]
    for function in branches:
        function.add_to_graph()
    for kind, feeds in ((tf.int32, [0, 3, [], [0]]), (tf.float32, [0.0, 0.5, [[0.0]]])):
        n = tf.placeholder(kind, None)
        y = tf.raw_ops.If(cond=n, input=[x], Tout=[tf.float32], then_branch=branches[0], else_branch=branches[1])
        on_device(y, [{n: value} for value in feeds], "If")


def test_switch_case_with_gradient() -> None:
    v = tf.get_variable("v", initializer=[0.5, 2.0], use_resource=True)
    n = tf.placeholder(tf.int32, [])
    branches = [lambda: v * 2.0, lambda: tf.exp(v), lambda: tf.sin(v), lambda: v * v * v]
    y = tf.switch_case(n, branches)
    on_device([y, tf.gradients(y, v)], [{n: k} for k in (0, 1, 2, 3, 4, -1)], "Case")


def test_while_with_gradient() -> None:
    v = tf.get_variable("v", initializer=1.1, use_resource=True)
    n = tf.placeholder(tf.int32, [])
    _, y = tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, tf.sin(a * v) + a), [0, tf.constant([2.0, 3.0])])
    on_device([y, tf.gradients(y, v)], [{n: 0}, {n: 1}, {n: 6}], "While")


def test_nested_while_with_gradient() -> None:
    v = tf.get_variable("v", initializer=0.9, use_resource=True)
    n = tf.placeholder(tf.int32, [])

    def outer(i: Any, a: Any) -> Any:
        _, inner = tf.while_loop(lambda j, b: j < i, lambda j, b: (j + 1, b * v + 0.1), [0, a])
        return i + 1, inner + a

    _, y = tf.while_loop(lambda i, a: i < n, outer, [0, tf.constant([1.0, 2.0])])
    on_device([y, tf.gradients(y, v)], [{n: 0}, {n: 3}], "While")


def test_second_gradient_of_a_while() -> None:
    x = tf.placeholder_with_default([1.0, 2.0], [2])
    _, y = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * a * 0.5 + x), [0, x])
    first = tf.gradients(y, x)[0]
    on_device([first, tf.gradients(first, x)], [{}])


def test_cond_inside_a_while_inside_a_cond() -> None:
    v = tf.get_variable("v", initializer=1.5, use_resource=True)
    p = tf.placeholder(tf.bool, [])

    def body(i: Any, a: Any) -> Any:
        return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: a * v, lambda: tf.cond(a > 3.0, lambda: a - 1.0, lambda: a + 0.5))

    def turning() -> Any:
        return tf.while_loop(lambda i, a: i < 5, body, [0, v])[1]

    y = tf.cond(p, turning, lambda: v - 1.0)
    on_device([y, tf.gradients(y, v)], [{p: True}, {p: False}])


def test_variables_change_inside_a_while() -> None:
    v = tf.get_variable("v", initializer=[1.0, 1.0], use_resource=True)

    @tf.function
    def turning() -> Any:
        def body(i: Any, a: Any) -> Any:
            v.assign_add([2.0, 3.0])
            return i + 1, a + v

        return tf.while_loop(lambda i, a: tf.reduce_sum(v) < 20.0, body, [0, tf.zeros([2])])

    count, y = turning()
    on_device([count, y], [{}])
    same_on_both([(count, {}), (v, {}), (y.op, {}), (v, {})])


def test_shapes_that_grow() -> None:
    def body(i: Any, a: Any) -> Any:
        return i + 1, tf.concat([a, [tf.cast(i, tf.float32)]], 0)

    invariants = [tf.TensorShape([]), tf.TensorShape([None])]
    _, y = tf.while_loop(lambda i, a: i < 4, body, [0, tf.zeros([1])], shape_invariants=invariants)
    on_device([y, tf.reduce_sum(y)], [{}], "While")


def test_map_scan_and_fold() -> None:
    rows = tf.constant(X)
    w = tf.get_variable("w", initializer=tf.ones([4]), use_resource=True)
    mapped = tf.map_fn(lambda row: tf.reduce_sum(row * w), rows)
    scanned = tf.scan(lambda a, row: a * 0.5 + row * w, rows)
    folded = tf.foldl(lambda a, row: a + tf.tanh(row) * w, rows, initializer=tf.zeros([4]))
    loss = tf.reduce_sum(mapped) + tf.reduce_sum(scanned) + tf.reduce_sum(folded)
    on_device([mapped, scanned, folded, tf.gradients(loss, w)], [{}], "While")


@pytest.mark.parametrize("cell", ["lstm", "gru"])
def test_dynamic_rnn_trains(cell: str) -> None:
    kinds = {"lstm": tf.nn.rnn_cell.LSTMCell, "gru": tf.nn.rnn_cell.GRUCell}
    with tf.variable_scope("net", initializer=tf.random_uniform_initializer(-0.5, 0.5, seed=3), use_resource=True):
        outputs, _ = tf.nn.bidirectional_dynamic_rnn(
            kinds[cell](3), kinds[cell](3), tf.constant(X.reshape(2, 8, 4)), sequence_length=[8, 3], dtype=tf.float32
        )
        loss = tf.reduce_mean(tf.square(tf.concat(outputs, -1)))
        train = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
    same_on_both([([loss, train], {})] * 4)
    assert host_nodes([loss, train]) == {}


@pytest.mark.whole(beyond=2)
@pytest.mark.parametrize("layer", ["LSTM", "GRU", "SimpleRNN"])
@pytest.mark.parametrize("version", ["v1", "v2"])
def test_keras_layers(layer: str, version: str) -> None:
    module = tf.keras.layers if version == "v1" else tf.compat.v2.keras.layers
    x = tf.placeholder(tf.float32, [None, 8, 4])
    initializers = dict.fromkeys(("kernel_initializer", "recurrent_initializer"), tf.keras.initializers.Constant(0.1))
    outputs = getattr(module, layer)(3, return_sequences=True, **initializers)(x)
    loss = tf.reduce_mean(tf.square(outputs - 0.3))
    train = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
    feed = {x: X.reshape(2, 8, 4)}
    same_on_both([([loss, train], feed)] * 3)
    assert host_nodes([loss, train], feed) == {}


def test_functions_with_python_control_flow() -> None:
    v = tf.get_variable("v", initializer=0.5, use_resource=True)

    @tf.function
    def collatz(n: Any, a: Any) -> Any:
        while n > 1:
            if n % 2 == 0:
                n = n // 2
            else:
                n = 3 * n + 1
            a = a * v + 1.0
        return a

    n = tf.placeholder(tf.int32, [])
    y = collatz(n, tf.constant([1.0, 2.0]))
    on_device([y, tf.gradients(y, v)], [{n: 1}, {n: 6}])


def test_calls_wait_for_what_they_are_told_to_wait_for() -> None:
    v = tf.get_variable("v", initializer=1.0, use_resource=True)
    x = tf.placeholder_with_default(2.0, [])

    @tf.function
    def add(a: Any) -> Any:
        return v.assign_add(a) + 0.0

    before = v.read_value()
    with tf.control_dependencies([before]):
        after = add(x)
    same_on_both([([before, after], {})] * 3)


def test_outputs_of_calls_are_fed() -> None:
    @tf.function
    def double(a: Any) -> Any:
        return a * 2.0

    middle = double(tf.placeholder_with_default([1.0, 2.0], [2]))
    y = middle + 1.0
    same_on_both([(y, {}), (y, {middle: [7.0, 8.0]}), ([middle, y], {})])


def test_functions_of_tensorflow_1() -> None:
    from tensorflow.python.framework import function

    @function.Defun(tf.float32, tf.float32)
    def weighted(a: Any, b: Any) -> Any:
        return a * b + tf.sin(a)

    x = tf.placeholder_with_default([1.0, 2.0], [2])
    on_device(weighted(x, x * 2.0), [{}])


def test_host_work_in_a_branch_leaves_the_rest_on_the_device() -> None:
    p = tf.placeholder(tf.bool, [])
    x = tf.constant([1.0, 2.0])
    y = tf.cond(p, lambda: tf.py_func(lambda a: a + np.float32(7), [x], tf.float32), lambda: tf.exp(x))
    y.set_shape([2])
    z = tf.reduce_sum(y * 2.0)
    same_on_both([([y, z], {p: True}), ([y, z], {p: False})])
    assert "Sum" not in host_nodes(z, {p: True})


def test_host_work_in_a_loop_keeps_it_whole_on_the_host() -> None:
    v = tf.get_variable("v", initializer=1.5, use_resource=True)

    def body(i: Any, a: Any) -> Any:
        number = tf.py_func(lambda b: np.float32(b + 1), [tf.stop_gradient(a)], tf.float32)
        number.set_shape([])
        return i + 1, a * v + number

    _, y = tf.while_loop(lambda i, a: i < 3, body, [0, tf.constant(1.0)])
    same_on_both([(tf.exp(-y), {})])
    (reason,) = {why for name, why in host_nodes(y).items() if name == "while"}
    assert reason.startswith("its body holds") and "Python functions run on the host" in reason


def test_a_variable_of_the_host_takes_its_loop_along() -> None:
    v = tf.get_variable("v", initializer=[3.0, 4.0], use_resource=True)
    _, y = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a + v * tf.cast(i, tf.float32)), [0, tf.zeros([2])])
    gradient = tf.gradients(y, v)
    data = tf.data.Dataset.range(2).map(lambda i: v[i] * 10.0).make_initializable_iterator()
    same_on_both([(data.initializer, {}), ([y, gradient, data.get_next()], {})])


def test_an_error_inside_names_the_node() -> None:
    x = tf.placeholder(tf.int32, [None])
    _, y = tf.while_loop(
        lambda i, a: i < 3, lambda i, a: (i + 1, a + tf.gather(tf.constant([1.0]), x, name="pick")[0]), [0, tf.constant(0.0)]
    )
    with device_session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="pick"):
        session.run(y, {x: [7]})


def test_constants_of_calls_belong_to_the_loop_around() -> None:
    def body(i: Any, a: Any) -> Any:
        only_constants = tf.switch_case(i, [lambda: tf.constant([0.3, 0.9])])
        return i + 1, a + tf.identity(only_constants) * tf.function(lambda i: tf.constant(2.0))(i)

    on_device(tf.while_loop(lambda i, a: i < 3, body, [0, tf.zeros([2])]), [{}], "While")
    tf.disable_control_flow_v2()
    on_device(tf.while_loop(lambda i, a: i < 3, body, [0, tf.zeros([2])]), [{}])
    assert any(operation.type == "Enter" for operation in tf.get_default_graph().get_operations())


@pytest.mark.parametrize("inside", ["alone", "in a loop", "of a variable", "of a variable of the host", "computed"])
def test_constants_of_calls_belong_to_the_branch_around(inside: str) -> None:
    """A call in a conditional of TensorFlow 1 gives nothing when its branch is not taken, also when it computes with no input.

    Grappler is off: in a loop it lets such a call's result into branches that are not taken.
    """
    tf.disable_control_flow_v2()
    wide = tf.float64 if inside == "of a variable of the host" else tf.float32
    v = tf.get_variable("v", initializer=tf.constant([0.5, 2.0], wide), use_resource=True)
    x, p = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.bool, [])

    @tf.function
    def constant(*given: Any) -> Any:
        return tf.constant([3.0, -1.0]) * 2.0

    @tf.function
    def reading() -> Any:
        v.assign_add(tf.ones([2], wide))
        return tf.constant([3.0, -1.0])

    def called(x: Any) -> Any:
        if "variable" in inside:
            return reading()
        return constant(x * 2.0 if inside == "computed" else x, v)

    def choose(x: Any) -> Any:
        return tf.cond(p, lambda: called(x), lambda: tf.cond(x[0] > 0.2, lambda: tf.sin(x), lambda: called(x)))

    loop = lambda: tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, choose(x) * 0.1), [0, x])[1]  # noqa: E731
    y = loop() if inside == "in a loop" else choose(x)
    with tf.control_dependencies([y]):
        seen = v + tf.ones([2], wide)
    steps = [{x: fed, p: taken} for taken in (True, False) for fed in ([0.1, 0.4], [0.7, -0.3])]
    results = []
    for session in (plain_session(), device_session()):
        with session:
            session.run(v.initializer)
            results.append([session.run([y, seen], step) for step in steps])
    tf.nest.map_structure(lambda a, b: np.testing.assert_allclose(b, a, rtol=1e-6), *results)


def test_gradient_of_a_functional_conditional_in_a_loop_of_tensorflow_1() -> None:
    v = tf.get_variable("v", initializer=1.5, use_resource=True)
    chosen = tf.function(lambda i, a: tf.cond(i > 1, lambda: tf.sin(a * v), lambda: a * a))
    tf.disable_control_flow_v2()
    _, y = tf.while_loop(lambda i, a: i < 4, lambda i, a: (i + 1, chosen(i, a) + 0.1), [0, tf.constant([0.3, 0.9])])
    on_device([y, tf.gradients(y, v)], [{}])


def test_a_queue_in_a_branch_waits_for_rows_whose_number_only_the_host_tells(functional_graph: tf.Graph) -> None:
    """A handle that a branch hands on belongs to the branch, not to the host call that comes first."""
    n = tf.placeholder(tf.int32, [])
    rows = tf.py_func(lambda n: np.full((int(n), 2), n, np.float32), [n], tf.float32)
    rows.set_shape([None, 2])
    queues = [tf.PaddingFIFOQueue(9, [tf.float32], [[None, 2]]) for _ in range(2)]
    tf.disable_control_flow_v2()

    def kept() -> tf.Tensor:
        choice = [lambda queue=queue: tf.group(queue.enqueue([rows])) for queue in queues]
        with tf.control_dependencies([tf.switch_case(tf.cast(n > 3, tf.int32), choice)]):
            return tf.constant(True)

    put = tf.cond(n < 9, kept, lambda: tf.constant(False))
    sizes = [queue.size() for queue in queues]
    same_on_both([(put, {n: 2}), (put, {n: 5}), (put, {n: 9}), (put, {n: 6}), (sizes, {}), (queues[1].dequeue(), {})])
