"""Gradients of batch norms with those of the activations behind them."""

from __future__ import annotations

from typing import Any

import pytest
import tensorflow.compat.v1 as tf

from npu_runtime.graph.verify import verify
from npu_runtime.passes.fuse.fuse_normalization_gradients import fuse_normalization_gradients
from npu_runtime.passes.simplify.fold_constants import fold_constants
from npu_runtime.passes.simplify.leaky_relu_grad_from_output import leaky_relu_grad_from_output
from tests.passes.graphs import imported, ops, residual_network


@pytest.mark.parametrize("activation", [tf.nn.relu, tf.nn.relu6, tf.nn.leaky_relu])
def test_the_gradient_of_an_activation_joins_that_of_its_normalisation(activation: Any) -> None:
    """The first normalisation's: behind the second comes a sum, whose gradient goes to both sides."""
    x, fetched, _ = residual_network(activation, sees_inside=False)
    graph = imported(fetched[2], {x: (4, 6, 5, 3)})
    fold_constants.run(graph)
    leaky_relu_grad_from_output.run(graph)
    assert fuse_normalization_gradients.run(graph) == 1
    verify(graph)
    assert ops(graph).count("FusedBatchNormGradV3") == 1


def test_a_gradient_that_is_seen_stays_beside_that_of_the_normalisation() -> None:
    x = tf.placeholder(tf.float32, [4, 6, 5, 3])
    normalised = tf.layers.batch_normalization(x, training=True)
    by_x, by_normalised = tf.gradients(tf.nn.relu(normalised) * 2.0, [x, normalised])
    graph = imported(by_x + by_normalised, {x: (4, 6, 5, 3)})
    fold_constants.run(graph)
    assert fuse_normalization_gradients.run(graph) == 0
