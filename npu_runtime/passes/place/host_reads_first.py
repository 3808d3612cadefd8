"""Before: what a run needs.  After: what touches a variable of the host does so in one order, reads first where they may be.

rate = cast(count) * 0.1; assign_add(count, 1)      run together, the rate is that of the count which the step began with

The calls of the host run in the order of the segments, and inside a call TensorFlow starts where it likes. So two nodes of which
one may change what the other looks at, and that no edge orders, get an order here, that of `reads_first`: as they were created,
or the read first where it is ready as soon. It parts their calls. What looks or writes in a branch has its place in it, too: the
order is one of times, and nobody is dead because somebody before him is.
A ref variable that is fetched is shown as it is at the end: TensorFlow hands out the variable's memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from npu_runtime.analysis.host_values import is_memory_of_host, returns_reference
from npu_runtime.analysis.liveness import in_order
from npu_runtime.analysis.variable_accesses import takes_in, variable_inputs
from npu_runtime.graph.disjoint import DisjointSets
from npu_runtime.graph.ir import Graph, Node, Value
from npu_runtime.graph.ops import LOOP_OPS, PASSING, READING, VARIABLES, Key, variable_key
from npu_runtime.graph.order import predecessors
from npu_runtime.passes.place.partition import Partition
from npu_runtime.passes.schedule.reads_first import Stretch

_GROUP = "_Group"
_NONE: frozenset[Key] = frozenset()


def host_reads_first(graph: Graph, groups: DisjointSets) -> int:
    """Say of nodes that touch variables of the host which others they come behind; returns how often that was needed.

    graph: pruned, `host_reason` set on host nodes; to be partitioned then.  groups: what must not be parted; such a group, as a
    loop, is one node here.
    """
    if not any(_is_on_host(node) for node in graph):
        return 0
    touches, stretch, heads = _HostAccesses(graph), Stretch(), dict[str, str]()
    for members in in_order(graph, groups):
        head = members[0]
        heads.update((node.name, head.name) for node in members)
        before = {heads[name] for node in members for name in predecessors(node) if name in heads} - {head.name}
        one = Node(head.name, head.op if len(members) == 1 else _GROUP, controls=sorted(before))
        stretch.add(one, *touches.of(members))
    return _keep_order(graph, stretch)


def _keep_order(graph: Graph, stretch: Stretch) -> int:
    """Adds control edges that keep the program order of nodes that touch a variable, unless other edges do so already."""
    bits = {name: 1 << i for i, name in enumerate({**stretch.looks, **stretch.writes})}
    before: dict[str, int] = {}
    """Bits of the nodes before each node, by its name."""
    users: dict[Key, _Users] = {}
    n_edges = 0
    for node in stretch.ordered():
        known = 0
        for name in node.controls:
            known |= before[name] | bits.get(name, 0)
        for key in sorted(stretch.looks.get(node.name, _NONE) | stretch.writes.get(node.name, _NONE)):
            for name in users.setdefault(key, _Users()).before(node.name, key in stretch.writes.get(node.name, _NONE)):
                if not known & bits[name]:
                    graph[node.name].later_than.append(name)
                    known |= before[name] | bits[name]
                    n_edges += 1
        before[node.name] = known
    return n_edges


@dataclass
class _Users:
    """The nodes that touched a variable last, as all are gone through in order."""

    writer: list[str] = field(default_factory=list)
    lookers: list[str] = field(default_factory=list)
    """Since the last writer."""

    def before(self, name: str, is_writer: bool) -> list[str]:
        """The nodes that have to come before a node, which is noted."""
        found = [*self.writer, *self.lookers] if is_writer else list(self.writer)
        if is_writer:
            self.writer, self.lookers = [name], []
        else:
            self.lookers.append(name)
        return found


class _HostAccesses:
    """The variables of the host that nodes look at, and those that they may change, asked of all nodes, producers first."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._shown: dict[Value, frozenset[Key]] = {}
        """Variables that a value is, or whose memory."""

    def of(self, members: Sequence[Node]) -> tuple[frozenset[Key], frozenset[Key]]:
        """The variables that a group looks at and does not change, and those that it may change."""
        looks, writes = _NONE, _NONE
        for node in members:
            written = self._written(node)
            looks |= {key for key in self._of(node, range(len(node.inputs))) if node.op not in PASSING and takes_in(node, key)}
            writes |= written
            self._note_shown(node)
        return looks - writes, writes

    def _written(self, node: Node) -> frozenset[Key]:
        is_writer = node.op not in PASSING | READING | LOOP_OPS
        return self._of(node, variable_inputs(self._graph, node)) if is_writer else _NONE

    def _note_shown(self, node: Node) -> None:
        if _is_on_host(node):
            self._shown[Value(node.name)] = frozenset([variable_key(node)])
            return
        is_passing = node.op in PASSING | LOOP_OPS
        shown = self._of(node, range(len(node.inputs)) if is_passing else sorted(node.ref_inputs))
        for output in range(len(node.outputs)) if shown else ():
            if is_passing or output in node.ref_outputs:
                self._shown[Value(node.name, output)] = shown

    def _of(self, node: Node, positions: Sequence[int]) -> frozenset[Key]:
        return _NONE.union(*(self._shown.get(node.inputs[position], _NONE) for position in positions))


def fetch_last_state(graph: Graph, parts: Partition) -> None:
    """Fetch what the last update returns in the place of a ref variable and of reads of it, which an earlier call may show."""
    if not any(is_memory_of_host(graph, _variable(graph, value)) for value in graph.fetches):
        return
    last: dict[Value, Value] = {}
    for node in sorted(graph, key=lambda node: parts.times[node.name]):
        value = Value(node.name)
        if node.inputs and returns_reference(graph, value) and not parts.liveness[node.name]:
            last[_variable(graph, value)] = value
    graph.fetches = [last.get(_variable(graph, value), value) for value in graph.fetches]


def _variable(graph: Graph, value: Value) -> Value:
    """The variable that a value is the memory of; any other value itself."""
    while returns_reference(graph, value) or (graph[value.node].op == "Identity" and is_memory_of_host(graph, value)):
        value = graph[value.node].inputs[0]
    return value


def _is_on_host(variable: Node) -> bool:
    return variable.op in VARIABLES and variable.host_reason is not None
