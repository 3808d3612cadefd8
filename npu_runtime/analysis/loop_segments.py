"""A step with loops that are run turn by turn: the parts before, between and behind them, and what goes from part to part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from npu_runtime.analysis.host_values import is_free_constant
from npu_runtime.analysis.loop_frames import loop_frames
from npu_runtime.graph.ir import Graph, Node, Value
from npu_runtime.graph.ops import DRIVEN_LOOP, FEED, HANDLES, HOST_RESOURCE, VARIABLES
from npu_runtime.graph.order import predecessors

_ANYWHERE = VARIABLES | {FEED, HOST_RESOURCE, "Placeholder"}
"""Ops of nodes that each part has for itself."""


@dataclass(frozen=True)
class Segment:
    """A part of a step.

    fetches: what it gives to later parts, to the loop behind it, or to whoever asked.  targets: nodes that it runs for their
    effects.  ran: names of the nodes of earlier parts.  loop: the loop that is run behind it, or None.
    """

    fetches: tuple[Value, ...]
    targets: tuple[str, ...]
    ran: frozenset[str]
    loop: str | None


def loop_segments(graph: Graph, fetches: Sequence[Value], targets: Sequence[str]) -> list[Segment]:
    """The parts of a step, in order; one part without a loop when there is none to be driven."""
    ways = _Ways(graph)
    needed = ways.ancestors([*(value.node for value in fetches), *targets], frozenset())
    loops = [node for node in graph if node.op == DRIVEN_LOOP and node.name in needed]
    parts: list[frozenset[str]] = []
    ran: frozenset[str] = frozenset()
    for loop in loops:
        parts.append(ways.ancestors(predecessors(loop), ran))
        ran |= parts[-1] | {loop.name}
    parts.append(needed - ran)
    return [_segment(graph, parts, number, loops, fetches, targets) for number in range(len(parts))]


class _Ways:
    """The ways to nodes of a graph, of which loops of TensorFlow 1's kind are whole stretches: none may be cut."""

    def __init__(self, graph: Graph) -> None:
        self._graph, self._frames = graph, loop_frames(graph)
        self._members: dict[str, list[str]] = {}
        for name, frame in self._frames.items():
            self._members.setdefault(frame, []).append(name)

    def ancestors(self, names: Sequence[str], ran: frozenset[str]) -> frozenset[str]:
        """These nodes and all before them, but for those that ran already."""
        found: set[str] = set()
        frames: set[str] = set()
        waiting = list(names)
        while waiting:
            name = waiting.pop()
            if name in found or name in ran:
                continue
            found.add(name)
            waiting += predecessors(self._graph[name])
            frame = self._frames.get(name, "")
            if frame not in frames:
                frames.add(frame)
                waiting += self._members.get(frame, ())
        return frozenset(found)


def _segment(
    graph: Graph,
    parts: Sequence[frozenset[str]],
    number: int,
    loops: Sequence[Node],
    fetches: Sequence[Value],
    targets: Sequence[str],
) -> Segment:
    own = parts[number]
    loop = loops[number] if number < len(loops) else None
    ran = frozenset().union(*parts[:number], (one.name for one in loops[:number]))
    if loop is None:
        return Segment(tuple(fetches), tuple(name for name in targets if name not in ran), ran, None)
    later = frozenset().union(*parts[number + 1 :])
    read = [value for node in graph if node.name in later for value in node.inputs]
    for_loops = [value for one in loops[number:] for value in one.inputs]
    given = dict.fromkeys(
        v for v in (*for_loops, *read, *fetches) if v.node in own and (_crosses(graph, v) or _is_list(graph, v, for_loops))
    )
    waited = [name for name in (*loop.controls, *targets) if name in own]
    return Segment(tuple(given), tuple(dict.fromkeys(waited)), ran, loop.name)


def _crosses(graph: Graph, value: Value) -> bool:
    node = graph[value.node]
    return graph.spec(value).dtype not in HANDLES and node.op not in _ANYWHERE and not is_free_constant(node)


def _is_list(graph: Graph, value: Value, for_loops: Sequence[Value]) -> bool:
    """Whether a value is a list of tensors that a loop is given."""
    return value in for_loops and graph.spec(value).dtype in HANDLES
