"""Before: HcomAllReduce of each gradient.  After: one HcomAllReduce of several gradients, and an Identity for each of them.

A call takes 0.35 ms before the first byte, so the device reduces many gradients in one: those of one group, type and `fusion_id`,
cut by the split of the group (`analysis/gradient_split.py`).  Source: the fusion of HcomAllReduce in the graph engine's open
source, which leaves alone what is no sum, has `fusion` 0, or an unknown shape.

All ranks must fuse alike.  So gradients are ordered before anything is simplified, which depends on the sizes of a rank's batch,
and a call has a tag made of the shapes of its gradients: where two ranks differ all the same, they are told.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from zlib import crc32

from npu_runtime.analysis.gradient_split import parts_of
from npu_runtime.analysis.movable_reads import shows_variable
from npu_runtime.config import GradientSplit
from npu_runtime.graph.ir import Graph, Node, Value
from npu_runtime.graph.order import predecessors, topological
from npu_runtime.passes.base import graph_pass
from npu_runtime.passes.place.partition import Partition

ALL_REDUCE = "_NpuHcomAllReduce"
BY_SPLIT, BY_ID = 1, 2
"""Values of the attribute `fusion`: in the parts of the group's split, or all of one `fusion_id` together.  Source: HCCL."""
AFTER_BACKWARD = "_after_backward"
"""Attribute of calls that the chip's computations wait for.  Source: hcom_parallel, which counts for calls that may fuse."""
_PLACE = "_place"
"""Attribute: how many all-reduces stand before it at most on a way through the graph, and its number among the gradients."""


@graph_pass
def order_all_reduces(graph: Graph) -> int:
    """Note when each gradient is there: by the longest way to it, as a backward pass goes; returns how many there are.

    Of gradients with ways of one length the one that was created later comes first: scripts name their layers forwards.
    """
    levels: dict[str, int] = {}
    depths: dict[str, int] = {}
    for node in topological([node for node in graph if node.host_reason is None]):
        before = [name for name in predecessors(node) if name in depths]
        depths[node.name] = 1 + max((depths[name] for name in before), default=0)
        levels[node.name] = max((levels[name] + (graph[name].op == ALL_REDUCE) for name in before), default=0)
    found = [node for node in graph if node.op == ALL_REDUCE and node.name in depths]
    found.reverse()
    for number, node in enumerate(sorted(found, key=lambda node: depths[node.name])):
        node.attrs[_PLACE] = levels[node.name], number
    return len(found)


def fuse_all_reduces(
    graph: Graph, parts: Partition, splits: Mapping[str, GradientSplit], *, is_parallel: bool = False
) -> int:  # fmt: skip
    """Join the all-reduces of gradients; returns the number of calls that are gone.

    parts: the segments of the graph.  splits: by group; others have the default one.  is_parallel: whether the device runs these
    calls beside the backward pass, which they are marked with.
    """
    for node in graph:
        if node.op == ALL_REDUCE and node.attrs.get("fusion") in (BY_SPLIT, BY_ID):
            node.attrs[AFTER_BACKWARD] = not is_parallel
    gone = 0
    for members in _families(graph, parts):
        for positions in _cut(graph, members, splits):
            joined = [members[position] for position in positions]
            if len(joined) > 1:
                _join(graph, joined)
                gone += len(joined) - 1
    return gone


def _families(graph: Graph, parts: Partition) -> list[list[Node]]:
    """The all-reduces that may share a call, each list in the order in which the gradients are there.

    Those of one level do not wait for each other, so that joining them closes no cycle.
    """
    families: dict[tuple[object, ...], list[Node]] = {}
    found = [node for node in graph if node.op == ALL_REDUCE and _may_join(graph, node, parts)]
    for node in sorted(found, key=lambda node: node.attrs[_PLACE][1]):
        attrs = node.attrs
        identity = attrs["fusion_id"] if attrs["fusion"] == BY_ID else -1
        level, segment = attrs[_PLACE][0], parts.times.get(node.name)
        key = attrs.get("group"), attrs["ranks"], attrs["fusion"], identity, node.outputs[0].dtype, level, segment
        families.setdefault(key, []).append(node)
    return list(families.values())


def _may_join(graph: Graph, node: Node, parts: Partition) -> bool:
    """Whether it is a sum that a script lets fuse, of a known shape, that runs in every step on what stays as it is."""
    attrs, value = node.attrs, node.inputs[0]
    if attrs.get("fusion") not in (BY_SPLIT, BY_ID) or attrs["reduction"] != "sum" or _PLACE not in attrs:
        return False
    if not graph.spec(value).is_complete or shows_variable(graph, value):
        return False
    return node.host_reason is None and not node.is_looped and not parts.liveness.get(node.name)


def _cut(graph: Graph, members: Sequence[Node], splits: Mapping[str, GradientSplit]) -> list[range]:
    if members[0].attrs["fusion"] == BY_ID:
        return [range(len(members))]
    sizes = [int(graph.spec(node.inputs[0]).n_bytes) for node in members]
    return parts_of(sizes, splits.get(str(members[0].attrs.get("group")), GradientSplit()))


def _join(graph: Graph, members: Sequence[Node]) -> None:
    """Add the call, and let each member show its part of the result under its own name."""
    names = [node.name for node in members]
    controls = list(dict.fromkeys(name for node in members for name in node.controls))
    outputs = [node.outputs[0] for node in members]
    attrs = {**members[0].attrs, "tag": crc32(str([spec.shape for spec in outputs]).encode()) >> 1}
    made = Node(f"{names[0]}/fused", ALL_REDUCE, [node.inputs[0] for node in members], controls, attrs, outputs, is_stateful=True)
    made.later_than = list(dict.fromkeys(name for node in members for name in node.later_than))
    made.compute(members)
    made.origins = {number: Value(name) for number, name in enumerate(names)}
    graph.add(made)
    for number, node in enumerate(members):
        node.op, node.inputs, node.controls, node.later_than = "Identity", [Value(made.name, number)], [], []
        node.attrs, node.is_stateful, node.members = {"T": outputs[number].dtype}, False, ()
