"""Which variables each step of a program may read and write, and so between which steps the order counts."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from npu_runtime.executor.holding import variable_inputs
from npu_runtime.graph.ir import Graph, Node, Value
from npu_runtime.graph.ops import PASSING, READING, VARIABLES, WHILE, HostCall, Item, Key, variable_key
from npu_runtime.passes.plan_memory import may_alias

_NONE: frozenset[Key] = frozenset()


class Touches:
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
