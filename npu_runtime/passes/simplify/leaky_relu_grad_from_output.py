"""Before: LeakyReluGrad of LeakyRelu's input.  After: of its result, whose sign is the same: nobody keeps the input any more.

TensorFlow's gradients of Relu and Relu6 read results from the start; the fusions behind this pass count on it.
"""

from __future__ import annotations

from npu_runtime.analysis.aliasing import may_alias
from npu_runtime.graph.ir import Graph, Node, Value
from npu_runtime.passes.base import graph_pass


@graph_pass
def leaky_relu_grad_from_output(graph: Graph) -> int:
    """Let gradients of LeakyRelu read its result where it has the sign of its input; returns the number of gradients."""
    results = {node.inputs[0]: Value(node.name) for node in graph if node.op == "LeakyRelu" and _keeps_sign(graph, node)}
    changed = 0
    for node in graph:
        if node.op == "LeakyReluGrad" and node.host_reason is None and node.inputs[1] in results:
            node.inputs = [node.inputs[0], results[node.inputs[1]]]
            changed += 1
    return changed


def _keeps_sign(graph: Graph, node: Node) -> bool:
    """Whether the slope is positive, and the input nothing that may change before the gradient is computed."""
    source = graph[node.inputs[0].node]
    is_fixed = not source.ref_outputs and not may_alias(source)
    return is_fixed and node.attrs.get("alpha", 0.2) > 0 and not node.controls and node.host_reason is None
