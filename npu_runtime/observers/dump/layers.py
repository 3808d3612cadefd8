"""The names that dump_layer has: which of them a program writes no file of, and why."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence

from npu_runtime.graph.ir import Graph
from npu_runtime.graph.ops import CONSTANT, VARIABLES
from npu_runtime.observers.dump.operators import NO_OPERATORS, Operator

_FED = "can be fed"
_FOLDED = "was folded or replaced when the graph was compiled"
_SOURCES = {
    "Const": "is a constant",
    CONSTANT: "is a constant",
    "Placeholder": _FED,
    "PlaceholderV2": _FED,
    "PlaceholderWithDefault": _FED,
}
"""Descriptions of the sources of a graph for users. Every other node that is no operator is control flow."""
_CONTROL = "is control flow"


def is_chosen(layers: Container[str], operator: Operator) -> bool:
    """Whether an operator, or a node of the user's that it computes, is among names; all are where there are none."""
    return not layers or operator.name in layers or any(name in layers for name in operator.original_names)


def left_out(
    layers: Sequence[str], operators: Sequence[Operator], host_nodes: Mapping[str, str], asked: Container[str], users: Graph
) -> dict[str, str]:  # fmt: skip
    """The names of the user's graph of which a program writes no file, each with what it is or what became of it.

    host_nodes: the reason of each node that runs on the host.  asked: names of the nodes that the run needs: a node that it does
    not need has its file elsewhere.  users: the whole graph.
    """
    written = set(_names(operators))
    found: dict[str, str] = {}
    for name in layers:
        if name in written or name not in users:
            continue
        op = users[name].op
        if op in NO_OPERATORS:
            found[name] = "is a variable" if op in VARIABLES else _SOURCES.get(op, _CONTROL)
        elif name in host_nodes:
            found[name] = f"runs on the host: {host_nodes[name]}"
        elif name in asked:
            found[name] = _FOLDED
    return found


def _names(operators: Sequence[Operator]) -> Iterator[str]:
    for operator in operators:
        yield operator.name
        yield from operator.original_names
