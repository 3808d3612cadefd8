"""Gradients of LeakyRelu that read its result."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from npu_runtime.graph.verify import verify
from npu_runtime.passes.fuse.fuse_bias_activation import fuse_bias_activation
from npu_runtime.passes.simplify.fold_constants import fold_constants
from npu_runtime.passes.simplify.leaky_relu_grad_from_output import leaky_relu_grad_from_output
from tests.passes.graphs import assert_as_on_tensorflow, imported, ops


@pytest.mark.parametrize("alpha", [0.2, 1.5, 0.0, -0.5])
def test_a_leaky_relu_joins_its_convolution_where_its_gradient_can_do_with_the_result(alpha: float) -> None:
    """Its gradient reads the input, whose sign the result has only where the slope is positive."""
    tf.set_random_seed(7)
    x = tf.placeholder(tf.float32, [4, 6, 5, 3])
    y = tf.nn.leaky_relu(tf.layers.conv2d(x, 7, 3, bias_initializer=tf.zeros_initializer()), alpha)
    gradients = tf.gradients(tf.square(y), [x, *tf.trainable_variables()])
    graph = imported(gradients, {x: (4, 6, 5, 3)})
    fold_constants.run(graph)
    is_positive = alpha > 0
    assert leaky_relu_grad_from_output.run(graph) == is_positive
    assert fuse_bias_activation.run(graph) == 1
    verify(graph)
    assert ("LeakyRelu" in ops(graph)) != is_positive
    value = np.random.default_rng(1).standard_normal((4, 6, 5, 3)).astype(np.float32)
    value[0] = 0
    for one in (y, *gradients):
        assert_as_on_tensorflow(one, {x: value})


def test_a_leaky_relu_of_a_variable_that_changes_keeps_its_own_input() -> None:
    v = tf.Variable([1.0, -1.0, 2.0], use_resource=False)
    y = tf.nn.leaky_relu(v._ref())
    with tf.control_dependencies([v.assign([-1.0, 1.0, -2.0])]):
        graph = imported(tf.raw_ops.LeakyReluGrad(gradients=tf.identity(y), features=v._ref()))
    assert leaky_relu_grad_from_output.run(graph) == 0
