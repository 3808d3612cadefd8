"""Graphs for the tests of passes: imported from TensorFlow, and random straight-line programs."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf
from hypothesis import strategies as st

from npu_runtime.compiler.pipeline import FUSE, SIMPLIFY
from npu_runtime.graph.ir import Graph, Node, Value
from npu_runtime.graph.ops import FEED
from npu_runtime.graph.spec import Spec
from npu_runtime.graph.verify import verify
from npu_runtime.importers.tensorflow.graphdef import GraphImporter
from npu_runtime.passes.base import Pass
from npu_runtime.passes.place.placement import place
from npu_runtime.passes.place.prune import prune
from tests.runtime.device import device_session


def imported(fetch: Any, feeds: dict[Any, tuple[int, ...]] | None = None) -> Graph:
    """The default graph, placed and pruned to one fetch or some, its feeds with these shapes."""
    importer = GraphImporter(tf.get_default_graph())
    importer.update()
    reasons = place(importer.graph).reasons
    for node in importer.graph:
        node.host_reason = reasons.get(node.name)
    shapes = {Value(t.op.name): Spec(shape, t.dtype.name) for t, shape in (feeds or {}).items()}
    fetches = fetch if isinstance(fetch, list) else [fetch]
    return prune(importer.graph, [Value(one.op.name, one.value_index) for one in fetches], [], shapes)


def run_passes(graph: Graph, last: Pass | None = None) -> None:
    """Simplify and fuse a graph as the compiler does, verified behind every pass.  last: ends with this one."""
    for one in (*SIMPLIFY, *FUSE):
        assert isinstance(one.action, Pass)
        one.action.run(graph)
        verify(graph)
        if one.action is last:
            return


def ops(graph: Graph) -> list[str]:
    return sorted(node.op for node in graph)


ELEMENTWISE = ["Relu", "Tanh", "Add", "Mul", "Reshape"]


@st.composite
def programs(draw: Any) -> tuple[Graph, list[Node]]:
    """Random straight-line programs over a few shapes, with views among them."""
    graph = Graph()
    graph.add(Node("x0", FEED, outputs=[Spec((4, 8))]))
    for i in range(1, draw(st.integers(2, 25))):
        op = draw(st.sampled_from(ELEMENTWISE))
        n_inputs = 2 if op in ("Add", "Mul") else 1
        inputs = [Value(f"x{draw(st.integers(max(0, i - 6), i - 1))}") for _ in range(n_inputs)]
        graph.add(Node(f"x{i}", op, inputs, outputs=[Spec((4, 8))]))
    graph.fetches = [Value(name) for name in draw(st.sets(st.sampled_from(sorted(graph.nodes)), min_size=1, max_size=3))]
    return graph, [node for node in graph if node.op != FEED]


def assert_as_on_tensorflow(tensor: tf.Tensor, feeds: dict[tf.Tensor, np.ndarray]) -> None:
    results = []
    for make in (tf.Session, device_session):
        with make() as session:
            session.run(tf.global_variables_initializer())
            results.append(session.run(tensor, feeds))
    np.testing.assert_allclose(results[1], results[0], rtol=1e-5, atol=1e-5)


def residual_network(activation: Any, sees_inside: bool) -> tuple[Any, list[Any], Any]:
    """(images, what is fetched, the loss) of two normalisations, a sum and activations, with gradients."""
    x = tf.placeholder(tf.float32, [4, 6, 5, 3])
    first = tf.layers.batch_normalization(x * 2.0, training=True, name="first")
    inner = activation(first)
    second = tf.layers.batch_normalization(inner + 0.5, training=True, name="second")
    summed = inner + second
    y = activation(summed)
    loss = tf.reduce_sum(tf.square(y))
    fetched = [y, loss, *tf.gradients(loss, [x, *tf.trainable_variables()]), *tf.get_collection(tf.GraphKeys.UPDATE_OPS)]
    return x, [*fetched, first, summed] if sees_inside else fetched, loss
