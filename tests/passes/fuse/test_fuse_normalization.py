"""Batch norms with the sum and the activation behind them."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from npu_runtime.graph.verify import verify
from npu_runtime.passes.fuse.fuse_normalization import fuse_normalization
from npu_runtime.passes.simplify.fold_constants import fold_constants
from tests.passes.graphs import assert_as_on_tensorflow, imported, ops, residual_network
from tests.runtime.device import device_session


@pytest.mark.parametrize("activation", [tf.nn.relu, tf.nn.relu6, tf.nn.leaky_relu, partial(tf.nn.leaky_relu, alpha=1.5)])
@pytest.mark.parametrize("sees_inside", [False, True])
def test_a_normalisation_with_what_follows_it_changes_no_bit(activation: Any, sees_inside: bool) -> None:
    x, fetched, _ = residual_network(activation, sees_inside)
    value = np.random.default_rng(1).standard_normal((4, 6, 5, 3)).astype(np.float32)
    results = []
    for fusion in ("on", "off"):
        with device_session(fusion=fusion) as session:
            session.run(tf.global_variables_initializer())
            results.append(session.run(fetched, {x: value}))
    for fused, single in zip(*results, strict=True):
        np.testing.assert_array_equal(fused, single)


def test_sum_and_activation_join_their_normalisation() -> None:
    x, _, loss = residual_network(tf.nn.relu, sees_inside=False)
    graph = imported(loss, {x: (4, 6, 5, 3)})
    fold_constants.run(graph)
    assert fuse_normalization.run(graph) == 2
    verify(graph)
    assert "Relu" not in ops(graph)
    assert ops(graph).count("AddV2") == 1


def test_an_activation_whose_shape_a_gradient_asks_for_joins_its_normalisation() -> None:
    """The shape is folded and waits for the activation; the gradient of the convolution uses it."""
    x = tf.placeholder(tf.float32, [4, 6, 5, 3], name="x")
    y = tf.nn.relu(tf.layers.batch_normalization(x * 2.0, training=True))
    w = tf.get_variable("w", [3, 3, 3, 2], use_resource=True)
    (gradient,) = tf.gradients(tf.nn.conv2d(y, w, 1, "SAME"), x)
    graph = imported(gradient, {x: (4, 6, 5, 3)})
    fold_constants.run(graph)
    assert "Relu" in graph.waited_for()
    assert fuse_normalization.run(graph) == 1
    verify(graph)
    assert "Relu" not in ops(graph)
    value = np.random.default_rng(1).standard_normal((4, 6, 5, 3)).astype(np.float32)
    results = []
    for fusion in ("on", "off"):
        with device_session(fusion=fusion) as session:
            session.run(tf.global_variables_initializer())
            session.run(w.initializer, {w.initializer.inputs[1]: np.ones((3, 3, 3, 2))})
            results.append(session.run(gradient, {x: value}))
    np.testing.assert_array_equal(*results)


def test_a_sum_with_what_comes_from_the_normalisation_itself_stays() -> None:
    x = tf.placeholder(tf.float32, [4, 6, 5, 3])
    scale = tf.ones([3])
    y, mean, _ = tf.nn.fused_batch_norm(x, scale, scale)
    graph = imported(tf.nn.relu(y + tf.ones([4, 6, 5, 3]) * mean), {x: (4, 6, 5, 3)})
    fold_constants.run(graph)
    assert fuse_normalization.run(graph) == 0


def test_a_normalised_value_that_is_added_again_may_lie_where_the_result_goes() -> None:
    x = tf.placeholder(tf.float32, [4, 6, 5, 3])
    doubled = x * 2.0
    y = tf.nn.relu(tf.layers.batch_normalization(doubled, training=False) + doubled) * 3.0
    value = np.random.default_rng(1).standard_normal((4, 6, 5, 3)).astype(np.float32)
    assert_as_on_tensorflow(y, {x: value})
