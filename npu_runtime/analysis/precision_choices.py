"""Nodes that a mode of 16 bits may leave in fp32, and the files that say so.

Such a node reads its inputs as they are stored and its result is stored in fp32. An input that another node made in 16 bits
was rounded there, and a reader in 16 bits rounds the result again: where a number that 16 bits cannot hold is handed on, its
maker and its reader are both needed. In mixed precision a gray operator has the type of what it reads first, so readers of that
kind follow.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from npu_formats.delta_debugging import Candidate, MinimalSubset
from npu_formats.device.op_table import device_ops, tensorflow_ops
from npu_runtime import dtypes as dt
from npu_runtime.analysis.compute_types import DEVICE_TYPE
from npu_runtime.analysis.minimal_settings import LeastChange
from npu_runtime.analysis.precision_policy import HALVES, operators_named
from npu_runtime.config import RuntimeConfig
from npu_runtime.graph.ir import Graph
from npu_runtime.graph.ops import WHILE
from npu_runtime.graph.order import topological

_MIXED = "allow_mix_precision"
"""The beginning of the names of the modes that have lists of operators."""
MOST_NODES = 10
"""Names of nodes that a person reads; of more, operators are named, though more nodes are slower then."""


class ReducedNode(NamedTuple):
    """A node that runs in 16 bits and is fp32 in the graph.  op: operator of the device.  given, made: types by the graph."""

    name: str
    op: str
    given: tuple[str, ...]
    made: tuple[str, ...]


def reduced_nodes(graph: Graph) -> list[ReducedNode]:
    """Nodes of a typed graph that exist in fp32 too, in an order of execution, those of loops included."""
    return list(_reduced(graph))


def _reduced(graph: Graph) -> Iterator[ReducedNode]:
    for node in topological([node for node in graph if node.host_reason is None]):
        if node.op == WHILE:
            yield from _reduced(node.attrs["loop"].graph)
            continue
        row = tensorflow_ops().get(node.op)
        if row is None or node.attrs.get(DEVICE_TYPE) not in HALVES or not row.device_op:
            continue
        given = tuple(graph.spec(value).dtype for value in node.inputs)
        made = tuple(spec.dtype for spec in node.outputs)
        if "float32" in given + made and device_ops()[row.device_op].has("float32"):
            yield ReducedNode(node.name, row.device_op, given, made)


def precision_candidates(nodes: Sequence[ReducedNode], suspects: Sequence[str] = ()) -> list[Candidate]:
    """The nodes that may be kept in fp32, in groups by operator: last first, so that a reader is found rather than its maker.

    suspects: names of nodes that stand before all others, because they were seen to be off.
    """
    places = {name: place for place, name in enumerate(suspects)}
    last_first = [Candidate(node.name, node.op) for node in reversed(nodes)]
    return sorted(last_first, key=lambda candidate: places.get(candidate.name, len(places)))


def with_precision_choice(config: RuntimeConfig, chosen: Collection[str]) -> RuntimeConfig:
    """A config under which these nodes stay in fp32, beside those that already do."""
    return replace(config, in_float32=config.in_float32 | frozenset(chosen))


def precision_change(
    found: MinimalSubset, nodes: Sequence[ReducedNode], config: RuntimeConfig, before: Mapping[str, str]
) -> LeastChange:  # fmt: skip
    """The nodes of a search; whole operators where they are too many to be read and these suffice.

    nodes: all that run in 16 bits.  before: texts of the files that the session has already, by the names of `OPTION_OF_FILE`;
    what they say stays unless it is about the same.
    """
    kept = set(found.names or ())
    if found.groups and len(kept) > MOST_NODES:
        return type_change(found.groups, nodes, config, before)
    return _customized("nodes", {node.name: _types(node) for node in nodes if node.name in kept}, before)


def type_change(
    ops: Sequence[str], nodes: Sequence[ReducedNode], config: RuntimeConfig, before: Mapping[str, str]
) -> LeastChange:  # fmt: skip
    """Whole operators that stay in fp32: on the black list where the mode has lists, else by their types."""
    if config.precision.mode.startswith(_MIXED):
        text = mixlist_with_black(ops, before.get("modify_mixlist.json", ""))
        return LeastChange("types", tuple(ops), {"modify_mixlist.json": text})
    first = {node.op: node for node in reversed(nodes)}
    return _customized("types", {op: _types(first[op]) for op in ops}, before)


def _customized(kind: str, lines: Mapping[str, str], before: Mapping[str, str]) -> LeastChange:
    """lines: types by the name of a node or an operator."""
    place = "OpType::{}:" if kind == "types" else "{}::"
    ours = {place.format(name): types for name, types in lines.items()}
    theirs = [line for line in before.get("customize_dtypes.cfg", "").splitlines() if not line.strip().startswith(tuple(ours))]
    texts = [*theirs, *(start + types for start, types in ours.items())]
    return LeastChange(kind, tuple(lines), {"customize_dtypes.cfg": "".join(f"{line}\n" for line in texts)})


def _types(node: ReducedNode) -> str:
    """A type for each input and each result: that of the graph."""
    given, made = (",".join("float32" if dtype in dt.FLOATS else dtype for dtype in types) for types in (node.given, node.made))
    return f"InputDtype:{given},OutputDtype:{made}"


def mixlist_with_black(ops: Iterable[str], before: str) -> str:
    """A list file that puts operators on the black list.  before: one whose other entries stay, or ""."""
    lists = json.loads(before) if before else {}
    black = set(ops)
    for changes in lists.values():
        for part in ("to-add", "to-remove"):
            if part in changes:
                changes[part] = [name for name in changes[part] if not black.intersection(operators_named(name))]
    entry = lists.setdefault("black-list", {})
    entry["to-add"] = [*entry.get("to-add", ()), *sorted(black)]
    return json.dumps(lists, indent=2) + "\n"
