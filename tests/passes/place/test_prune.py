"""The part of a graph that a run needs."""

from __future__ import annotations

import tensorflow.compat.v1 as tf

from npu_runtime.graph.ir import Value
from npu_runtime.graph.ops import FEED
from npu_runtime.graph.verify import verify
from npu_runtime.passes.place.prune import feed_name
from tests.passes.graphs import imported, ops


def test_prune_keeps_ancestors_and_cuts_at_feeds() -> None:
    x = tf.placeholder(tf.float32, [None], name="x")
    y = tf.exp(x, name="y")
    tf.sin(y)
    z = tf.log(y)
    graph = imported(z, {y: (3,)})
    verify(graph)
    assert ops(graph) == ["Log", FEED]
    assert graph["Log"].inputs == [Value(feed_name(Value("y")))]
