"""Counters: scalar integer variables that a step assigns their own value and a constant, as `step.assign(step + 1)` does."""

from __future__ import annotations

from npu_runtime.graph.ir import Graph, Node
from npu_runtime.graph.ops import PASSING, VARIABLES

_LONGEST = 6
"""Nodes between a counter and its assignment at most: a read, a sum, a remainder, and constants cast for them."""
_SUMS = frozenset({"Add", "AddV2", "Sub"})


def counting(graph: Graph) -> set[str]:
    """Names of the assignments of counters that nothing else has to come before, and of the nodes that compute their values.

    Of a ref variable it is what Assign gives it. Of a resource variable a remainder is too late, and AssignAdd is soon enough.
    """
    found: set[str] = set()
    for node in graph:
        if node.controls or node.op not in _CHAINS or not _is_counter(graph, node):
            continue
        found |= _CHAINS[node.op](graph, node)
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


def _sum(graph: Graph, assign: Node) -> set[str]:
    """The assignment, the sum of the counter and a constant that it gets, and the read; empty for any other value."""
    handle, value = (graph[given.node] for given in assign.inputs)
    terms = [graph[given.node] for given in value.inputs] if value.op in _SUMS and not value.controls else []
    reads = [t.name for t in terms if t.op == "ReadVariableOp" and not t.controls and t.inputs[0].node == handle.name]
    constants = [t for t in terms if t.op == "Const"]
    return {assign.name, value.name, *reads} if len(reads) == 1 == len(constants) else set()


def _added(graph: Graph, assign: Node) -> set[str]:
    """The assignment that adds a constant."""
    return {assign.name} if graph[assign.inputs[1].node].op == "Const" else set()


_CHAINS = {"Assign": _chain, "AssignVariableOp": _sum, "AssignAddVariableOp": _added}
