"""Before: Mul (nobody reads it) -^-> NoOp.  After: NoOp -^-> NoOp: what is only waited for is not computed."""

from __future__ import annotations

from collections import Counter

from npu_runtime.graph.ir import Graph, Node, Value
from npu_runtime.graph.order import topological
from npu_runtime.kernels.base import all_kernels
from npu_runtime.passes.base import graph_pass
from npu_runtime.passes.node_work import node_work

UNREAD_OP, UNREAD_FLOPS = "_unread_op", "_unread_flops"
"""Attributes of the NoOp: what it was, and the floating-point operations that it saves."""
_MAY_RAISE_ON_PURPOSE = frozenset({"Assert", "CheckNumerics", "CheckNumericsV2"})
_CONTROL_FLOW = frozenset({"Switch", "RefSwitch", "Merge", "RefMerge"})


@graph_pass()
def drop_unread(graph: Graph) -> int:
    """Make every node without effects whose values nobody reads a NoOp that waits for what it read; returns how many.

    The gradient of an image, say, is no longer computed when only the group of all gradients waits for it.
    Source: TensorFlow core/grappler/optimizers/dependency_optimizer.cc, SafeToConvertToNoOp, does so on the CPU.
    """
    reads = Counter(value.node for node in graph for value in node.inputs)
    kept = graph.kept()
    dropped = 0
    for node in reversed(topological([node for node in graph if node.host_reason is None])):
        if reads[node.name] or node.name in kept or not _is_pure(graph, node):
            continue
        reads.subtract(value.node for value in node.inputs)
        attrs = {UNREAD_OP: node.op, UNREAD_FLOPS: node_work(graph, node)}
        node.controls += sorted({value.node for value in node.inputs} - set(node.controls))
        node.op, node.inputs, node.attrs, node.outputs = "NoOp", [], attrs, []
        dropped += 1
    return dropped


def _is_pure(graph: Graph, node: Node) -> bool:
    """Whether a device node does nothing but compute values from values that are surely alive when it runs."""
    if node.host_reason is not None or node.is_stateful or node.op in _MAY_RAISE_ON_PURPOSE or not node.inputs:
        return False
    made = all_kernels().get(node.op)
    if made is None or made.is_stateful or node.ref_inputs or node.ref_outputs:
        return False
    return all(_is_plain(graph, value) for value in node.inputs)


def _is_plain(graph: Graph, value: Value) -> bool:
    """Not one branch of a conditional, whose death would be lost, and not a handle."""
    source = graph[value.node]
    return source.op not in _CONTROL_FLOW and graph.spec(value).dtype not in ("resource", "variant")
