"""The gradient of a Relu taken of what is pooled."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from npu_runtime.graph.verify import verify
from npu_runtime.passes.fuse.fuse_pool_gradients import fuse_pool_gradients
from npu_runtime.passes.simplify.fold_constants import fold_constants
from tests.passes.graphs import imported, ops
from tests.runtime.device import device_session


@pytest.mark.parametrize(("size", "stride", "padding"), [(2, 2, "VALID"), (2, 2, "SAME"), (3, 2, "SAME"), (2, 3, "VALID")])
def test_the_gradient_of_a_relu_before_a_pool_is_taken_of_what_is_pooled(size: int, stride: int, padding: str) -> None:
    x, bias = tf.placeholder(tf.float32, [3, 8, 6, 4]), tf.get_variable("bias", [4], initializer=tf.zeros_initializer())
    active = tf.nn.relu(tf.nn.bias_add(x, bias))
    loss = tf.reduce_sum(tf.square(tf.nn.max_pool2d(active, size, stride, padding)) * 0.3)
    fetched = tf.gradients(loss, [x, bias.value()])
    graph = imported(fetched[0], {x: (3, 8, 6, 4)})
    fold_constants.run(graph)
    assert fuse_pool_gradients.run(graph) == 1
    verify(graph)
    assert {"ReluGrad", "MaxPoolGrad"}.isdisjoint(ops(graph))
    value = np.rint(np.random.default_rng(1).standard_normal((3, 8, 6, 4)) * 2).astype(np.float32)  # ties
    value[0, 1, 2, 3] = np.nan
    value[1, :4, :4, 2] = np.inf, 1, 2, -np.inf
    results = []
    for make in (tf.Session, device_session, lambda: device_session(fusion="off")):
        with make() as session:
            session.run(tf.global_variables_initializer())
            results.append(session.run(fetched, {x: value}))
    np.testing.assert_array_equal(results[1][0], results[2][0])
    for mine, theirs in zip(results[1], results[0], strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-6)


def test_a_pooled_gradient_that_others_see_or_over_other_features_stays() -> None:
    x = tf.placeholder(tf.float32, [1, 4, 4, 2])
    active = tf.nn.relu(x)
    (by_pool,) = tf.gradients(tf.nn.max_pool2d(active, 2, 2, "VALID"), active)
    for relu_gradient in (tf.raw_ops.ReluGrad(gradients=by_pool, features=active) + by_pool,
                          tf.raw_ops.ReluGrad(gradients=by_pool, features=x)):  # fmt: skip
        graph = imported(relu_gradient, {x: (1, 4, 4, 2)})
        assert fuse_pool_gradients.run(graph) == 0
