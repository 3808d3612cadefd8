"""Before: one pruned graph.  After: an alternation of host calls and device segments that respects every edge.

IteratorGetNext(host) -> Conv2D(device) -> ScalarSummary(host)   becomes   host 0 | device 1 | host 2
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from npu_runtime.analysis.host_values import (
    is_free_constant,
    is_handle_source,
    is_memory_of_host,
    is_returned_reference,
    returns_reference,
    runs_on_host,
)
from npu_runtime.analysis.liveness import in_order, liveness_before, liveness_of_groups, sources
from npu_runtime.graph.disjoint import DisjointSets
from npu_runtime.graph.ir import Graph, Node, Value
from npu_runtime.graph.ops import FEED, HostCall, Liveness


@dataclass
class Partition:
    """times: segment of every node.  calls: host calls by time, inner branches last.  liveness: of every node."""

    times: dict[str, int] = field(default_factory=dict)
    calls: list[HostCall] = field(default_factory=list)
    liveness: dict[str, Liveness] = field(default_factory=dict)

    @property
    def has_branches(self) -> bool:
        return any(self.liveness.values())


def partition(graph: Graph, groups: DisjointSets) -> Partition:
    """Assign every node its segment; nodes of one atomic group get one host call.

    graph: pruned, `host_reason` set on host nodes.  groups: what must not be parted, see placement.atomic_groups.
    """
    order = in_order(graph, groups)
    result = Partition(liveness=liveness_of_groups(graph, order))
    for members in order:
        time = max(_earliest(graph, node, members, result.times) for node in members)
        result.times.update((node.name, time) for node in members)
    _delay_host_nodes(graph, order, result.times)
    result.calls = _collect_calls(graph, result)
    return result


def place_added(graph: Graph, parts: Partition) -> None:
    """Give the device nodes that passes have added since their segment: as early, and alive, as what they read."""
    for node in graph:
        if node.name not in parts.times:
            parts.times[node.name] = _earliest(graph, node, [node], parts.times)
            parts.liveness[node.name] = liveness_before(graph, node, parts.liveness, frozenset())


def _earliest(graph: Graph, node: Node, members: list[Node], times: Mapping[str, int]) -> int:
    """First segment of the node's own side after all its predecessors; a control edge between host nodes waits too."""
    inside = {member.name for member in members}
    on_host = runs_on_host(node)
    time = 0 if on_host else 1
    for position, value in enumerate(node.inputs):
        if value.node not in inside:
            waits = is_returned_reference(graph, node, position)
            time = max(time, _after(graph[value.node], times, on_host, is_control=waits))
    for name in sources(graph, node)[len(node.inputs) :]:
        if name not in inside:
            time = max(time, _after(graph[name], times, on_host, is_control=True))
    return time


def _delay_host_nodes(graph: Graph, order: list[list[Node]], times: dict[str, int]) -> None:
    """Move host nodes as late as their readers allow, so that what is only for the host is made in the call that wants it.

    Fewer values cross, and a queue that waits for its next element is asked after the device had its say: a counter that
    has reached its limit ends a step whose queue would wait forever.
    """
    limits: dict[str, int] = {}
    for members in reversed(order):
        node = members[0]
        if len(members) == 1 and runs_on_host(node) and node.name in limits:
            times[node.name] = max(times[node.name], limits[node.name])
        for member in members:
            time, on_host = times[member.name], runs_on_host(member)
            for position, value in enumerate(member.inputs):
                before = 2 * is_returned_reference(graph, member, position) if on_host else 1
                limits[value.node] = min(limits.get(value.node, time), time - before)
            for name in sources(graph, member)[len(member.inputs) :]:
                limits[name] = min(limits.get(name, time), time - 2 if on_host else time - 1)


def _after(producer: Node, times: Mapping[str, int], on_host: bool, is_control: bool) -> int:
    if producer.op == FEED or is_free_constant(producer):
        return 0
    time = times[producer.name]
    if not on_host:
        return time if time % 2 else time + 1
    if time % 2:
        return time + 1
    return time + 2 if is_control else time


def _collect_calls(graph: Graph, result: Partition) -> list[HostCall]:
    found: dict[tuple[int, Liveness], list[str]] = {}
    for node in graph:
        if runs_on_host(node) and (node.name in graph.targets or not is_handle_source(node)):
            found.setdefault((result.times[node.name], result.liveness[node.name]), []).append(node.name)
    ordered = sorted(found.items(), key=lambda item: (item[0][0], len(item[0][1])))
    return [HostCall(time, tuple(names), liveness) for (time, liveness), names in ordered]


def split_prologue(graph: Graph, parts: Partition) -> tuple[Graph, Graph] | None:
    """Part the first host calls from the rest when only running them tells the shapes of what follows.

    Returns (prologue, main): the prologue's fetches are the main graph's last feed nodes, in that order; None when
    every shape is known beforehand.  Source: batches of tf.data have an unknown first extent unless the tail is dropped.
    """
    first = {name for call in parts.calls if call.time == 0 and not call.liveness for name in call.nodes}
    early = first | _handles_of(graph, first)
    kept = _in_both(graph, first)
    crossing = _crossing(graph, first, kept)
    if all(graph.spec(value).is_complete or graph.spec(value).dtype == "string" for value in crossing):
        return None
    prologue = Graph(fetches=crossing, targets=[name for name in graph.nodes if name in first])
    main = Graph(fetches=list(graph.fetches), targets=[name for name in graph.targets if name not in first])
    replaced = {value: Value(f"^host/{value}") for value in crossing}
    for node in graph:
        if node.name in early or node.op == FEED or is_free_constant(node):
            prologue.add(node)
        if node.name not in first or node.name in kept:
            main.add(_without(graph, node, first, replaced))
    for value, source in replaced.items():
        main.add(Node(source.node, FEED, attrs={"value": value}, outputs=[graph.spec(value)]))
    main.fetches = [replaced.get(value, value) for value in graph.fetches]
    return prologue, main


def _handles_of(graph: Graph, names: set[str]) -> set[str]:
    """Names of the makers of the handles that nodes use, of makers too."""
    found: set[str] = set()
    waiting = [value.node for name in names for value in graph[name].inputs]
    while waiting:
        node = graph[waiting.pop()]
        if is_handle_source(node) and node.name not in found:
            found.add(node.name)
            waiting += [value.node for value in node.inputs]
    return found


def _in_both(graph: Graph, first: set[str]) -> set[str]:
    """Names of the variables in the prologue, and of what shows their memory, that the rest is handed: these are no values."""
    waiting = [v for node in graph if node.name not in first for i, v in enumerate(node.inputs) if _stays(graph, node, i)]
    kept: set[str] = set()
    while waiting:
        value = _variable_of(graph, waiting.pop())
        if value.node in first and value.node not in kept:
            kept.add(value.node)
            waiting += graph[value.node].inputs
    return kept


def _stays(graph: Graph, node: Node, position: int) -> bool:
    """Whether a node is handed the memory of a ref variable of the host, which is the same before and behind the prologue."""
    is_reference = runs_on_host(node) and position in node.ref_inputs
    return is_reference or is_memory_of_host(graph, node.inputs[position])


def _variable_of(graph: Graph, value: Value) -> Value:
    """The variable that the updates which return a reference were handed; any other value itself."""
    while returns_reference(graph, value):
        value = graph[value.node].inputs[0]
    return value


def _crossing(graph: Graph, inside: set[str], kept: set[str]) -> list[Value]:
    """Values made inside that somebody outside reads, in graph order."""
    outside = [node for node in graph if node.name not in inside]
    read = {v for node in outside for i, v in enumerate(node.inputs) if v.node not in kept and not _is_resolved(graph, node, i)}
    wanted = read | set(graph.fetches)
    made = [Value(node.name, i) for node in graph if node.name in inside for i in range(len(node.outputs))]
    return [value for value in made if value in wanted]


def _is_resolved(graph: Graph, node: Node, position: int) -> bool:
    return position in node.ref_inputs and returns_reference(graph, node.inputs[position])


def _without(graph: Graph, node: Node, gone: set[str], replaced: Mapping[Value, Value]) -> Node:
    inputs = list(node.inputs)
    for position, value in enumerate(inputs):
        if value.node in gone and _stays(graph, node, position):
            inputs[position] = _variable_of(graph, value)
        else:
            inputs[position] = replaced.get(value, value)
    return replace(node, inputs=inputs, controls=[name for name in node.controls if name not in gone])
