"""Before: RandomUniform -> GreaterEqual(rate).  After: _RandomMask: the mask of a dropout is told by the random bits themselves.

The node keeps the name of RandomUniform, by which its generator is known from step to step.
"""

from __future__ import annotations

from npu_runtime.analysis.effects import conditional_nodes
from npu_runtime.graph.ir import Graph, Node, Value
from npu_runtime.graph.order import predecessors, reached
from npu_runtime.kernels.fused.random_mask import RANDOM_MASK
from npu_runtime.passes.base import graph_pass


@graph_pass
def fuse_random_masks(graph: Graph) -> int:
    """Merge uniform numbers of fp32 with the comparison that alone reads them; returns the number of pairs."""
    readers = graph.consumers()
    fixed = graph.kept() | graph.waited_for() | graph.seen_by_host()
    before = {node.name: predecessors(node) for node in graph}
    on_host = {node.name for node in graph if node.host_reason is not None}
    conditional = conditional_nodes(graph)

    def is_there(name: str, numbers: Node) -> bool:
        """Whether a bound is surely there when the numbers are drawn, without a call of the host."""
        return not (reached([name], before) | {name}) & on_host and (name not in conditional or numbers.name in conditional)

    fused = 0
    for mask in [node for node in graph if node.op == "GreaterEqual" and not node.controls and _is_free(node, fixed)]:
        numbers, bound = graph[mask.inputs[0].node], mask.inputs[1]
        if not _is_drawn_in_float32(numbers) or not _is_free(numbers, fixed) or readers[Value(numbers.name)] != [mask]:
            continue
        if graph.spec(bound).shape == () and is_there(bound.node, numbers):
            _fuse(graph, numbers, mask, readers.get(Value(mask.name), []))
            fused += 1
    return fused


def _is_drawn_in_float32(node: Node) -> bool:
    return node.op == "RandomUniform" and node.outputs[0].dtype == "float32"


def _is_free(node: Node, fixed: set[str]) -> bool:
    return node.host_reason is None and not node.is_looped and node.name not in fixed


def _fuse(graph: Graph, numbers: Node, mask: Node, readers: list[Node]) -> None:
    numbers.compute([numbers, mask])
    numbers.origins = {0: mask.origin(0)}
    numbers.op, numbers.outputs = RANDOM_MASK, mask.outputs
    numbers.inputs = [*numbers.inputs, mask.inputs[1]]
    for reader in readers:
        reader.inputs = [Value(numbers.name) if value == Value(mask.name) else value for value in reader.inputs]
    del graph.nodes[mask.name]
