"""Shape inference and constant folding."""

from __future__ import annotations

import pytest
import tensorflow.compat.v1 as tf

from npu_runtime.graph.ops import CONSTANT, FEED
from npu_runtime.graph.verify import verify
from npu_runtime.passes.simplify.fold_constants import fold_constants
from npu_runtime.passes.simplify.remove_unused import remove_unused
from tests.passes.graphs import imported, ops
from tests.runtime.device import device_session


def test_shapes_of_the_feeds_make_reshape_static() -> None:
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    flat = tf.reshape(x, [tf.shape(x)[0] * 2, -1])
    graph = imported(flat, {x: (6, 4)})
    assert fold_constants.run(graph) >= 3
    remove_unused.run(graph)
    verify(graph)
    assert ops(graph) == ["Reshape", CONSTANT, FEED]
    assert graph.spec(graph.fetches[0]).shape == (12, 2)


def test_constants_of_a_branch_not_taken_stay_dead() -> None:
    p = tf.placeholder(tf.bool, [])
    y = tf.cond(p, lambda: tf.constant(1.0) + tf.constant(2.0), lambda: tf.constant(5.0) * 2.0)
    with device_session() as session:
        assert [session.run(y, {p: taken}) for taken in (True, False)] == [3.0, 10.0]


@pytest.mark.parametrize("through", ["value", "shape"])
def test_what_a_folded_value_waited_for_still_happens(through: str) -> None:
    """As in batch norm over a constant: the result is known beforehand, the update of the moving average is not."""
    v = tf.get_variable("v", [], initializer=tf.zeros_initializer(), use_resource=False)
    with tf.control_dependencies([tf.assign_add(v, 1.0)]):
        one = tf.identity(tf.constant([1.0, 2.0]))
    y = one * 3.0 if through == "value" else tf.raw_ops.Shape(input=one) * 2
    for make in (tf.Session, device_session):
        with make() as session:
            session.run(v.initializer)
            session.run([y])
            assert session.run(v) == 1.0


def test_random_numbers_are_not_folded() -> None:
    y = tf.random_uniform([2], seed=1) * 0.0
    graph = imported(y)
    fold_constants.run(graph)
    assert "RandomUniform" in ops(graph)
