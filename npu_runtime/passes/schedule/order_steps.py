"""Before: nodes with their segments.  After: the steps of a program, one after another, in an order that respects every edge."""

from __future__ import annotations

from collections.abc import Sequence

from npu_runtime.analysis.host_values import is_virtual
from npu_runtime.graph.ir import Graph, Node
from npu_runtime.graph.ops import CONSTANT, FEED, LOOP_INPUT, VARIABLES, HostCall, Item, Loop
from npu_runtime.graph.order import topological
from npu_runtime.passes.place.partition import Partition

NOTHING = frozenset({"NoOp", "ControlTrigger"})
"""Ops that compute nothing: a step only where somebody has to know whether they ran."""


def order_steps(graph: Graph, parts: Partition) -> list[Item]:
    """Host calls and device nodes by segments; sources are among them, as what waits for one waits for its controls."""
    order: list[Item] = []
    by_time: dict[int, list[Node]] = {}
    for node in graph:
        if is_virtual(node) or (node.host_reason is None and (node.controls or not is_source(node, parts))):
            by_time.setdefault(parts.times[node.name], []).append(node)
    for time in sorted({call.time for call in parts.calls} | set(by_time)):
        order += [call for call in parts.calls if call.time == time]
        order += topological(by_time.get(time, []))
    return order


def leave_out_sources(order: Sequence[Item], parts: Partition) -> list[Item]:
    """The steps alone."""
    return [item for item in order if isinstance(item, HostCall) or _is_step(item, parts)]


def condition_before_body(order: Sequence[Item], loop: Loop) -> list[Item]:
    """The steps of an iteration: those that the last test needs too, then those that run only when it holds."""
    return sorted(order, key=lambda item: isinstance(item, Node) and item.name in loop.body)


def is_order_meant(graph: Graph) -> bool:
    """Whether the order of creation tells something: which overflows the float status shows."""
    return any(node.op.endswith("FloatStatus") for node in graph)


def is_source(node: Node, parts: Partition) -> bool:
    """Whether a node's values are there before the first step."""
    if node.op in (FEED, LOOP_INPUT, *VARIABLES):
        return True
    return node.op in ("Const", CONSTANT) and not may_be_dead(node, parts)


def may_be_dead(node: Node, parts: Partition) -> bool:
    """Whether a node may stand in a branch that is not taken."""
    return bool(parts.liveness.get(node.name))


def _is_step(node: Node, parts: Partition) -> bool:
    return not is_source(node, parts) and (node.op not in NOTHING or may_be_dead(node, parts))
