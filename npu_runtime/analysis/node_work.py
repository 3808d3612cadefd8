"""Floating-point operations of a node of a graph."""

from __future__ import annotations

from npu_runtime.cost.work import no_work
from npu_runtime.dtypes import FLOATS
from npu_runtime.errors import MISFITS
from npu_runtime.graph.ir import Graph, Node
from npu_runtime.graph.spec import Spec
from npu_runtime.kernels.base import all_kernels


def node_work(graph: Graph, node: Node) -> float:
    """Floating-point operations of a node; 0 where it has no kernel, and where a shape is not known or does not fit."""
    made = all_kernels().get(node.op)
    inputs = [graph.spec(value) for value in node.inputs]
    if made is None or not _are_complete(*inputs, *node.outputs):
        return 0.0
    try:
        return made.work(inputs, node.outputs, node.attrs)
    except MISFITS:  # told when the node runs
        return 0.0


def is_uncounted(graph: Graph, node: Node) -> bool:
    """Whether a node computes with floating-point numbers and only its run will tell how many."""
    made = all_kernels().get(node.op)
    has_floats = any(spec.dtype in (*FLOATS, "float64") for spec in node.outputs)
    return (
        has_floats
        and made is not None
        and made.estimate is not no_work
        and not _are_complete(*map(graph.spec, node.inputs), *node.outputs)
    )


def _are_complete(*specs: Spec) -> bool:
    return all(spec.is_complete for spec in specs)
