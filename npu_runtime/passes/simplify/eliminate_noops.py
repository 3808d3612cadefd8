"""Before: Reshape(Sum(x, []), shape of x).  After: Identity(x).

The gradient of a sum of two tensors sums over the axes that one of them was repeated along, and brings the result into its shape:
where the shapes are the same, nothing of it is left.
"""

from __future__ import annotations

from npu_runtime.analysis.effects import conditional_nodes, is_pure
from npu_runtime.graph.ir import Graph, Node
from npu_runtime.passes.base import graph_pass

REDUCTIONS = frozenset({"Sum", "Mean", "Prod", "Max", "Min", "All", "Any"})


@graph_pass
def eliminate_noops(graph: Graph) -> int:
    """Make Identities of nodes that return their first input as it is; returns how many."""
    conditional = conditional_nodes(graph)
    neutral = [n for n in graph if _is_neutral(graph, n) and is_pure(graph, n) and n.name not in conditional]
    for node in neutral:
        second = graph[node.inputs[1].node]  # what it waits for is waited for as before
        node.controls = list(dict.fromkeys([*node.controls, *(second.controls if not second.inputs else [second.name])]))
        node.op, node.inputs, node.attrs = "Identity", node.inputs[:1], {}
    return len(neutral)


def _is_neutral(graph: Graph, node: Node) -> bool:
    if node.op in REDUCTIONS:
        axes = graph.spec(node.inputs[1]).value
        return axes is not None and axes.size == 0
    if node.op != "Reshape":
        return False
    before, shape = graph.spec(node.inputs[0]), graph.spec(node.inputs[1]).value
    return shape is not None and before.is_complete and before.shape == node.outputs[0].shape
