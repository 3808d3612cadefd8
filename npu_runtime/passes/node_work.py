"""How much floating-point work a node of a graph is."""

from __future__ import annotations

from npu_runtime.errors import MISFITS
from npu_runtime.graph.ir import Graph, Node
from npu_runtime.kernels.base import all_kernels


def node_work(graph: Graph, node: Node) -> float:
    """Floating-point operations of a node; 0 where it has no kernel, and where a shape is not known or does not fit."""
    made = all_kernels().get(node.op)
    inputs = [graph.spec(value) for value in node.inputs]
    if made is None or not all(spec.is_complete for spec in [*inputs, *node.outputs]):
        return 0.0
    try:
        return made.work(inputs, node.outputs, node.attrs)
    except MISFITS:  # told when the node runs
        return 0.0
