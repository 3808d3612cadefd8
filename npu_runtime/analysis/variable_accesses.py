"""Variable accesses: the nodes that are handed a variable, and the variables that each step of a program may read and write."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from npu_runtime.analysis.aliasing import may_alias
from npu_runtime.graph.ir import Graph, Node, Value
from npu_runtime.graph.ops import (
    LOOP_INPUT,
    PASSING,
    READING,
    STEP_RESOURCES,
    VARIABLES,
    WHILE,
    HostCall,
    Item,
    Key,
    variable_key,
)

_NONE: frozenset[Key] = frozenset()
_WITHOUT_CONTENT = frozenset({"VarIsInitializedOp", "IsVariableInitialized", "VariableShape"})
"""Ops that are handed a variable, and see the same before an update and behind it."""


def variable_inputs(graph: Graph, node: Node) -> tuple[int, ...]:
    """Positions of the inputs at which a kernel is handed a variable and not its value."""
    if node.op.startswith(STEP_RESOURCES):
        return ()
    return tuple(i for i, value in enumerate(node.inputs) if i in node.ref_inputs or graph.spec(value).dtype == "resource")


def writes_variables(graph: Graph, node: Node) -> bool:
    """Whether running the node changes a variable, on the device or on the host; of a loop, whether a node inside does."""
    loop = node.attrs.get("loop") if node.op == WHILE else None
    if loop is not None:
        return any(writes_variables(loop.graph, inner) for inner in loop.graph)
    handed = variable_inputs(graph, node) if node.op not in (*READING, *PASSING) else ()
    return any(_comes_from_variable(graph, node.inputs[i]) for i in handed)


def _comes_from_variable(graph: Graph, value: Value) -> bool:
    """Not so: handles of tables, iterators, queues."""
    source = graph[value.node]
    while source.op in PASSING and source.inputs:
        source = graph[source.inputs[0].node]
    return source.op in (*VARIABLES, LOOP_INPUT)


def takes_in(node: Node, key: Key) -> bool:
    """Whether a node takes in the content of a variable that it is shown.

    What was read from a resource variable stays as it was; a ref variable is looked at by all that its memory is shown to.
    """
    return node.op not in _WITHOUT_CONTENT and (key[0] == "ref" or node.op in READING)


class VariableAccesses:
    """reads / writes: by position in an order, the variables that a step may look at and those that it may change."""

    def __init__(self, graph: Graph, order: Sequence[Item]) -> None:
        self._graph = graph
        self._shown: dict[Value, frozenset[Key]] = {}
        """Variables whose memory, or which themselves, a value may be."""
        self.reads: list[frozenset[Key]] = []
        self.writes: list[frozenset[Key]] = []
        self._touched: dict[Key, list[int]] = {}
        self._written: dict[Key, list[int]] = {}
        self._anything: list[int] = []
        """Positions of steps that may do anything: calls of the host, loops."""
        for position, item in enumerate(order):
            self._note(position, item)

    def next_conflict(self, position: int) -> int | None:
        """The first later step that must not run at the same time as the one at a position, None if there is none."""
        after = [_next(self._written.get(key, []), position) for key in self.reads[position]]
        after += [_next(self._touched.get(key, []), position) for key in self.writes[position]]
        if after:  # a step that touches no variable has nothing to fear from those either
            after.append(_next(self._anything, position))
        return min((found for found in after if found is not None), default=None)

    def _note(self, position: int, item: Item) -> None:
        reads = writes = _NONE
        if isinstance(item, HostCall) or item.op == WHILE:
            self._anything.append(position)
        if isinstance(item, Node):
            reads = self._union(item, range(len(item.inputs)))
            if item.op not in READING and item.op not in PASSING:
                writes = self._union(item, variable_inputs(self._graph, item))
            self._note_shown(item, reads)
        self.reads.append(reads)
        self.writes.append(writes)
        for key in reads:
            self._touched.setdefault(key, []).append(position)
        for key in writes:
            self._written.setdefault(key, []).append(position)

    def _note_shown(self, node: Node, reads: frozenset[Key]) -> None:
        if reads and (may_alias(node) or node.ref_outputs or any(spec.dtype == "resource" for spec in node.outputs)):
            self._shown.update((Value(node.name, index), reads) for index in range(len(node.outputs)))

    def _union(self, node: Node, positions: Sequence[int]) -> frozenset[Key]:
        return _NONE.union(*(self._of(node.inputs[i]) for i in positions))

    def _of(self, value: Value) -> frozenset[Key]:
        node = self._graph[value.node]
        return frozenset([variable_key(node)]) if node.op in VARIABLES else self._shown.get(value, _NONE)


def _next(positions: Sequence[int], after: int) -> int | None:
    index = bisect_right(positions, after)
    return positions[index] if index < len(positions) else None
