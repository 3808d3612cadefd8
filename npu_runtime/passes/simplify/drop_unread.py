"""Before: Mul (nobody reads it) -^-> NoOp.  After: NoOp -^-> NoOp: what is only waited for is not computed."""

from __future__ import annotations

from collections import Counter

from npu_runtime.analysis.effects import is_pure
from npu_runtime.analysis.node_work import node_work
from npu_runtime.graph.ir import Graph
from npu_runtime.graph.order import topological
from npu_runtime.passes.base import graph_pass


@graph_pass
def drop_unread(graph: Graph) -> int:
    """Make every node without effects whose values nobody reads a NoOp that waits for what it read; returns how many.

    The gradient of an image, say, is no longer computed when only the group of all gradients waits for it.
    Source: TensorFlow core/grappler/optimizers/dependency_optimizer.cc, SafeToConvertToNoOp, does so on the CPU.
    """
    reads = Counter(value.node for node in graph for value in node.inputs)
    kept = graph.kept()
    dropped = 0
    for node in reversed(topological([node for node in graph if node.host_reason is None])):
        if reads[node.name] or node.name in kept or not is_pure(graph, node):
            continue
        reads.subtract(value.node for value in node.inputs)
        graph.saved_flops[node.op] += node_work(graph, node)
        node.controls += sorted({value.node for value in node.inputs} - set(node.controls))
        node.op, node.inputs, node.attrs, node.outputs = "NoOp", [], {}, []
        dropped += 1
    return dropped
