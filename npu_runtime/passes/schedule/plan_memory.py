"""Before: every value in memory of its own.  After: offsets in one arena; buffers whose lifetimes overlap never share bytes."""

from __future__ import annotations

import bisect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from npu_runtime.analysis.aliasing import is_filled, may_alias
from npu_runtime.graph.ir import Graph, Node, Value
from npu_runtime.graph.ops import HostCall, Item
from npu_runtime.kernels.base import all_kernels

ALIGNMENT_BYTES = 64
"""Bytes of a cache line and of an AVX-512 register. The 910's unified buffer wants 32."""
FOREVER = 1 << 60
"""A position behind every step: the life of what is fetched."""
N_LARGEST = 6
"""Values that are named when the device's memory is too small."""


@dataclass
class MemoryPlan:
    """offsets_bytes: place of each planned value.  arena_bytes: size of the arena.  live_bytes: the largest sum of
    buffers alive at one time, below which no plan can go.  largest: the biggest values alive then, with their bytes; the first
    is the one that was made last of all.  live_by_position: bytes that are alive from a position on, in order."""

    offsets_bytes: dict[Value, int] = field(default_factory=dict)
    arena_bytes: int = 0
    live_bytes: int = 0
    largest: list[tuple[Value, int]] = field(default_factory=list)
    live_by_position: list[tuple[int, int]] = field(default_factory=list)


@dataclass
class _Buffer:
    value: Value
    n_bytes: int
    start: int
    end: int
    shares: Value | None = None  # takes over the buffer of this input


def plan_memory(
    graph: Graph, order: Sequence[Node], keep: Mapping[Value, int] | None = None, ends: Mapping[str, int] | None = None
) -> MemoryPlan:
    """Plan the outputs of all kernels that can write into a buffer they are given.

    order: every node in the order of execution, host nodes included.  keep: values needed up to a position (FOREVER for
    fetches) beyond their readers in `order`.  ends: by name of a node that runs beside others, the position before which it has
    ended; what it reads and writes is its own up to there.
    """
    ends = ends or {}
    last_use = _last_uses(order, keep or {}, ends)
    buffers = _buffers(graph, order, last_use, ends)
    return _assign(buffers)


def plan_program(
    graph: Graph, order: Sequence[Item], reads: Mapping[HostCall, Sequence[Value]], ends: Mapping[str, int]
) -> MemoryPlan:
    """The plan of a whole program; host calls take part as readers of what they are fed.

    reads: the values that each call is fed or waits for.  ends: as in `plan_memory`.
    """
    nodes = [_reader(item, reads[item]) if isinstance(item, HostCall) else item for item in order]
    return plan_memory(graph, nodes, dict.fromkeys(graph.fetches, FOREVER), ends)


def _reader(call: HostCall, values: Sequence[Value]) -> Node:
    return Node(f"^call/{call.nodes[0]}", "_HostCall", list(values), host_reason="host")


def _last_uses(order: Sequence[Node], keep: Mapping[Value, int], ends: Mapping[str, int]) -> dict[Value, int]:
    """Position of the last step that may touch the memory of a value; views prolong the life of what they show."""
    last: dict[Value, int] = dict(keep)
    for position in range(len(order) - 1, -1, -1):
        node = order[position]
        end = ends.get(node.name, position)
        if may_alias(node):
            end = max([end, *(last.get(Value(node.name, i), -1) for i in range(len(node.outputs)))])
        for value in node.inputs:
            last[value] = max(last.get(value, -1), end)
    return last


def _buffers(graph: Graph, order: Sequence[Node], last_use: Mapping[Value, int], ends: Mapping[str, int]) -> list[_Buffer]:
    planned: dict[Value, _Buffer] = {}
    origins: dict[Value, frozenset[Value]] = {}
    for position, node in enumerate(order):
        inherited: frozenset[Value] = frozenset().union(*(origins.get(v, frozenset()) for v in node.inputs))
        for index, spec in enumerate(node.outputs):
            value = Value(node.name, index)
            has_place = is_filled(node, spec)
            origins[value] = frozenset([value]) if has_place else inherited
            if has_place:
                n_bytes = spec.n_bytes
                shares = _reusable(graph, node, position, planned, origins, last_use) if index == 0 else None
                end = max(last_use.get(value, position), ends.get(node.name, position))
                planned[value] = _Buffer(value, n_bytes, position, end, shares)
    return list(planned.values())


def _reusable(
    graph: Graph, node: Node, position: int, planned: Mapping[Value, _Buffer],
    origins: Mapping[Value, frozenset[Value]], last_use: Mapping[Value, int],
) -> Value | None:  # fmt: skip
    """The input whose buffer output 0 may take over: dead after this node, and no other input looks into it."""
    for index in all_kernels()[node.op].inplace:
        if index >= len(node.inputs):
            continue
        value, spec, out = node.inputs[index], graph.spec(node.inputs[index]), node.outputs[0]
        same = spec.is_complete and spec.shape == out.shape and spec.dtype == out.dtype
        others = [v for i, v in enumerate(node.inputs) if i != index]
        private = not any(value in origins.get(v, frozenset()) for v in others)
        if same and private and value in planned and last_use[value] == position:
            return value
    return None


class _Arena:
    """Free blocks by offset; blocks are given out best-fit and merged when they come back."""

    def __init__(self) -> None:
        self.free: list[tuple[int, int]] = []
        self.size = 0

    def take(self, n_bytes: int) -> int:
        fitting = [(size, offset) for offset, size in self.free if size >= n_bytes]
        if fitting:
            size, offset = min(fitting)
            self.free.remove((offset, size))
            if size > n_bytes:
                bisect.insort(self.free, (offset + n_bytes, size - n_bytes))
            return offset
        return self._grow(n_bytes)

    def _grow(self, n_bytes: int) -> int:
        """Allocates at the end of the arena, in a last free block as far as it reaches."""
        start = self.size
        if self.free and sum(self.free[-1]) == self.size:
            start = self.free.pop()[0]
        self.size = start + n_bytes
        return start

    def give_back(self, offset: int, n_bytes: int) -> None:
        at = bisect.bisect(self.free, (offset, n_bytes))
        if at < len(self.free) and offset + n_bytes == self.free[at][0]:
            n_bytes += self.free.pop(at)[1]
        if at and sum(self.free[at - 1]) == offset:
            before, size = self.free.pop(at - 1)
            offset, n_bytes = before, size + n_bytes
        bisect.insort(self.free, (offset, n_bytes))


def _assign(buffers: Sequence[_Buffer]) -> MemoryPlan:
    """Walk through time; a buffer that takes over another's starts where that one lies."""
    plan, arena = MemoryPlan(), _Arena()
    by_value = {buffer.value: buffer for buffer in buffers}
    taken_over = {buffer.shares for buffer in buffers if buffer.shares is not None}
    active: list[tuple[int, int, int]] = []  # end, offset, size
    live, peak = 0, 0
    for buffer in buffers:
        while active and active[0][0] < buffer.start:
            _, offset, size = active.pop(0)
            arena.give_back(offset, size)
            live -= size
        size = (buffer.n_bytes // ALIGNMENT_BYTES + 1) * ALIGNMENT_BYTES  # numpy takes arrays that touch for overlapping: no SIMD
        if buffer.shares is not None:
            offset = plan.offsets_bytes[by_value[buffer.shares].value]
        else:
            offset = arena.take(size)
            live += size
        plan.offsets_bytes[buffer.value] = offset
        plan.live_by_position.append((buffer.start, live))
        if live > plan.live_bytes:
            plan.live_bytes, peak = live, buffer.start
        if buffer.value not in taken_over:
            bisect.insort(active, (buffer.end, offset, size))
    plan.arena_bytes = arena.size
    plan.largest = _largest_alive(buffers, peak)
    return plan


def _largest_alive(buffers: Sequence[_Buffer], position: int) -> list[tuple[Value, int]]:
    """The biggest buffers alive at a position, the one made there first."""
    alive = [b for b in buffers if b.start <= position <= b.end and b.shares is None]
    alive.sort(key=lambda b: (b.start != position, -b.n_bytes, b.start))
    return [(b.value, b.n_bytes) for b in alive[:N_LARGEST]]
