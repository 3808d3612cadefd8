"""Before: Mul(gradient, rate) -> ApplyAdam.  After: _ApplyRegion: the gradient is made in the optimizer's tiles.

So gradients that are scaled or clipped by a norm, or to which weight decay adds the variable, are neither written nor read again.
What the gradient is made of stays in memory until the update instead of the gradient, so it must be no larger: of values beside
variables and scalars there may be one.
"""

from __future__ import annotations

from npu_runtime.analysis.movable_reads import Writers, shows_variable
from npu_runtime.analysis.node_work import node_work
from npu_runtime.cost.work import n_elements
from npu_runtime.graph.ir import Graph, Node, Value
from npu_runtime.kernels.base import all_kernels
from npu_runtime.kernels.fused.elementwise_regions import REGION, Region, assign_buffers, body_of, steps_of
from npu_runtime.kernels.fused.optimizer_regions import APPLY_REGION
from npu_runtime.kernels.training.apply_update import DENSE
from npu_runtime.passes.base import graph_pass
from npu_runtime.passes.fuse.fuse_elementwise import SMALLEST

_TYPES = frozenset({"float32", "bool"})


@graph_pass
def fuse_optimizer_gradients(graph: Graph) -> int:
    """Merge optimizers with the element-wise node or region that makes their gradient; returns the number of pairs."""
    readers = graph.consumers()
    fixed = graph.kept() | graph.waited_for()
    writers = Writers(graph)
    fused = 0
    for node in [node for node in graph if node.op in DENSE and node.host_reason is None and not node.is_looped]:
        value = node.inputs[DENSE[node.op].layout.grad]
        source = graph[value.node]
        if source.name in fixed or len(readers[value]) > 1 or not _has_plain_types(graph, source):
            continue
        made = _region(graph, source)
        if made is not None and _may_wait(graph, source, node, writers):
            _fuse(graph, source, node, *made)
            fused += 1
    return fused


def _has_plain_types(graph: Graph, source: Node) -> bool:
    """Whether a node computes a large fp32 value of known shape from values of that shape and scalars."""
    if source.host_reason is not None or source.is_looped or source.is_stateful or source.ref_inputs or len(source.outputs) != 1:
        return False
    out = source.outputs[0]
    if not out.is_complete or out.dtype != "float32" or out.value is not None or n_elements(out) < SMALLEST:
        return False
    specs = [graph.spec(value) for value in source.inputs]
    return all(spec.is_complete and spec.dtype in _TYPES and spec.shape in (out.shape, ()) for spec in specs)


def _region(graph: Graph, source: Node) -> tuple[Region, list[Value]] | None:
    """The region that a node computes, and its operands; None for a node that is not element-wise."""
    if source.op == REGION:
        return source.attrs["region"], source.inputs
    body = body_of(source.op, source.attrs)
    is_sum = source.op == "AddN"
    if body is None or (is_sum and len(source.inputs) < 2):
        return None
    inputs = list(dict.fromkeys(source.inputs))
    operands = tuple(inputs.index(value) for value in source.inputs)
    steps = steps_of(body, operands, source.outputs[0].dtype, 0, is_sum)
    return Region(assign_buffers(steps), source.outputs[0].known_shape(), node_work(graph, source)), inputs


def _may_wait(graph: Graph, source: Node, later: Node, writers: Writers) -> bool:
    """Whether the inputs of `source` are the same when `later` runs, and no more memory than what is made of them.

    Not so with what a resource variable holds: an update copies the variable as long as somebody has that.
    """
    shown = {value for value in source.inputs if shows_variable(graph, value)}
    others = {value for value in source.inputs if value not in shown and graph.spec(value).shape}
    return len(others) <= 1 and all(writers.stays(value, source, later) for value in shown)


def _fuse(graph: Graph, source: Node, node: Node, region: Region, operands: list[Value]) -> None:
    grad = DENSE[node.op].layout.grad
    settings = all_kernels()[node.op].bind(node.attrs)
    node.compute([source, node])
    node.inputs = [*node.inputs[:grad], *node.inputs[grad + 1 :], *operands]
    node.controls = list(dict.fromkeys([*source.controls, *node.controls]))
    node.attrs = {**node.attrs, "update": node.op, "settings": settings, "region": region}
    node.op = APPLY_REGION
    del graph.nodes[source.name]
