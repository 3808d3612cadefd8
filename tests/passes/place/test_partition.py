"""Host calls, device segments and the prologue."""

from __future__ import annotations

import numpy as np
import tensorflow.compat.v1 as tf

from npu_runtime.graph.ops import FEED
from npu_runtime.graph.verify import verify
from npu_runtime.passes.place.partition import partition, split_prologue
from npu_runtime.passes.place.placement import place
from tests.passes.graphs import imported


def test_host_calls_and_device_segments_alternate() -> None:
    data = tf.data.Dataset.from_tensors(np.ones((2, 2), np.float32)).make_one_shot_iterator().get_next()
    summary = tf.summary.scalar("mean", tf.reduce_mean(tf.exp(data)))
    graph = imported(summary)
    parts = partition(graph, place(graph).groups)
    assert [call.time for call in parts.calls] == [0, 2]
    assert all(parts.times[node.name] % 2 == (node.host_reason is None) for node in graph)
    for node in graph:
        for value in node.inputs:
            assert parts.times[value.node] <= parts.times[node.name] or graph[value.node].op == "Const"


def test_unknown_batch_makes_a_prologue() -> None:
    data = tf.data.Dataset.from_tensor_slices(np.ones((5, 2), np.float32)).batch(2).make_one_shot_iterator().get_next()
    graph = imported(tf.exp(data))
    split = split_prologue(graph, partition(graph, place(graph).groups))
    assert split is not None
    prologue, main = split
    verify(prologue)
    verify(main)
    assert [node.op for node in main if node.host_reason is None] == ["Exp", FEED]
