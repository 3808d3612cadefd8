"""A step counter that is assigned beside what reads it: nothing orders them, and the device does what 1.15 does most often."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from npu_runtime.analysis.counters import counting
from npu_runtime.graph.ir import Graph, Node, Value
from npu_runtime.graph.spec import Spec
from tests.runtime.device import device_session

Count = Callable[[tf.Variable], tf.Operation]


def assign(counter: tf.Variable) -> tf.Operation:
    return counter.assign(counter + 1).op


def assign_remainder(counter: tf.Variable) -> tf.Operation:
    return tf.assign(counter, (counter + tf.constant(1, counter.dtype.base_dtype)) % 10).op


def assign_add(counter: tf.Variable) -> tf.Operation:
    return tf.assign_add(counter, tf.constant(1, counter.dtype.base_dtype)).op


def assign_behind(counter: tf.Variable) -> tf.Operation:
    """As tf.train.Optimizer.minimize does: behind the update that the rate is for."""
    with tf.control_dependencies([tf.get_collection("update")[0]]):
        return counter.assign(counter + 1).op


RECORDED = [
    (tf.int32, assign, [1, 2, 3]),
    (tf.int64, assign, [1, 2, 3]),
    (tf.int32, assign_remainder, [1, 2, 3]),
    (tf.int64, assign_behind, [0, 1, 2]),
    (tf.int32, assign_add, [0, 1, 2]),
    (tf.float32, assign, [0, 1, 2]),
]
"""Type, form, and the step that the rate was computed from in the first three steps: in 15 of 15 runs of each under TensorFlow
1.15.0 on two cores (of `int64, assign` in 14), with four dense layers beside it."""


RECORDED_OF_RESOURCES = [
    (tf.int32, assign, [1, 2, 3]),
    (tf.int64, assign, [1, 2, 3]),
    (tf.int32, assign_add, [1, 2, 3]),
    (tf.int64, assign_add, [1, 2, 3]),
    (tf.int32, assign_remainder, [0, 1, 2]),
    (tf.int64, assign_behind, [0, 1, 2]),
]
"""The same of resource variables, as the step of a TPUEstimator is one: in 14 of 15 runs of each at least, and in all of
assign_add of int32 and of the remainder."""


@pytest.mark.parametrize(
    ("dtype", "count", "steps", "is_resource"),
    [*((*row, False) for row in RECORDED), *((*row, True) for row in RECORDED_OF_RESOURCES)],
)
def test_a_rate_sees_the_step_that_it_sees_under_1_15(dtype: tf.DType, count: Count, steps: list[int], is_resource: bool) -> None:
    with tf.Graph().as_default():
        counter = tf.get_variable("step", [], dtype, tf.zeros_initializer(), trainable=False, use_resource=is_resource)
        rate = tf.train.exponential_decay(1.0, counter, 10, 0.5)
        weights = tf.get_variable("weights", [4], initializer=tf.ones_initializer())
        update = tf.assign_sub(weights, rate * tf.ones([4])).op
        tf.add_to_collection("update", update)
        counted = count(counter)
        with device_session() as session:
            session.run(tf.global_variables_initializer())
            seen = [session.run([rate, update, counted])[0] for _ in steps]
            np.testing.assert_allclose(seen, [0.5 ** (step / 10) for step in steps], rtol=1e-6)
            np.testing.assert_allclose(session.run(weights), np.full(4, 1 - sum(seen)), rtol=1e-6)


def _counter(**changed: object) -> Graph:
    """`step.assign(step + 1)`, with changes to the assignment."""
    scalar = Spec((), "int64")
    graph = Graph()
    graph.add(Node("step", "VariableV2", outputs=[scalar], ref_outputs=frozenset({0}), is_stateful=True))
    graph.add(Node("fed", "Placeholder", outputs=[scalar]))
    graph.add(Node("one", "Const", outputs=[scalar]))
    graph.add(Node("read", "Identity", [Value("step")], outputs=[scalar]))
    graph.add(Node("sum", "AddV2", [Value("read"), Value("one")], outputs=[scalar]))
    node = Node("count", "Assign", [Value("step"), Value("sum")], outputs=[scalar], ref_inputs=frozenset({0}))
    for name, value in changed.items():
        setattr(node, name, value)
    graph.add(node)
    return graph


def test_the_chain_of_a_counter_is_found() -> None:
    assert counting(_counter()) == {"count", "sum", "read"}


@pytest.mark.parametrize(
    "changed",
    [
        {"controls": ["one"]},
        {"inputs": [Value("step"), Value("fed")]},
        {"inputs": [Value("step"), Value("one")]},
        {"op": "AssignAdd"},
    ],
    ids=["ordered", "of what is fed", "of a constant", "another op"],
)
def test_what_else_is_assigned_is_none(changed: dict[str, object]) -> None:
    assert counting(_counter(**changed)) == set()
