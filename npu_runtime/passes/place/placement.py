"""Placement: the side that each node runs on, and why; the device where it can, TensorFlow's CPU for the rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from npu_runtime import dtypes as dt
from npu_runtime.analysis.host_only_ops import TEXT, WISH, is_by_nature, nature_of
from npu_runtime.analysis.loop_frames import loop_frames, loop_groups
from npu_runtime.errors import Unimplemented
from npu_runtime.graph.disjoint import DisjointSets
from npu_runtime.graph.ir import Graph, Node, Value
from npu_runtime.graph.ops import (
    DRIVEN_LOOP,
    ENTERS,
    HANDED_ON,
    HANDLES,
    NOT_COMPILED,
    NOT_LOWERED,
    SOURCES,
    STEP_RESOURCES,
    STRUCTURAL,
    SWITCHES,
    VARIABLES,
    Key,
    variable_key,
)
from npu_runtime.graph.order import predecessors, strongly_connected
from npu_runtime.kernels.base import Kernel, all_kernels
from npu_runtime.passes.place.branch_groups import BranchGroups

PASSING_HANDLES = SWITCHES | ENTERS | HANDED_ON
"""Ops whose result is the handle that they are given."""


@dataclass(frozen=True)
class Placement:
    """reasons: why a node runs on the host, by name; all others run on the device.  groups: what runs in one host call.
    loops: the outermost loop frame of the nodes inside one.  enclosed: nodes of conditionals that a host call has taken in.
    resized: ref variables that are given values of other shapes.
    """

    reasons: dict[str, str] = field(default_factory=dict)
    groups: DisjointSets = field(default_factory=DisjointSets)
    loops: dict[str, str] = field(default_factory=dict)
    enclosed: frozenset[str] = frozenset()
    resized: frozenset[str] = frozenset()


def place(graph: Graph, pinned: Mapping[str, str] | None = None) -> Placement:
    """Decide the side of every node.

    pinned: reasons of earlier calls; a node never moves back to the device, where its state would be gone.
    """
    frames = loop_frames(graph)
    reasons = dict(pinned or {})
    for node in graph:
        reason = reason_for_host(node, graph)
        if reason is not None:
            reasons.setdefault(node.name, reason)
    has_branches = any(node.op in SWITCHES and node.name not in frames for node in graph)
    branches = BranchGroups(graph, frames) if reasons and has_branches else None
    while True:
        groups = atomic_groups(graph, frames, reasons)
        if not _spread(graph, groups, reasons, branches):
            return Placement(reasons, groups, frames, frozenset(branches.enclosed if branches else ()), _resized(graph))


def mark_sides(graph: Graph, placement: Placement) -> None:
    """Write the decision into the nodes."""
    for node in graph:
        node.host_reason = placement.reasons.get(node.name)
        node.is_looped = node.name in placement.loops or node.name in placement.enclosed
        node.is_resized = node.name in placement.resized


def refuse_host_nodes(graph: Graph) -> None:
    """Raises: Unimplemented for a node on the host that a real NPU system would run on the device."""
    for node in graph:
        if node.host_reason is not None and not is_by_nature(node.host_reason):
            shapes = ", ".join(str(graph.spec(value).shape) for value in node.inputs)
            raise Unimplemented(f"{node.host_reason}; inputs {shapes or 'none'}; host_fallback=error", node.name, node.op)


def _resized(graph: Graph) -> frozenset[str]:
    """Names of the ref variables that are assigned without a look at the shape."""
    found = set()
    for node in graph:
        if node.op == "Assign" and not node.attrs.get("validate_shape", True):
            while node.op not in VARIABLES and node.inputs:
                node = graph[node.inputs[0].node]
            found.add(node.name)
    return frozenset(found)


def reason_for_host(node: Node, graph: Graph) -> str | None:
    """The reason that this node alone must run on the host, the script's wish or a limit of the device; None for none."""
    if node.op in SOURCES or node.op.startswith("_Feed"):
        return None
    wish = _wish_for_host(node)
    if wish is not None:
        return wish
    if NOT_LOWERED in node.attrs:
        return str(node.attrs[NOT_LOWERED])
    if node.op in VARIABLES:
        return _refuse_dtype(node.attrs["dtype"])
    if node.op in STRUCTURAL or node.op == DRIVEN_LOOP or _is_handle_identity(node):
        return None
    made = all_kernels().get(node.op)
    if made is None:
        return nature_of(node.op) or f"the device has no kernel for op {node.op}"
    for attr, allowed in made.dtypes.items():
        for dtype in _types(node.attrs.get(attr)):
            if dtype not in allowed:
                return _refuse_dtype(dtype) or f"{node.op} is not done for {attr}={dtype}"
    inputs = [graph.spec(value) for value in node.inputs]
    for spec in [*inputs, *node.outputs]:
        is_shown = spec.dtype == "string" and made.takes_text
        is_taken = spec.dtype in HANDLES or is_shown or (spec.dtype in dt.KEYS and _is_named(spec.dtype, node, made))
        if not is_taken and (reason := _refuse_dtype(spec.dtype)):
            return reason
    return made.refuse(inputs, made.bind(node.attrs)) if made.refuse else None


def _is_named(dtype: str, node: Node, made: Kernel) -> bool:
    """Whether a kernel names a type, or its op has no other one there; attributes that it does not name may be any."""
    return not any(dtype in _types(value) for attr, value in node.attrs.items() if attr not in made.dtypes)


def _wish_for_host(node: Node) -> str | None:
    """The wish of a scope of npu_scope; None for none.  Source: the attributes that the adapter's scopes put on operations."""
    if node.attrs.get(NOT_COMPILED):
        return f"{WISH}: without_npu_compile_scope"
    if node.op in VARIABLES and node.attrs.get("_variable_placement") in ("host", b"host"):
        return f"{WISH}: npu_variable_scope"
    return None


def _types(attr: Any) -> list[str]:
    """A type attribute as a list of names; other attributes name no type."""
    return [attr] if isinstance(attr, str) else attr if isinstance(attr, list) else []


def _is_handle_identity(node: Node) -> bool:
    return node.op == "Identity" and node.attrs.get("T") in HANDLES


def _refuse_dtype(dtype: str) -> str | None:
    if dtype in dt.ALL:
        return None
    return TEXT if dtype == "string" else f"the device has no {dtype}"


def atomic_groups(graph: Graph, frames: Mapping[str, str], reasons: Mapping[str, str]) -> DisjointSets:
    """Nodes that must run together: a loop; on the host also the users of one stack or tensor array, a chain of variants."""
    groups = loop_groups(frames)
    for node in graph:
        for value in node.inputs:
            if (value.node in reasons or node.name in reasons) and _is_of_step(graph, value):
                groups.join(node.name, value.node)
    return groups


def _is_of_step(graph: Graph, value: Value) -> bool:
    """Whether a value is a variant, or the handle of a stack or an array, by whichever Switch or Enter it comes."""
    dtype = graph.spec(value).dtype
    if dtype != "resource":
        return dtype == "variant"
    producer = graph[value.node]
    while producer.op in PASSING_HANDLES:
        producer = graph[producer.inputs[0].node]
    return producer.op.startswith(STEP_RESOURCES)


def _spread(graph: Graph, atomic: DisjointSets, reasons: dict[str, str], branches: BranchGroups | None) -> bool:
    """Pull to the host what cannot be parted from it; True when something moved."""
    before = len(reasons)
    _spread_over_handles(graph, reasons)
    _spread_to_reads(graph, reasons)
    _join_paths(graph, atomic)
    while branches is not None and branches.close(atomic, reasons):
        _join_paths(graph, atomic)
    _spread_over_groups(graph, atomic, reasons)
    return len(reasons) != before


def _spread_over_handles(graph: Graph, reasons: dict[str, str]) -> None:
    """A variable is on one side with all that touch it, by whichever node: a handle or reference cannot cross."""
    sets = DisjointSets()
    first: dict[Key, str] = {}
    for node in graph:
        if node.op in VARIABLES:
            sets.join(node.name, first.setdefault(variable_key(node), node.name))
        for position, value in enumerate(node.inputs):
            if graph.spec(value).dtype in HANDLES or _is_ref_edge(graph, node, position):
                sets.join(node.name, value.node)
    for members in sets.groups(graph.nodes).values():
        host = next((name for name in members if name in reasons), None)
        if host is not None and len(members) > 1:
            for name in members:
                reasons.setdefault(name, f"shares a variable or handle with {host} ({reasons[host]})")


def _spread_to_reads(graph: Graph, reasons: dict[str, str]) -> None:
    """Pulls to the host all Identities that show the memory of its ref variables, whatever the type: to the device go copies."""
    for node in graph:
        if node.op == "Identity" and node.name not in reasons:
            source = graph[node.inputs[0].node]
            while source.op in ("Identity", "Switch") and not source.ref_outputs:
                source = graph[source.inputs[0].node]
            if source.ref_outputs and source.name in reasons:
                reasons[node.name] = f"shares a variable or handle with {source.name} ({reasons[source.name]})"


def _is_ref_edge(graph: Graph, node: Node, position: int) -> bool:
    value = node.inputs[position]
    return position in node.ref_inputs and value.output in graph[value.node].ref_outputs


def _join_paths(graph: Graph, atomic: DisjointSets) -> None:
    """Joins to a group the nodes that lie on a path from the group to itself, as they would tear it."""
    groups = {root: members for root, members in atomic.groups(graph.nodes).items() if len(members) > 1}
    if not groups:
        return
    successors: dict[str, set[str]] = {atomic.find(name): set() for name in graph.nodes}
    for node in graph:
        for name in predecessors(node):
            if atomic.find(name) != atomic.find(node.name):
                successors[atomic.find(name)].add(atomic.find(node.name))
    for component in strongly_connected(successors):
        for name in component[1:]:
            atomic.join(name, component[0])


def _spread_over_groups(graph: Graph, atomic: DisjointSets, reasons: dict[str, str]) -> None:
    """Groups go as one."""
    for members in atomic.groups(graph.nodes).values():
        host = next((name for name in members if name in reasons), None)
        if host is not None and len(members) > 1:
            for name in members:
                reasons.setdefault(name, f"cannot be parted from {host} ({reasons[host]})")
