"""Before: what a run needs.  After: updates of the host's variables wait for reads that nothing orders against them.

rate = cast(count) * 0.1; assign_add(count, 1)      run together, the rate is that of the count which the step began with

The calls of the host run in the order of the segments, and inside a call TensorFlow starts where it likes. So the rule of
`reading_order` (what has fewer nodes before it comes first) becomes a control edge here, which parts the two calls.
A ref variable that is fetched is shown as it is at the end: TensorFlow hands out the variable's memory.
"""

from __future__ import annotations

from collections.abc import Sequence

from npu_runtime.executor.holding import PASSING, READING, variable_inputs
from npu_runtime.executor.reading_order import FORWARDED, takes_in
from npu_runtime.graph.disjoint import DisjointSets
from npu_runtime.graph.ir import Graph, Node, Value
from npu_runtime.graph.order import followers, predecessors, reached
from npu_runtime.passes.partition import Partition, in_order, returns_reference
from npu_runtime.passes.placement import VARIABLES, Key, variable_key
from npu_runtime.passes.variable_writers import HANDED_ON


def host_reads_first(graph: Graph, parts: Partition, groups: DisjointSets) -> int:
    """Give updates on the host control edges from the reads that come before them; returns how many.

    graph: pruned, `host_reason` set on host nodes.  parts: of this graph, to be made anew if there are such edges.
    groups: what must not be parted; these keep their order, and so do loops. What may be dead keeps nobody waiting who is not.
    """
    if not any(_is_on_host(node) for node in graph):
        return 0
    order = in_order(graph, groups)
    depths = _depths(order)
    lookers, writers = _touching(graph, [members[0] for members in order if len(members) == 1 and not members[0].is_looped])
    after, n_edges = followers(graph), 0
    for writer, key in writers:
        behind = reached([writer.name], after) | {writer.name, *writer.controls}
        alive = [node.name for node in lookers.get(key, []) if parts.liveness[node.name] <= parts.liveness[writer.name]]
        sooner = [name for name in alive if depths[name] <= depths[writer.name] and name not in behind]
        writer.controls += sooner
        n_edges += len(sooner)
    return n_edges


def fetch_last_state(graph: Graph, parts: Partition) -> None:
    """Fetch what the last update returns in the place of the ref variable itself, which an earlier call may show."""
    if not any(_is_on_host(graph[value.node]) for value in graph.fetches):
        return
    last: dict[Value, Value] = {}
    for node in sorted(graph, key=lambda node: parts.times[node.name]):
        value = Value(node.name)
        if node.inputs and returns_reference(graph, value) and not parts.liveness[node.name]:
            last[_variable(graph, value)] = value
    graph.fetches = [last.get(value, value) for value in graph.fetches]


def _variable(graph: Graph, value: Value) -> Value:
    while returns_reference(graph, value):
        value = graph[value.node].inputs[0]
    return value


def _depths(order: Sequence[Sequence[Node]]) -> dict[str, int]:
    """By name, how many nodes run one after another up to this one; those of a group are as deep as the deepest of them."""
    depths: dict[str, int] = {}
    for members in order:
        depth = max((depths.get(name, 0) for node in members for name in predecessors(node)), default=0)
        is_free = len(members) == 1 and members[0].op in FORWARDED
        depths.update((node.name, depth + (not is_free)) for node in members)
    return depths


def _touching(graph: Graph, nodes: Sequence[Node]) -> tuple[dict[Key, list[Node]], list[tuple[Node, Key]]]:
    """By variable of the host, the nodes that take its content in; and those that may change one, with the variable."""
    lookers, writers = dict[Key, list[Node]](), list[tuple[Node, Key]]()
    for node in nodes:
        handed = variable_inputs(graph, node) if node.op not in PASSING | READING else ()
        for position, value in enumerate(node.inputs):
            key = _variable_shown(graph, value)
            if key is not None and position in handed:
                writers.append((node, key))
            elif key is not None and node.op not in PASSING and takes_in(node, key):
                lookers.setdefault(key, []).append(node)
    return lookers, writers


def _variable_shown(graph: Graph, value: Value) -> Key | None:
    """The variable of the host that a value is, or whose memory; None for all else."""
    while graph[value.node].op in HANDED_ON or returns_reference(graph, value):
        value = graph[value.node].inputs[0]
    node = graph[value.node]
    return variable_key(node) if _is_on_host(node) else None


def _is_on_host(variable: Node) -> bool:
    return variable.op in VARIABLES and variable.host_reason is not None
