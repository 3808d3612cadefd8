"""Before: Mul(x, y), Mul(x, y).  After: one of them, read by the readers of both: a common subexpression is computed once."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from npu_runtime.analysis.effects import conditional_nodes, only_computes
from npu_runtime.analysis.node_work import node_work
from npu_runtime.graph.ir import Graph, Node, Value
from npu_runtime.graph.ops import CONSTANT
from npu_runtime.graph.order import topological
from npu_runtime.passes.base import graph_pass

MOST_BYTES = 4096
"""Bytes of the largest constant that is compared with others."""
_NO_DIFFERENCE = frozenset({"_class", "_output_shapes"})
"""Attributes that say where a node was made, not what it computes."""


@graph_pass
def merge_duplicates(graph: Graph) -> int:
    """Compute what several nodes compute from the same values once; returns how many nodes are gone.

    The first in topological order stays. One that is asked for by name or seen by the host is never the one that goes.
    """
    fixed = conditional_nodes(graph) | graph.kept() | graph.seen_by_host()
    first: dict[Hashable, str] = {}
    merged: dict[str, str] = {}
    for node in topological([node for node in graph if node.host_reason is None]):
        node.inputs = [Value(merged.get(value.node, value.node), value.output) for value in node.inputs]
        node.controls = list(dict.fromkeys(merged.get(name, name) for name in node.controls))
        if node.is_looped or not only_computes(graph, node, but_reads=True):
            continue
        key = _key(node)
        if key is not None and first.setdefault(key, node.name) != node.name and node.name not in fixed:
            merged[node.name] = first[key]
            graph.saved_flops[node.op] += node_work(graph, node)
    for name in merged:
        del graph.nodes[name]
    return len(merged)


def _key(node: Node) -> Hashable | None:
    """A key that is the same for nodes that compute the same; None for a node that is not compared."""
    if node.op in ("Const", CONSTANT):
        values = [spec.value for spec in node.outputs]
        if not all(value is not None and value.nbytes <= MOST_BYTES and value.dtype != object for value in values):
            return None
        return (tuple(_frozen(value) for value in values), tuple(sorted(node.controls)))
    if not node.inputs:
        return None
    attrs = {name: value for name, value in node.attrs.items() if name not in _NO_DIFFERENCE}
    return node.op, tuple(node.inputs), tuple(sorted(node.controls)), _frozen(attrs)


def _frozen(value: Any) -> Hashable:
    """Something hashable that is equal for equal attributes; an object of unknown kind is equal to itself only."""
    if isinstance(value, Mapping):
        return tuple((name, _frozen(value[name])) for name in sorted(value))
    if isinstance(value, list | tuple):
        return tuple(_frozen(v) for v in value)
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    return (type(value).__name__, repr(value)) if isinstance(value, str | int | float | bool | None) else id(value)
