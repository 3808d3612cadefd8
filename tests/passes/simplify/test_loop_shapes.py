"""Shapes in loops that a run's feeds tell: fewer nodes an iteration, TensorFlow's values and gradients."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from npu_runtime.executor.program import Task
from npu_runtime.graph.ir import Graph, Node, Value
from npu_runtime.graph.ops import CONSTANT, LOOP_INPUT, WHILE, Loop
from npu_runtime.graph.spec import Spec
from npu_runtime.passes.simplify.fold_constants import fold_constants
from tests.runtime.device import device_of, device_session

ANY = tf.TensorShape(None)


def ops_in_loops(session: tf.Session) -> Counter[str]:
    """Steps of all loops of the last request, inner ones included, by op."""
    found: Counter[str] = Counter()
    runners = [runner for plan in list(device_of(session)._plans.values())[-1:] for runner in plan.runners.values()]
    programs = [runner.program for runner in runners]
    while programs:
        loops = programs.pop().loops
        programs += [loop.program for loop in loops]
        found.update(step.op for loop in loops for step in loop.program.steps if isinstance(step, Task))
    return found


def compare(fetches: Any, feeds: list[dict[Any, Any]], **tolerance: float) -> Counter[str]:
    """Each feed on TensorFlow and on the device.  Returns: the steps of the loops.  Raises: AssertionError."""
    with tf.Session() as plain, device_session() as session:
        for one in (plain, session):
            one.run(tf.global_variables_initializer())
        for feed in feeds:
            for theirs, mine in zip(plain.run(fetches, feed), session.run(fetches, feed), strict=True):
                assert mine.shape == theirs.shape
                np.testing.assert_allclose(mine, theirs, **{"rtol": 2e-5, "atol": 1e-6, **tolerance})
        assert device_of(session)._state.record.programs[-1].host_nodes == {}
        return ops_in_loops(session)


@pytest.mark.parametrize("cell", [tf.nn.rnn_cell.LSTMCell, tf.nn.rnn_cell.GRUCell])
def test_the_gradient_of_a_recurrent_net_does_not_compute_shapes(cell: Callable[..., Any]) -> None:
    """Of one that stays a loop: no known cell has a sine."""
    with tf.Graph().as_default():
        tf.set_random_seed(7)
        x, lengths = tf.placeholder(tf.float32, [None, None, 5]), tf.placeholder(tf.int32, [None])
        _, last = tf.nn.dynamic_rnn(cell(6, activation=tf.sin), x, lengths, dtype=tf.float32)
        loss = tf.reduce_sum(tf.square(tf.nest.flatten(last)[-1]))
        random = np.random.default_rng(1)
        fetches = [loss, *tf.gradients(loss, [x, *tf.trainable_variables()])]
        ops = compare(fetches, [{x: random.normal(size=(4, n, 5)), lengths: [n, 1, 2, n]} for n in (3, 7)])
    assert ops["MatMul"] + ops["_FusedMatMul"] >= 3
    assert not {"Shape", "ShapeN", "ConcatOffset", "BroadcastGradientArgs", "Sum", "ZerosLike"} & ops.keys(), ops


def test_a_variable_whose_extent_changes_stays_open() -> None:
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, 2])

        def body(i: Any, grown: Any, same: Any) -> Any:
            return i + 1, tf.concat([grown, same[:1]], 0), same * 0.5 + tf.reduce_sum(grown, axis=0)

        shapes = [tf.TensorShape([]), tf.TensorShape([None, 2]), x.shape]
        _, grown, same = tf.while_loop(lambda i, *_: i < 4, body, [0, x, x], shapes)
        sizes = [tf.shape(grown), tf.shape(same), tf.size(tf.concat([grown, same], 0))]
        fetches = [grown, same, *sizes, *tf.gradients([grown, same], x)]
        compare(fetches, [{x: np.linspace(0, 1, 2 * n).reshape(n, 2)} for n in (1, 3, 2)])


def test_variables_that_change_places() -> None:
    """The shapes of all are steady only when every one of them has been seen in each place."""
    with tf.Graph().as_default():
        a, b, c = (tf.placeholder(tf.float32) for _ in range(3))

        def body(i: Any, x: Any, y: Any, z: Any) -> Any:
            return i + 1, y, z, x * 2.0

        made = tf.while_loop(lambda i, *_: i < 5, body, [0, a, b, c], [tf.TensorShape([]), ANY, ANY, ANY])[1:]
        fetches = [*made, *(tf.shape(m) for m in made), *(tf.reduce_sum(m) for m in made)]
        shapes = [(2,), (2, 3), ()], [(4,), (4,), (1,)], [(3, 1), (3, 1), (3, 1)]
        compare(fetches, [{p: np.ones(s) for p, s in zip((a, b, c), given, strict=True)} for given in shapes])


def test_a_stack_that_two_nodes_push_on() -> None:
    """Neither's constant, nor its shape, is what is taken from it."""
    from tensorflow.python.ops import gen_data_flow_ops as ops

    with tf.Graph().as_default():
        n = tf.placeholder(tf.int32, [])
        stack = ops.stack_v2(max_size=-1, elem_type=tf.float32)

        def push(i: Any, seen: Any) -> Any:
            small = ops.stack_push_v2(stack, tf.zeros([1]))
            with tf.control_dependencies([small]):
                large = ops.stack_push_v2(stack, tf.ones([2]))
            return i + 1, seen + tf.reduce_sum(small) + tf.reduce_sum(large)

        def pop(i: Any, found: Any) -> Any:
            first = ops.stack_pop_v2(stack, elem_type=tf.float32)
            with tf.control_dependencies([first]):
                second = ops.stack_pop_v2(stack, elem_type=tf.float32)
            return i + 1, found * 2.0 + tf.reduce_sum(first) + 10.0 * tf.cast(tf.size(second), tf.float32)

        pushed = tf.while_loop(lambda i, _: i < n, push, [0, 0.0], parallel_iterations=1)
        with tf.control_dependencies(pushed):
            start = tf.constant(0)
        popped = tf.while_loop(lambda i, _: i < n, pop, [start, 0.0], parallel_iterations=1)
        compare([pushed[1], popped[1]], [{n: 3}, {n: 1}])


@pytest.mark.parametrize("others", [(), ("Identity",), ("StackPushV2",), ("StackPopV2",)])
def test_a_handle_that_comes_into_a_loop_twice_has_the_writers_of_both(others: tuple[str, ...]) -> None:
    graph, body = Graph(), Graph()
    graph.add(Node("stack", "StackV2", outputs=[Spec((2,), "resource")]))
    for name, values in (("a", np.zeros(2, np.float32)), ("b", np.zeros((3, 4), np.float32))):
        body.add(Node(name, LOOP_INPUT, outputs=[Spec((2,), "resource")]))
        body.add(Node(f"{name} value", "Const", outputs=[Spec(values.shape, "float32", values)]))
        body.add(
            Node(f"{name} push", "StackPushV2", [Value(name), Value(f"{name} value")], outputs=[Spec(None)], is_stateful=True)
        )
    loop = Loop(body, constants={0: "a", 1: "b"})
    graph.add(Node("loop", WHILE, [Value("stack"), Value("stack")], attrs={"loop": loop}, is_stateful=True))
    reading = Graph()
    reading.add(Node("in", LOOP_INPUT, outputs=[Spec((2,), "resource")]))
    pop = reading.add(Node("pop", "StackPopV2", [Value("in")], outputs=[Spec(None)], is_stateful=True))
    graph.add(Node("next", WHILE, [Value("stack")], ["loop"], {"loop": Loop(reading, constants={0: "in"})}, is_stateful=True))
    for number, op in enumerate(others):
        graph.add(Node(f"other {number}", op, [Value("stack"), Value("stack")], outputs=[Spec(None)]))
    fold_constants.run(graph)
    assert (pop.op, pop.outputs[0].shape) == ("StackPopV2", None)
    del body.nodes["b push"]
    fold_constants.run(graph)
    assert (pop.op == CONSTANT) == (others in {(), ("StackPopV2",)})


def test_a_stack_of_constants_is_as_long_as_its_loop() -> None:
    """A constant is not taken from the stack; an iteration that did not run has no gradient."""
    with tf.Graph().as_default():
        x, n = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.int32, [])

        def body(i: Any, a: Any) -> Any:
            scale = tf.cast(tf.shape(a)[0], tf.float32)
            return i + 1, tf.cond(i > 1, lambda: a * scale, lambda: tf.reshape(tf.sin(a) + a[:1], tf.shape(a)))

        _, made = tf.while_loop(lambda i, _: i < n, body, [0, x])
        nested = tf.while_loop(lambda i, _: i < n, lambda i, a: (i + 1, tf.scan(lambda s, row: s * 0.5 + row, a)), [0, x])[1]
        fetches = [made, nested, *tf.gradients(made, x), *tf.gradients(nested, x)]
        random = np.random.default_rng(2)
        compare(fetches, [{x: random.normal(size=(rows, 3)), n: turns} for rows in (2, 1) for turns in (0, 1, 2, 4)], rtol=1e-4)


def test_arrays_of_unlike_elements() -> None:
    """A read of an array has the shape of the writes only where one node writes, and where the array is the same."""
    with tf.Graph().as_default():
        x, n = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.int32, [])
        mixed = tf.TensorArray(tf.float32, n + 1, clear_after_read=False, infer_shape=False, element_shape=ANY).write(0, x)
        rows = tf.TensorArray(tf.float32, tf.shape(x)[0], element_shape=[None], infer_shape=False).unstack(x)
        grown = tf.TensorArray(tf.float32, 0, dynamic_size=True, element_shape=[None, 2], infer_shape=False)

        def body(i: Any, mixed: Any, grown: Any, total: Any) -> Any:
            before = mixed.read(i)
            mixed = mixed.write(i + 1, tf.concat([before, x[:1]], 0))
            return i + 1, mixed, grown.write(i, x * tf.cast(i + 2, tf.float32)), total + tf.reduce_sum(before) * rows.read(i)

        start = [0, mixed, grown, tf.zeros([2])]
        _, mixed, grown, total = tf.while_loop(lambda i, *_: i < n, body, start)
        last, stacked = mixed.read(n), grown.stack()
        fetches = [total, last, stacked, tf.shape(stacked), grown.size(), *tf.gradients([total, last, stacked], x)]
        compare(fetches, [{x: np.arange(2.0 * rows).reshape(rows, 2), n: turns} for rows, turns in ((3, 2), (2, 1), (3, 3))])
