"""Counters: scalar integer variables that a step assigns their own value and a constant, as `step.assign(step + 1)` does."""

from __future__ import annotations

from npu_runtime.graph.ir import Graph, Node
from npu_runtime.graph.ops import PASSING, VARIABLES

_LONGEST = 6
"""Nodes between a counter and its assignment at most: a read, a sum, a remainder, and constants cast for them."""


def counting(graph: Graph) -> set[str]:
    """Names of the assignments of counters that nothing else has to come before, and of the nodes that compute their values.

    Ref variables alone: what reads them sees an assignment that runs meanwhile.
    """
    found: set[str] = set()
    for node in graph:
        if node.op == "Assign" and not node.controls and _is_counter(graph, node):
            found |= _chain(graph, node)
    return found


def _is_counter(graph: Graph, assign: Node) -> bool:
    variable = graph[assign.inputs[0].node]
    spec = graph.spec(assign.inputs[1])
    return variable.op in VARIABLES and not variable.is_resized and spec.shape == () and spec.dtype in ("int32", "int64")


def _chain(graph: Graph, assign: Node) -> set[str]:
    """The assignment and what computes its value; empty where that reads anything but the counter and constants."""
    counter = assign.inputs[0].node
    chain, pending, reads_itself = {assign.name}, [assign.inputs[1].node], False
    while pending:
        node = graph[pending.pop()]
        reads_itself |= node.name == counter
        if node.name in chain or node.name == counter or node.op == "Const":
            continue
        is_known = bool(node.inputs) and not (node.controls or node.host_reason or (node.is_stateful and node.op not in PASSING))
        if not is_known or len(chain) > _LONGEST:
            return set()
        chain.add(node.name)
        pending += [value.node for value in node.inputs]
    return chain if reads_itself else set()
