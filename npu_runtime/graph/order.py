"""Orders of nodes: topological by creation, and strongly connected components."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence

from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.ir import Node

SHOWN_IN_CYCLE = 20
"""Nodes of a cycle that a message names."""


def predecessors(node: Node) -> list[str]:
    """Names of all nodes that run before, data first; with repetitions."""
    return [value.node for value in node.inputs] + node.controls


def followers(nodes: Iterable[Node]) -> dict[str, list[str]]:
    """The nodes that wait for each node, by its name; one that reads it twice is there twice."""
    found: dict[str, list[str]] = {}
    for node in nodes:
        for name in predecessors(node):
            found.setdefault(name, []).append(node.name)
    return found


def topological(nodes: Sequence[Node]) -> list[Node]:
    """Producers first; among those ready, the one that stands first in `nodes` (the order of creation).

    Edges from outside `nodes` do not count.  Raises: InvalidArgument on a cycle, naming its nodes.
    """
    position = {node.name: i for i, node in enumerate(nodes)}
    waiting = [0] * len(nodes)
    followers: list[list[int]] = [[] for _ in nodes]
    for i, node in enumerate(nodes):
        for name in set(predecessors(node)):
            if name in position:
                waiting[i] += 1
                followers[position[name]].append(i)
    ready = [i for i, n in enumerate(waiting) if n == 0]
    ordered: list[Node] = []
    while ready:
        i = heapq.heappop(ready)
        ordered.append(nodes[i])
        for j in followers[i]:
            waiting[j] -= 1
            if waiting[j] == 0:
                heapq.heappush(ready, j)
    if len(ordered) != len(nodes):
        raise _in_a_cycle({nodes[i].name: nodes[i] for i, n in enumerate(waiting) if n > 0})
    return ordered


def _in_a_cycle(stuck: Mapping[str, Node]) -> InvalidArgument:
    """stuck: nodes that wait for one another, each for one of these at least.

    Source: TensorFlow's executor answers such a graph with INVALID_ARGUMENT and the names of nodes (core/graph/validate.cc).
    """
    path: dict[str, None] = {}
    name = next(iter(stuck))
    while name not in path:
        path[name] = None
        name = next(before for before in predecessors(stuck[name]) if before in stuck)
    backwards = list(path)[list(path).index(name) :]
    cycle = [name, *reversed(backwards)]
    shown = " -> ".join(cycle if len(cycle) <= SHOWN_IN_CYCLE else [*cycle[:SHOWN_IN_CYCLE], "..."])
    return InvalidArgument(f"the graph has a cycle that no loop closes, nodes that wait for each other: {shown}")


def reached(starts: Iterable[str], neighbours: Mapping[str, Iterable[str]]) -> set[str]:
    """All nodes on the ways from some, these themselves left out unless a way leads to them."""
    found: set[str] = set()
    waiting = list(starts)
    while waiting:
        new = set(neighbours.get(waiting.pop(), ())) - found
        found |= new
        waiting += sorted(new)
    return found


class _Tarjan:
    """One search for strongly connected components, iterative: graphs are deeper than Python's stack."""

    def __init__(self, successors: Mapping[str, Iterable[str]]) -> None:
        self.successors = successors
        self.index: dict[str, int] = {}
        self.low: dict[str, int] = {}
        self.stack: list[str] = []
        self.on_stack: set[str] = set()
        self.work: list[tuple[str, Iterator[str]]] = []
        self.components: list[list[str]] = []

    def open(self, name: str) -> None:
        self.index[name] = self.low[name] = len(self.index)
        self.stack.append(name)
        self.on_stack.add(name)
        self.work.append((name, iter(self.successors.get(name, ()))))

    def search(self, root: str) -> None:
        self.open(root)
        while self.work:
            name, rest = self.work[-1]
            child = next((c for c in rest if c not in self.index or c in self.on_stack), None)
            if child is None:
                self.close()
            elif child not in self.index:
                self.open(child)
            else:
                self.low[name] = min(self.low[name], self.index[child])

    def close(self) -> None:
        """All edges of the top are seen; it may be the root of a component."""
        name, _ = self.work.pop()
        if self.work:
            above = self.work[-1][0]
            self.low[above] = min(self.low[above], self.low[name])
        if self.low[name] == self.index[name]:
            component = [self.stack.pop()]
            while component[-1] != name:
                component.append(self.stack.pop())
            self.on_stack -= set(component)
            if len(component) > 1:
                self.components.append(component)


def strongly_connected(successors: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """Tarjan's components that have more than one member."""
    search = _Tarjan(successors)
    for root in successors:
        if root not in search.index:
            search.search(root)
    return search.components
