"""A graph as text that people read: a node a line, loops with their bodies indented."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from npu_runtime.graph.ir import Graph, Node
from npu_runtime.graph.spec import Spec

MOST_ELEMENTS = 8
"""Elements of a constant or a list attribute that are written out; of larger ones only the shape or length is told."""
Remark = Callable[[Node], str]


def to_text(graph: Graph, remark: Remark = lambda node: "") -> str:
    """The text of a graph: its fetches and targets, then every node in the order of the graph.

    remark: what else to say of a node, at the end of its line.  An example of a line:
    y: float32[2,3] = MatMul(x:0, w:0) after init {transpose_a=False}  # AI Core, stream 0
    """
    head = [f"fetches: {', '.join(map(str, graph.fetches))}", f"targets: {', '.join(graph.targets)}", ""]
    return "\n".join([*head, *_lines(graph, remark)]) + "\n"


def _lines(graph: Graph, remark: Remark) -> list[str]:
    lines = []
    for node in graph:
        lines.append(_line(node, remark(node)))
        loop = node.attrs.get("loop")
        if loop is not None:
            lines.append(f"    while {loop.condition}; next " + ", ".join(f"{k}={v}" for k, v in loop.next_values.items()))
            lines += ["    " + line for line in _lines(loop.graph, remark)]
    return lines


def _line(node: Node, remark: str) -> str:
    outputs = ", ".join(_spec(spec) for spec in node.outputs)
    inputs = ", ".join(map(str, node.inputs))
    after = f" after {', '.join(node.controls)}" if node.controls else ""
    after += f" later than {', '.join(node.later_than)}" if node.later_than else ""
    attrs = ", ".join(f"{key}={_value(value)}" for key, value in sorted(node.attrs.items()) if key != "loop")
    host = f"host: {node.host_reason}" if node.host_reason is not None else ""
    said = "; ".join(filter(None, (host, remark)))
    return (
        f"{node.name}: {outputs or '()'} = {node.op}({inputs}){after}"
        + (f" {{{attrs}}}" if attrs else "")
        + (f"  # {said}" if said else "")
    )


def _spec(spec: Spec) -> str:
    return f"{spec}" + (f"={_value(spec.value)}" if spec.value is not None else "")


def _value(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return str(value.tolist()) if value.size <= MOST_ELEMENTS else f"<{value.dtype}{list(value.shape)}>"
    if isinstance(value, list | tuple) and len(value) > MOST_ELEMENTS:
        return f"<{len(value)} entries>"
    return (
        repr(value) if isinstance(value, str | bytes | int | float | bool | list | tuple | None) else f"<{type(value).__name__}>"
    )
