"""About how long a step takes on one thread of the machine of docs/benchmarks.md: enough to tell long steps from short ones."""

from __future__ import annotations

from npu_runtime.cost.work import n_elements
from npu_runtime.executor.holding import variable_inputs, writes_variables
from npu_runtime.executor.touching import Item
from npu_runtime.graph.ir import Graph
from npu_runtime.kernels.base import all_kernels
from npu_runtime.passes.node_work import node_work
from npu_runtime.passes.partition import HostCall

LAUNCH_SECONDS = 4e-6
"""What a step takes beside its arithmetic."""
CUBE_FLOPS_PER_SECOND = 100e9
VECTOR_BYTES_PER_SECOND = 10e9
VECTOR_FLOPS_PER_SECOND = 10e9
RANDOM_PER_SECOND = 0.15e9
"""Random numbers drawn."""
SPARSE_SHARE = 1 / 16
"""Of a table, the rows that a step changes: how many there are is seldom known before."""


def seconds_of(graph: Graph, item: Item) -> float:
    """Seconds from shapes, types and floating-point operations; of what is not known only what a launch takes."""
    made = None if isinstance(item, HostCall) else all_kernels().get(item.op)
    if made is None or isinstance(item, HostCall):
        return LAUNCH_SECONDS
    handed = variable_inputs(graph, item)
    specs = [graph.spec(value) for i, value in enumerate(item.inputs) if i not in handed]
    specs += [spec for i, spec in enumerate(item.outputs) if i not in item.ref_outputs]
    of_variables = sum(graph.spec(item.inputs[i]).n_bytes for i in handed)
    share = SPARSE_SHARE if "Scatter" in item.op or "Sparse" in item.op else 1.0
    n_bytes = sum(spec.n_bytes for spec in specs) + of_variables * share
    if made.is_stateful:
        return LAUNCH_SECONDS + sum(n_elements(spec) for spec in item.outputs if spec.is_complete) / RANDOM_PER_SECOND
    flops = node_work(graph, item)
    if made.unit == "cube":
        return LAUNCH_SECONDS + flops / CUBE_FLOPS_PER_SECOND
    moved = n_bytes if made.takes_out or flops or writes_variables(graph, item) else 0  # others show what is there
    return LAUNCH_SECONDS + max(moved / VECTOR_BYTES_PER_SECOND, flops / VECTOR_FLOPS_PER_SECOND)
