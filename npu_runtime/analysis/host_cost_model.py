"""A cost model of steps, in seconds of one thread of the machine of docs/benchmarks.md: enough to tell long from short."""

from __future__ import annotations

from npu_runtime.analysis.node_work import node_work
from npu_runtime.analysis.variable_accesses import variable_inputs, writes_variables
from npu_runtime.cost.work import n_elements
from npu_runtime.graph.ir import Graph, Node
from npu_runtime.graph.ops import HostCall, Item
from npu_runtime.kernels.base import Kernel, all_kernels

LAUNCH_SECONDS = 4e-6
"""Seconds that any step takes beside its arithmetic: the loop of the executor and the call of numpy."""
CUBE_FLOPS_PER_SECOND = 150e9
"""Floating-point operations a second of matrix products and convolutions on one thread."""
VECTOR_BYTES_PER_SECOND = 8e9
"""Bytes a second that element-wise work reads and writes on one thread."""
VECTOR_FLOPS_PER_SECOND = 6.5e9
"""Floating-point operations a second of element-wise work on one thread."""
RANDOM_PER_SECOND = 0.12e9
"""Random numbers a second that one thread draws."""
SPARSE_SHARE = 1 / 16
"""The share of a table's rows that a sparse update is taken to change: how many there are is seldom known before."""


def seconds_of(graph: Graph, item: Item) -> float:
    """Seconds from shapes, types and floating-point operations; of what is not known only what a launch takes."""
    if isinstance(item, HostCall):
        return LAUNCH_SECONDS
    made = all_kernels().get(item.op)
    return LAUNCH_SECONDS + (0.0 if made is None else _kernel_seconds(graph, item, made))


def _kernel_seconds(graph: Graph, node: Node, made: Kernel) -> float:
    """The longer of arithmetic and memory, which go on at the same time; arithmetic alone where it is always the longer."""
    if made.is_stateful:
        return sum(n_elements(spec) for spec in node.outputs if spec.is_complete) / RANDOM_PER_SECOND
    flops = node_work(graph, node)
    if made.unit == "cube":
        return flops / CUBE_FLOPS_PER_SECOND
    shows_its_input = not (made.takes_out or flops or writes_variables(graph, node))
    n_bytes = 0.0 if shows_its_input else _moved_bytes(graph, node)
    return max(n_bytes / VECTOR_BYTES_PER_SECOND, flops / VECTOR_FLOPS_PER_SECOND)


def _moved_bytes(graph: Graph, node: Node) -> float:
    """Bytes read and written: all inputs and outputs, a variable handed over and on counted once, or SPARSE_SHARE of it."""
    handed = variable_inputs(graph, node)
    read = sum(graph.spec(value).n_bytes for i, value in enumerate(node.inputs) if i not in handed)
    written = sum(spec.n_bytes for i, spec in enumerate(node.outputs) if i not in node.ref_outputs)
    of_variables = sum(graph.spec(node.inputs[i]).n_bytes for i in handed)
    share = SPARSE_SHARE if "Scatter" in node.op or "Sparse" in node.op else 1.0
    return read + written + of_variables * share
