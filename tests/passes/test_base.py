"""The order of passes by the facts that they need, and the pipeline as a whole."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from npu_runtime.graph.ir import Graph
from npu_runtime.passes.base import Pass, check_order, graph_pass, run_passes
from npu_runtime.passes.pipeline import pipeline
from tests.passes.graphs import imported
from tests.runtime.device import device_session


def test_every_pass_keeps_the_graph_sound_and_the_values() -> None:
    x = tf.placeholder(tf.float32, [None, 8, 8, 1], name="x")
    hidden = tf.layers.conv2d(x, 4, 3, activation=tf.nn.relu, kernel_initializer=tf.ones_initializer())
    logits = tf.layers.dense(
        tf.layers.flatten(tf.layers.max_pooling2d(hidden, 2, 2)), 3, kernel_initializer=tf.ones_initializer()
    )
    loss = tf.losses.sparse_softmax_cross_entropy(tf.zeros([tf.shape(x)[0]], tf.int32), logits)
    gradients = tf.gradients(loss, tf.trainable_variables())
    graph = imported(gradients[0], {x: (5, 8, 8, 1)})
    run_passes(graph, pipeline(fusion=True), check=True)
    with tf.Session() as plain:
        plain.run(tf.global_variables_initializer())
        expected = plain.run([loss, gradients], {x: np.ones((5, 8, 8, 1), np.float32)})
    for fusion in ("on", "off"):
        with device_session(fusion=fusion) as session:
            session.run(tf.global_variables_initializer())
            actual = session.run([loss, gradients], {x: np.ones((5, 8, 8, 1), np.float32)})
            tf.nest.map_structure(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6), actual, expected)


def test_order_that_lacks_a_fact_is_refused() -> None:
    @graph_pass(requires=("layout",))
    def needs_layout(graph: Graph) -> int:
        return 0

    @graph_pass(provides=("layout",))
    def makes_layout(graph: Graph) -> int:
        return 0

    @graph_pass(breaks=("layout",))
    def breaks_layout(graph: Graph) -> int:
        return 0

    check_order([makes_layout, needs_layout])
    orders: list[list[Pass]] = [[needs_layout, makes_layout], [makes_layout, breaks_layout, needs_layout]]
    for order in orders:
        with pytest.raises(ValueError, match="needs_layout needs"):
            check_order(order)
