"""Before: every step waits for the one before it.  After: steps whose results nobody needs yet run beside the next ones.

Conv2DBackpropInput, Conv2DBackpropFilter*, FusedBatchNormGrad, ...     * on a worker, until what follows has taken as long

A worker then has something to do while the main thread runs what cannot be shared out. Which steps these are, and before which
step each must have ended, is fixed here, so that memory can be planned for it; times are estimated and decide no value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from npu_runtime.analysis.effects import is_pure
from npu_runtime.analysis.node_work import node_work
from npu_runtime.analysis.step_seconds import seconds_of
from npu_runtime.analysis.variable_accesses import VariableAccesses, writes_variables
from npu_runtime.graph.ir import Graph, Node
from npu_runtime.graph.ops import HostCall, Item
from npu_runtime.graph.order import predecessors, topological
from npu_runtime.kernels.base import Kernel, all_kernels

LEAST_SECONDS = 150e-6
"""Seconds of the shortest step that is worth a worker's time to begin and to end."""
MOST_BEHIND_SECONDS = 2e-3
"""Seconds of work before the worker with which it is given nothing more: what waits there needs memory and could as well be
shared out."""
SPARE = 0.3
"""The share of its estimate that a step may take longer before another one has to wait for it."""


@dataclass
class Overlap:
    """order: steps as they are begun.  ends: by name of a step that runs beside others, the position before which it ends;
    the length of `order` for the end of the run."""

    order: list[Item]
    ends: dict[str, int] = field(default_factory=dict)


def plan_overlap(graph: Graph, order: Sequence[Item]) -> Overlap:
    """Choose the steps that run beside others, out of an order that respects every edge."""
    seconds = [seconds_of(graph, item) for item in order]
    may_overlap = [t > LEAST_SECONDS and _may_overlap(graph, item) for item, t in zip(order, seconds, strict=True)]
    if not any(may_overlap):
        return Overlap(list(order))
    before, touches = _before(graph, order), VariableAccesses(graph, order)
    after = _after(before, touches)
    steps = [
        _Step(item, seconds[i], may_overlap[i], may_overlap[i] and not touches.reads[i], before[i], after[i])
        for i, item in enumerate(order)
    ]
    begun = _begun_early(steps)
    return _Clocks([steps[i] for i in begun], _first_needed(steps, begun)).overlap()


@dataclass(frozen=True)
class _Step:
    """The facts that decide where a step is begun and where it ends, gathered once.

    may_overlap: whether it may run beside others, and is long enough.  may_move: whether nothing but edges says where it may
    stand.  before / after: steps that it waits for / that wait for it, by their positions in the order that was handed in.
    """

    item: Item
    seconds: float
    may_overlap: bool
    may_move: bool
    before: frozenset[int]
    after: frozenset[int]


def _may_overlap(graph: Graph, item: Item) -> bool:
    """Kernels that compute values from values, draw random numbers, or change variables that they are handed."""
    if isinstance(item, HostCall) or item.host_reason is not None or item.is_looped:
        return False
    made = all_kernels().get(item.op)
    if made is None:
        return False
    if is_pure(graph, item):
        return made.takes_out or node_work(graph, item) > 0  # others may be views
    return writes_variables(graph, item) or (made.takes_out and _draws(item, made))


def _draws(node: Node, made: Kernel) -> bool:
    """Whether it makes random numbers from a generator of its own."""
    return made.is_stateful and not node.ref_inputs and all(spec.dtype != "resource" for spec in node.outputs)


def _before(graph: Graph, order: Sequence[Item]) -> list[frozenset[int]]:
    """The steps that each step waits for, by position; a node that is no step, as a constant, hands on what it waits for."""
    steps = {name: frozenset([i]) for i, item in enumerate(order) for name in _names(item)}
    for node in topological([node for node in graph if node.name not in steps]):  # each cycle has a step in it
        steps[node.name] = _union(steps, [node])
    return [_union(steps, [graph[name] for name in _names(item)]) for item in order]


def _union(steps: Mapping[str, frozenset[int]], nodes: Iterable[Node]) -> frozenset[int]:
    return frozenset().union(*(steps[name] for node in nodes for name in predecessors(node)))


def _names(item: Item) -> tuple[str, ...]:
    return item.nodes if isinstance(item, HostCall) else (item.name,)


def _after(before: Sequence[frozenset[int]], touches: VariableAccesses) -> list[frozenset[int]]:
    """The steps that wait for each step, by position.

    Of those that touch the same variables only the first is among them: none of them is ever moved, so it stays the first.
    """
    after: list[set[int]] = [set() for _ in before]
    for later, waited_for in enumerate(before):
        for earlier in waited_for:
            after[earlier].add(later)
    for position, found in enumerate(after):
        conflict = touches.next_conflict(position)
        found.update(() if conflict is None else (conflict,))
    return [frozenset(found) for found in after]


def _begun_early(steps: Sequence[_Step]) -> list[int]:
    """A new order, as positions in this one: steps that may move, as random numbers may, go forward a little.

    So far that there is about twice their time before they are needed, if their inputs are there by then.
    """
    needed, start = _first_needed(steps, range(len(steps))), _starts(steps)
    places = [(float(i), i) for i in range(len(steps))]
    for i, step in enumerate(steps):
        if not step.may_move:
            continue
        ready = max(step.before, default=-1) + 1
        place, missing = i, 2 * step.seconds - (start[needed[i]] - start[i + 1])
        while place > ready and start[i] - start[place] < missing:
            place -= 1
        if place < i:
            places[i] = (place - 0.5, i)
    return [i for _, i in sorted(places)]


def _first_needed(steps: Sequence[_Step], begun: Sequence[int]) -> list[int]:
    """The first step that waits for each, by position in the order `begun`; the length of the order if none does."""
    position = {i: new for new, i in enumerate(begun)}
    return [min((position[later] for later in steps[i].after), default=len(begun)) for i in begun]


def _starts(steps: Sequence[_Step]) -> list[float]:
    """Seconds at which each step begins if each waits for the one before it, and at which the last one ends."""
    return list(accumulate((step.seconds for step in steps), initial=0.0))


class _Clocks:
    """Two clocks, the main thread's and the worker's, go through an order.

    needed: by position in it, the position before which a step must have ended.
    """

    def __init__(self, steps: Sequence[_Step], needed: Sequence[int]) -> None:
        self.steps, self.needed = steps, needed
        self.start = _starts(steps)
        self.main = self.worker = 0.0
        self.open: list[_Open] = []
        self.ends: dict[str, int] = {}

    def overlap(self) -> Overlap:
        for position, step in enumerate(self.steps):
            self._close(position)
            if step.may_overlap and self._is_worth_it(position, step.seconds):
                self._begin(position, step)
            else:
                is_shared_out = self.worker <= self.main and step.seconds > LEAST_SECONDS
                self.main += step.seconds / (2 if is_shared_out else 1)
        self.ends.update((one.name, len(self.steps)) for one in self.open)
        return Overlap([step.item for step in self.steps], self.ends)

    def _is_worth_it(self, position: int, seconds: float) -> bool:
        """Whether the worker is free enough, and there is enough else to do before somebody needs what it makes."""
        is_free = self.worker - self.main < MOST_BEHIND_SECONDS
        return is_free and self.start[self.needed[position]] - self.start[position + 1] > seconds / 2

    def _begin(self, position: int, step: _Step) -> None:
        self.worker = max(self.main, self.worker) + step.seconds
        latest = self.worker + SPARE * (self.worker - self.main)
        self.open.append(_Open(_names(step.item)[0], self.needed[position], self.worker, latest))

    def _close(self, position: int) -> None:
        """Closes the steps that have surely ended, and those that must have: of the rest the main thread does half."""
        for one in self.open:
            if one.needed <= position and one.end > self.main:
                self._move((one.end - self.main) / 2)
        ended = [one for one in self.open if one.needed <= position or one.latest < self.main]
        if ended:
            self.ends.update((one.name, position) for one in ended)
            self.open = [one for one in self.open if one.name not in self.ends]

    def _move(self, seconds: float) -> None:
        """Moves time from the worker to the main thread."""
        self.main += seconds
        self.worker -= seconds
        for one in self.open:
            one.end -= seconds


@dataclass(eq=False)
class _Open:
    """A step on the worker.  needed: the position before which it must have ended.  end, latest: seconds on the clocks."""

    name: str
    needed: int
    end: float
    latest: float
