"""Before: every step waits for the one before it.  After: steps whose results nobody needs yet run beside the next ones.

Conv2DBackpropInput, Conv2DBackpropFilter*, FusedBatchNormGrad, ...     * on a worker, until what follows has taken as long

A worker then has something to do while the main thread runs what cannot be shared out. Which steps these are, and before which
step each must have ended, is fixed here, so that memory can be planned for it; times are estimated and decide no value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from math import inf

from npu_runtime.executor.durations import seconds_of
from npu_runtime.executor.holding import writes_variables
from npu_runtime.executor.touching import Item, Touches
from npu_runtime.graph.ir import Graph, Node
from npu_runtime.graph.order import predecessors
from npu_runtime.kernels.base import all_kernels
from npu_runtime.passes.effects import is_pure
from npu_runtime.passes.node_work import node_work
from npu_runtime.passes.partition import HostCall

LEAST_SECONDS = 60e-6
"""A step that takes less is not worth a worker's time to begin and to end."""
MOST_BEHIND_SECONDS = 2e-3
"""With so much before it the worker is given nothing more: what waits there needs memory and could as well be shared out."""
SPARE = 0.3
"""The part of the estimate that a step may take longer before somebody has to wait for it."""


@dataclass
class Overlap:
    """order: steps as they are begun.  ends: by name of a step that runs beside others, the position before which it ends;
    the length of `order` for the end of the run."""

    order: list[Item]
    ends: dict[str, int] = field(default_factory=dict)


def plan_overlap(graph: Graph, order: Sequence[Item]) -> Overlap:
    """Choose the steps that run beside others, out of an order that respects every edge."""
    seconds = [seconds_of(graph, item) for item in order]
    movable = [_may_overlap(graph, item) and t > LEAST_SECONDS for item, t in zip(order, seconds, strict=True)]
    if not any(movable):
        return Overlap(list(order))
    order = _begun_early(graph, order, seconds, movable)
    return _Chosen(graph, order).overlap()


def _may_overlap(graph: Graph, item: Item) -> bool:
    """Kernels that compute values from values, draw random numbers, or change variables that they are handed."""
    if isinstance(item, HostCall) or item.host_reason is not None or item.is_looped:
        return False
    made = all_kernels().get(item.op)
    if made is None:
        return False
    if is_pure(graph, item):
        return made.takes_out or node_work(graph, item) > 0  # others may be views
    return writes_variables(graph, item) or (made.takes_out and _draws(item))


def _draws(node: Node) -> bool:
    """Whether it makes random numbers from a generator of its own."""
    made = all_kernels()[node.op]
    return made.is_stateful and not node.ref_inputs and all(spec.dtype != "resource" for spec in node.outputs)


class _Edges:
    """before: by position in an order, the positions of the steps that a step waits for."""

    def __init__(self, graph: Graph, order: Sequence[Item]) -> None:
        self._graph = graph
        self._position = {name: i for i, item in enumerate(order) for name in _names(item)}
        self._behind: dict[str, frozenset[int]] = {}
        self.before = [self._of(item) for item in order]

    def _of(self, item: Item) -> frozenset[int]:
        nodes = [self._graph[name] for name in item.nodes] if isinstance(item, HostCall) else [item]
        return frozenset().union(*(self._steps(name) for node in nodes for name in predecessors(node)))

    def _steps(self, name: str) -> frozenset[int]:
        """The step that a node is, or those that wait for nothing else than what it waits for, as a constant may."""
        if name in self._position:
            return frozenset([self._position[name]])
        if name not in self._behind:
            self._behind[name] = frozenset()  # for cycles, of which a step is always part
            self._behind[name] = frozenset().union(*(self._steps(earlier) for earlier in predecessors(self._graph[name])))
        return self._behind[name]


def _names(item: Item) -> tuple[str, ...]:
    return item.nodes if isinstance(item, HostCall) else (item.name,)


def _begun_early(graph: Graph, order: Sequence[Item], seconds: list[float], movable: list[bool]) -> list[Item]:
    """Steps that could begin long before they are needed, as random numbers do, moved a little forward."""
    before, touches = _Edges(graph, order).before, Touches(graph, order)
    ends = _first_needed(before, touches)
    start = list(accumulate(seconds, initial=0.0))
    places = [(float(i), i) for i in range(len(order))]
    for i, may_move in enumerate(movable):
        if not may_move or touches.reads[i]:
            continue
        ready = max(before[i], default=-1) + 1
        place, missing = i, 2 * seconds[i] - (start[ends[i]] - start[i + 1])
        while place > ready and start[i] - start[place] < missing:
            place -= 1
        if place < i:
            places[i] = (place - 0.5, i)
    return [order[i] for _, i in sorted(places)]


def _first_needed(before: Sequence[frozenset[int]], touches: Touches) -> list[int]:
    """By position, the first later step that must wait for the one there; the length of the order if none must."""
    n = len(before)
    needed = [n] * n
    for later in range(n - 1, -1, -1):
        for earlier in before[later]:
            needed[earlier] = later
    return [min(needed[i], n if (found := touches.next_conflict(i)) is None else found) for i in range(n)]


class _Chosen:
    """Two clocks, the main thread's and the worker's, go through an order."""

    def __init__(self, graph: Graph, order: list[Item]) -> None:
        self.graph, self.order = graph, order
        self.seconds = [seconds_of(graph, item) for item in order]
        self.needed = _first_needed(_Edges(graph, order).before, Touches(graph, order))
        self.start = list(accumulate(self.seconds, initial=0.0))
        self.main = self.worker = 0.0
        self.open: list[_Open] = []
        self.soonest_needed, self.soonest_latest = len(order), inf
        self.ends: dict[str, int] = {}

    def overlap(self) -> Overlap:
        for i, item in enumerate(self.order):
            self._close(i)
            if self._is_worth_it(i, item):
                begin = max(self.main, self.worker)
                self.worker = begin + self.seconds[i]
                latest = self.worker + SPARE * (self.worker - self.main)
                self.open.append(_Open(_names(item)[0], self.needed[i], self.worker, latest))
                self.soonest_needed = min(self.soonest_needed, self.needed[i])
                self.soonest_latest = min(self.soonest_latest, latest)
            else:
                shared = self.worker <= self.main and self.seconds[i] > LEAST_SECONDS
                self.main += self.seconds[i] / (2 if shared else 1)
        self.ends.update((one.name, len(self.order)) for one in self.open)
        return Overlap(self.order, self.ends)

    def _close(self, position: int) -> None:
        """What has surely ended, and what must have: there the main thread does half of what is left."""
        if position < self.soonest_needed and self.main <= self.soonest_latest:
            return
        for one in self.open:
            if one.needed <= position and one.end > self.main:
                self._move((one.end - self.main) / 2)
        ended = [one for one in self.open if one.needed <= position or one.latest < self.main]
        self.ends.update((one.name, position) for one in ended)
        self.open = [one for one in self.open if one.name not in self.ends]
        self.soonest_needed = min((one.needed for one in self.open), default=len(self.order))
        self.soonest_latest = min((one.latest for one in self.open), default=inf)

    def _move(self, seconds: float) -> None:
        self.main += seconds
        self.worker -= seconds
        for one in self.open:
            one.end -= seconds

    def _is_worth_it(self, position: int, item: Item) -> bool:
        """Whether the worker is free enough, and there is enough else to do before somebody needs it."""
        seconds, needed = self.seconds[position], self.needed[position]
        is_free = self.worker - self.main < MOST_BEHIND_SECONDS
        enough = self.start[needed] - self.start[position + 1] > seconds / 2
        return seconds > LEAST_SECONDS and is_free and enough and _may_overlap(self.graph, item)


@dataclass(eq=False)
class _Open:
    """A step on the worker.  needed: the position before which it must have ended.  end, latest: seconds on the clocks."""

    name: str
    needed: int
    end: float
    latest: float
