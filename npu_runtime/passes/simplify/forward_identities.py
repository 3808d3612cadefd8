"""Before: Mul -> Identity -> Add.  After: Mul -> Add.  Updates, and sums of gradients, wait in the place of an Identity."""

from __future__ import annotations

from npu_runtime.analysis.effects import conditional_nodes, only_computes
from npu_runtime.graph.ir import Graph, Node, Value
from npu_runtime.passes.base import graph_pass


@graph_pass
def forward_identities(graph: Graph) -> int:
    """Let the readers of an Identity on the device read what it reads; returns how many are gone.

    It stays where it is asked for, where the host reads it under its name, and where it shows a variable. One that waits for
    others goes where an update or a sum alone reads it: most other nodes that wait are not fused with their neighbours.
    """
    staying = conditional_nodes(graph) | graph.kept() | graph.seen_by_host()
    in_its_place = _in_its_place(graph)
    forwarded: dict[str, Value] = {}
    for node in list(graph):
        may_go = not node.controls or node.name in in_its_place
        if node.op == "Identity" and may_go and node.name not in staying and only_computes(graph, node):
            forwarded[node.name] = _source(node.inputs[0], forwarded)
            if node.controls:
                in_its_place[node.name].controls += node.controls
    for node in graph:
        node.inputs = [_source(value, forwarded) for value in node.inputs]
        node.controls = list(dict.fromkeys(_source(Value(name), forwarded).node for name in node.controls))
    for name in forwarded:
        del graph.nodes[name]
    return len(forwarded)


def _in_its_place(graph: Graph) -> dict[str, Node]:
    """The node that may wait in the place of an Identity, by the Identity's name: the update or sum that alone reads it, where
    nobody waits for it itself."""
    waited_for = graph.waited_for()
    found: dict[str, Node] = {}
    for value, readers in graph.consumers().items():
        node, reader = graph[value.node], readers[0]
        may_wait = (reader.is_stateful or reader.ref_inputs or reader.op == "AddN") and not reader.is_looped
        if node.op == "Identity" and node.controls and node.name not in waited_for and len(readers) == 1 and may_wait:
            found[node.name] = reader
    return found


def _source(value: Value, forwarded: dict[str, Value]) -> Value:
    while value.node in forwarded:
        value = forwarded[value.node]
    return value
