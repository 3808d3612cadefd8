"""Nodes that others only wait for."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from npu_runtime.graph.verify import verify
from npu_runtime.passes.simplify.drop_unread import drop_unread
from npu_runtime.passes.simplify.fold_constants import fold_constants
from npu_runtime.passes.simplify.remove_unused import remove_unused
from tests.passes.graphs import imported, ops
from tests.runtime.device import device_session


def test_what_is_only_waited_for_is_not_computed() -> None:
    """The gradient of the image goes, that of the filter stays; random numbers and checks keep their effects."""
    x = tf.placeholder(tf.float32, [2, 6, 6, 1], name="x")
    w = tf.get_variable("w", [3, 3, 1, 2], initializer=tf.ones_initializer(), use_resource=True)
    by_image, by_filter = tf.gradients(tf.nn.conv2d(x, w, padding="VALID"), [x, w])
    drawn, checked = tf.random_uniform([2], seed=1), tf.check_numerics(x, "x")
    with tf.control_dependencies([tf.exp(by_image), drawn, checked]):
        step = tf.convert_to_tensor(w.assign_sub(by_filter))
    graph = imported(step, {x: (2, 6, 6, 1)})
    fold_constants.run(graph)
    assert drop_unread.run(graph) == 2
    remove_unused.run(graph)
    verify(graph)
    assert {"Exp", "Conv2DBackpropInput"}.isdisjoint(ops(graph))
    assert {"Conv2DBackpropFilter", "RandomUniform", "CheckNumerics"} <= set(ops(graph))
    value = np.arange(72, dtype=np.float32).reshape(2, 6, 6, 1)
    with tf.Session() as plain, device_session() as device:
        after = [(s.run(w.initializer), s.run(step, {x: value}))[1] for s in (plain, device)]
        np.testing.assert_allclose(after[1], after[0], rtol=1e-6)
        with pytest.raises(tf.errors.InvalidArgumentError, match="NaN"):
            device.run(step, {x: value * np.nan})


@pytest.mark.parametrize("taken", [True, False])
def test_waiting_for_a_branch_not_taken_stays_dead(taken: bool) -> None:
    p = tf.placeholder(tf.bool, [])
    w = tf.get_variable("w", [], initializer=tf.zeros_initializer(), use_resource=True)

    def branch() -> tf.Tensor:
        with tf.control_dependencies([tf.exp(w + 1.0)]):
            return w.assign_add(1.0)

    y = tf.cond(p, branch, lambda: tf.identity(w))
    for make in (tf.Session, device_session):
        with make() as session:
            session.run(w.initializer)
            session.run(y, {p: taken})
            assert session.run(w) == float(taken)
