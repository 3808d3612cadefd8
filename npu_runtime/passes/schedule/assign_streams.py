"""Before: nodes in the order of execution.  After: each with its engine, subgraph and stream, and the events between streams.

MatMul (AI Core, stream 0) -> HcomAllReduce (HCCL, stream 1) -> ApplyMomentum (AI Core, stream 0) needs two events: what is on
one stream runs in order, what is on two does not.  Source: the graph engine cuts a graph into subgraphs of one engine each,
gives collectives streams of their own and attaches what the AI CPU and the runtime do to the stream of a neighbour.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from npu_formats.device.chip import Chip
from npu_runtime.device.engines import COLLECTIVE, LOCAL, engine_of
from npu_runtime.graph.clusters import Clusters
from npu_runtime.graph.ir import Graph, Node
from npu_runtime.graph.ops import WHILE
from npu_runtime.graph.order import predecessors, topological
from npu_runtime.kernels.base import all_kernels
from npu_runtime.passes.schedule.stream_numbers import assign_to_streams


@dataclass(frozen=True)
class Event:
    """`waits` does not start before `records` has ended; both are names of nodes, on different streams."""

    records: str
    waits: str


@dataclass
class StreamPlan:
    """engines: of every device node.  subgraphs: of one engine each, maximal: joining two neighbours of one engine would
    close a cycle.  streams: of every node that is launched.  events: between streams, in the order of execution.
    """

    engines: dict[str, str] = field(default_factory=dict)
    subgraphs: list[list[str]] = field(default_factory=list)
    streams: dict[str, int] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)

    @property
    def n_streams(self) -> int:
        return len(set(self.streams.values()))


def assign_streams(graph: Graph, order: Sequence[Node], chip: Chip, limits: Mapping[str, int] | None = None) -> StreamPlan:
    """Plan the device nodes of a program.

    order: the nodes that are steps, as they are run.  What a loop runs inside is on the loop's own stream.  limits: the most
    streams of an engine, where it may have more than usual or, for collectives, fewer than groups.
    """
    engines = {node.name: _engine(node, chip) for node in graph if node.host_reason is None}
    launched = [node for node in order if node.host_reason is None and engines[node.name] != LOCAL]
    sources = _sources(graph, engines)
    plan = StreamPlan(engines, find_subgraphs([node.name for node in launched], engines, sources))
    groups = {node.name: str(node.attrs.get("group") or "") for node in launched if engines[node.name] == COLLECTIVE}
    plan.streams = assign_to_streams(plan.subgraphs, engines, sources, groups, limits or {})
    plan.events = find_events([node.name for node in launched], plan.streams, sources)
    for node in launched:
        if node.op == WHILE:
            _add_inside(plan, node, chip)
    return plan


def _engine(node: Node, chip: Chip) -> str:
    made = all_kernels().get(node.op)
    return engine_of(node.op, node.attrs, made.unit if made else "scalar", chip)


def _add_inside(plan: StreamPlan, loop: Node, chip: Chip) -> None:
    for node in loop.attrs["loop"].graph:
        plan.engines[node.name] = _engine(node, chip)
        if plan.engines[node.name] != LOCAL:
            plan.streams[node.name] = plan.streams[loop.name]
        if node.op == WHILE:
            _add_inside(plan, node, chip)


def _sources(graph: Graph, engines: Mapping[str, str]) -> dict[str, frozenset[str]]:
    """The launched nodes that each node waits for, through local ones; what the host makes is there before the launch."""
    found: dict[str, frozenset[str]] = {}
    for node in topological([node for node in graph if node.host_reason is None]):
        reached: set[str] = set()
        for name in predecessors(node):
            if name in found:
                reached |= {name} if engines[name] != LOCAL else found[name]
        found[node.name] = frozenset(reached)
    return found


def find_subgraphs(order: Sequence[str], engines: Mapping[str, str], sources: Mapping[str, frozenset[str]]) -> list[list[str]]:
    """Maximal subgraphs of one engine without a cycle between them, in the order of their first nodes."""
    clusters = Clusters()
    for name in order:
        clusters.add(name, sorted(sources[name]))
        for source in sorted(sources[name]):
            if engines[source] == engines[name]:
                clusters.join(name, source)
    return clusters.members()


def find_events(order: Sequence[str], streams: Mapping[str, int], sources: Mapping[str, frozenset[str]]) -> list[Event]:
    """The events that order nodes of different streams; an event holds for all that runs after it on both streams."""
    position = {name: index for index, name in enumerate(order)}
    waited: dict[tuple[int, int], int] = {}
    events = []
    for name in order:
        newest: dict[int, str] = {}
        for source in sources[name]:
            if streams[source] != streams[name] and position[source] >= position.get(newest.get(streams[source], ""), -1):
                newest[streams[source]] = source
        for stream, source in sorted(newest.items()):
            if position[source] > waited.get((streams[name], stream), -1):
                waited[streams[name], stream] = position[source]
                events.append(Event(source, name))
    return events


def remark(plan: StreamPlan, node: Node) -> str:
    """The remark on a node in a dump of the graph: engine, stream, and the nodes that it waits for by events."""
    if node.name not in plan.engines:
        return ""
    stream = f", stream {plan.streams[node.name]}" if node.name in plan.streams else ""
    waits = "".join(f", waits for {event.records}" for event in plan.events if event.waits == node.name)
    return f"{plan.engines[node.name]}{stream}{waits}"


def describe(plan: StreamPlan) -> dict[str, Any]:
    """Figures for the run log: nodes by engine, subgraphs, streams and events."""
    counts: dict[str, int] = {}
    for engine in plan.engines.values():
        counts[engine] = counts.get(engine, 0) + 1
    return {
        "nodes": dict(sorted(counts.items())),
        "subgraphs": len(plan.subgraphs),
        "streams": plan.n_streams,
        "events": len(plan.events),
    }
