"""Before: ReadVariableOp(v), ReadVariableOp(v).  After: one of them, where no write may come between.

Optimizers of Keras 2 read the step's number and the learning rate once for each variable, and what they compute of them is the
same for all: `merge_duplicates` finds that once the reads are one.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from npu_runtime.analysis.effects import conditional_nodes
from npu_runtime.graph.ir import Graph, Node, Value
from npu_runtime.graph.ops import NEXT_ITERATIONS, READING, VARIABLES, Key, variable_key
from npu_runtime.graph.order import followers, predecessors, reached, topological
from npu_runtime.passes.base import graph_pass

FEWEST_READS = 3
"""Reads of a variable that is written, from which on it repays to ask for the order: a slot of an optimizer has two, one before
its update and one behind it."""


@graph_pass
def merge_reads(graph: Graph) -> int:
    """Make one read of those that see the same value of a resource variable; returns how many are gone."""
    users = _users(graph)
    fixed = conditional_nodes(graph) | {value.node for value in graph.fetches} | graph.seen_by_host()
    merged: dict[str, str] = {}
    for handed in users.values():
        for same in _same_reads(graph, handed):
            merged.update((read.name, same[0].name) for read in same[1:] if read.name not in fixed)
    if merged:
        _replace(graph, merged)
    return len(merged)


def _users(graph: Graph) -> dict[Key, list[Node]]:
    """The nodes that are handed each resource variable, in an order in which they may run.

    A loop that stays on the host still has its frame, which goes back by nodes that are handed no variable.
    """
    found: dict[Key, list[Node]] = {}
    for node in topological([node for node in graph if node.op not in NEXT_ITERATIONS]):
        for value in dict.fromkeys(node.inputs):
            source = graph[value.node]
            if source.op in VARIABLES and not source.ref_outputs:
                found.setdefault(variable_key(source), []).append(node)
    return found


def _same_reads(graph: Graph, handed: Sequence[Node]) -> list[list[Node]]:
    """The reads of one variable, in groups that see the same value; none where it goes on to others."""
    reads = [node for node in handed if node.op == "ReadVariableOp" and node.host_reason is None and not node.is_looped]
    writers = [node for node in handed if node.op not in READING]
    if len(reads) < 2 or any(spec.dtype == "resource" for node in writers for spec in node.outputs):
        return []
    if writers and (len(reads) < FEWEST_READS or any(node.is_looped or "loop" in node.attrs for node in writers)):
        return []
    before, after = {node.name: predecessors(node) for node in graph}, followers(graph)
    earlier = [reached([writer.name], before) for writer in writers]
    later = [reached([writer.name], after) for writer in writers]
    groups: dict[Hashable, list[Node]] = {}
    for read in reads:
        sides = tuple(_side(read, ancestors, descendants) for ancestors, descendants in zip(earlier, later, strict=True))
        if None not in sides:
            groups.setdefault((sides, read.attrs.get("dtype")), []).append(read)
    return list(groups.values())


def _side(read: Node, ancestors: set[str], descendants: set[str]) -> bool | None:
    """Whether a read comes before a writer, None where nothing says so."""
    if read.name in ancestors:
        return True
    return False if read.name in descendants else None


def _replace(graph: Graph, merged: dict[str, str]) -> None:
    """Let the first read serve all. Who read another one, or waited for it, still waits for what that waited for."""
    waits = {name: graph[name].controls for name in merged}
    for node in graph:
        gone = [name for name in (*(value.node for value in node.inputs), *node.controls) if name in merged]
        if gone:
            node.inputs = [Value(merged.get(value.node, value.node), value.output) for value in node.inputs]
            controls = [merged.get(name, name) for name in node.controls]
            controls += [merged.get(name, name) for one in gone for name in waits[one]]
            node.controls = list(dict.fromkeys(controls))
    graph.targets = list(dict.fromkeys(merged.get(name, name) for name in graph.targets))
    for name in merged:
        del graph.nodes[name]
