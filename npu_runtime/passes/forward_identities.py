"""Before: Mul -> Identity -> Add.  After: Mul -> Add, where the Identity waits for nothing else."""

from __future__ import annotations

from npu_runtime.graph.ir import Graph, Value
from npu_runtime.passes.base import graph_pass
from npu_runtime.passes.effects import conditional_nodes, only_computes


@graph_pass()
def forward_identities(graph: Graph) -> int:
    """Let the readers of an Identity on the device read what it reads; returns how many are gone.

    It stays where it is asked for, where the host reads it under its name, and where it shows a variable.
    """
    conditional = conditional_nodes(graph)
    kept = graph.kept() | graph.seen_by_host()
    forwarded: dict[str, Value] = {}
    for node in list(graph):
        if node.op == "Identity" and not node.controls and node.name not in kept | conditional and only_computes(graph, node):
            forwarded[node.name] = node.inputs[0]
    for node in graph:
        node.inputs = [_source(value, forwarded) for value in node.inputs]
        node.controls = list(dict.fromkeys(_source(Value(name), forwarded).node for name in node.controls))
    for name in forwarded:
        del graph.nodes[name]
    return len(forwarded)


def _source(value: Value, forwarded: dict[str, Value]) -> Value:
    while value.node in forwarded:
        value = forwarded[value.node]
    return value
