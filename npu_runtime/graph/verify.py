"""Invariants of a graph; a pass that breaks one is found at once."""

from __future__ import annotations

from npu_runtime.graph.ir import Graph


def verify(graph: Graph) -> None:
    """Raises: ValueError naming the first node, input or root that points nowhere, or a name that is not its key."""
    for name, node in graph.nodes.items():
        if node.name != name:
            raise ValueError(f"node {node.name} is filed under {name}")
        for value in node.inputs:
            _check_value(graph, value, f"input of {name}")
        for control in node.controls:
            if control not in graph:
                raise ValueError(f"control input {control} of {name} is not in the graph")
    for value in graph.fetches:
        _check_value(graph, value, "fetch")
    for target in graph.targets:
        if target not in graph:
            raise ValueError(f"target {target} is not in the graph")


def _check_value(graph: Graph, value: tuple[str, int], what: str) -> None:
    node, index = value
    if node not in graph:
        raise ValueError(f"{what}: node {node} is not in the graph")
    if not 0 <= index < len(graph[node].outputs):
        raise ValueError(f"{what}: {node} has {len(graph[node].outputs)} outputs, no number {index}")
