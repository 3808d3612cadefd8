"""Liveness analysis: which branches must be taken for a node to run.

Source: TensorFlow's executor (dead tensors of control flow of version 1).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet

from npu_runtime.graph.disjoint import DisjointSets
from npu_runtime.graph.ir import Graph, Node, Value
from npu_runtime.graph.ops import ANY_INPUT, MERGES, SWITCHES, Liveness
from npu_runtime.graph.order import topological


def liveness_of_groups(graph: Graph, groups: Iterable[Sequence[Node]]) -> dict[str, Liveness]:
    """The liveness of every node; branches inside a group do not count outside of it.

    groups: producers first, see `in_order`; the loops at least are groups, whose edges are cycles.
    """
    known: dict[str, Liveness] = {}
    for members in groups:
        inside = {node.name for node in members} if len(members) > 1 else frozenset()
        liveness = frozenset().union(*(liveness_before(graph, node, known, inside) for node in members))
        known.update((node.name, liveness) for node in members)
    return known


def in_order(graph: Graph, groups: DisjointSets) -> list[list[Node]]:
    """Groups of nodes, producers first. Edges inside a group do not count, so loops may close there."""
    members = groups.groups(graph.nodes)
    position = {name: root for root, names in members.items() for name in names}
    contracted = []
    for root, names in members.items():
        edges = {position[p] for name in names for p in sources(graph, graph[name]) if position[p] != root}
        contracted.append(Node(root, "_Group", controls=sorted(edges)))
    return [[graph[name] for name in members[group.name]] for group in topological(contracted)]


def sources(graph: Graph, node: Node) -> list[str]:
    return [value.node for value in node.inputs] + node.controls + [name for name in node.later_than if name in graph]


def liveness_before(graph: Graph, node: Node, known: Mapping[str, Liveness], inside: AbstractSet[str]) -> Liveness:
    """Source: a node is dead when any input is; Merge is dead only when all its data inputs are, whatever it waits for.

    inside: the node's own group, whose branches are its own affair.
    """
    inputs = [liveness_of(graph, value, known) for value in node.inputs if value.node not in inside]
    if node.op in MERGES and inputs:
        common = frozenset.intersection(*inputs)
        is_decided = _is_decided([liveness - common for liveness in inputs])
        return common if is_decided else common | {(Value(node.name), ANY_INPUT)}
    controls: Liveness = frozenset().union(*(known.get(name, frozenset()) for name in node.controls))
    return controls.union(*inputs)


def liveness_of(graph: Graph, value: Value, known: Mapping[str, Liveness]) -> Liveness:
    node = graph[value.node]
    liveness = known.get(value.node, frozenset())
    return liveness | {(_handed_on(graph, node.inputs[1]), value.output)} if node.op in SWITCHES else liveness


def _is_decided(own: Sequence[Liveness]) -> bool:
    """Whether one of a Merge's inputs is alive whenever what they have in common is: as behind one predicate, of which either
    side runs. Not where a graph merges sides of two predicates, which may both be dead.

    own: what each input asks for beyond that.
    """
    if not all(own):
        return True
    sides = frozenset().union(*own)
    return all(len(branches) == 1 for branches in own) and {side for _, side in sides} == {0, 1} and len(dict(sides)) == 1


def _handed_on(graph: Graph, value: Value) -> Value:
    """The value before any Identities; TensorFlow puts one before some Switches of a predicate and not before others."""
    while graph[value.node].op == "Identity":
        value = graph[value.node].inputs[0]
    return value
