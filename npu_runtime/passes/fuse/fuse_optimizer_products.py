"""Before: MatMul(x', dy) -> ApplyAdam.  After: _ApplyProduct: the gradient is made in the optimizer's tiles.

So the gradient of a dense layer of few rows, which takes as long to write and to read as to multiply, stays in cache.
"""

from __future__ import annotations

from npu_runtime.analysis.movable_reads import shows_variable
from npu_runtime.cost.work import n_elements
from npu_runtime.graph.ir import Graph, Node
from npu_runtime.kernels.base import all_kernels
from npu_runtime.kernels.fused.optimizer_products import APPLY_PRODUCT
from npu_runtime.kernels.training.apply_update import DENSE, TILE
from npu_runtime.passes.base import graph_pass
from npu_runtime.passes.fuse.fuse_elementwise import SMALLEST

MOST_SUMMED = 16
"""The most products that an element of a gradient is the sum of: making one of more takes far longer than writing and reading
it."""


@graph_pass
def fuse_optimizer_products(graph: Graph) -> int:
    """Merge optimizers with the product that is their gradient and that nobody else reads; returns the number of pairs."""
    readers = graph.consumers()
    fixed = graph.kept() | graph.waited_for()
    fused = 0
    for node in [node for node in graph if node.op in DENSE and node.host_reason is None and not node.is_looped]:
        value = node.inputs[DENSE[node.op].layout.grad]
        product = graph[value.node]
        if product.name not in fixed and len(readers[value]) == 1 and _is_worth_it(graph, product):
            _fuse(graph, product, node)
            fused += 1
    return fused


def _is_worth_it(graph: Graph, product: Node) -> bool:
    """Whether a node is a large fp32 product of a few rows or columns, which stay as they are until the update.

    They stay in memory until then instead of the product, so they must be no larger.
    """
    if product.op != "MatMul" or product.host_reason is not None or product.is_looped:
        return False
    out, factors = product.outputs[0], [graph.spec(value) for value in product.inputs]
    if out.dtype != "float32" or not all(spec.is_complete for spec in (out, *factors)) or n_elements(out) < SMALLEST:
        return False
    size = sum(n_elements(spec) for spec in factors)
    summed = n_elements(factors[0]) // max(out.known_shape()[0], 1)
    is_small = 0 < summed <= MOST_SUMMED and size <= n_elements(out) and out.known_shape()[1] <= TILE
    return is_small and not any(shows_variable(graph, value) for value in product.inputs)


def _fuse(graph: Graph, product: Node, node: Node) -> None:
    grad = DENSE[node.op].layout.grad
    settings = all_kernels()[node.op].bind(node.attrs)
    node.compute([product, node])
    node.inputs = [*node.inputs[:grad], *node.inputs[grad + 1 :], *product.inputs]
    node.controls = list(dict.fromkeys([*product.controls, *node.controls]))
    turned = {name: bool(product.attrs.get(name, False)) for name in ("transpose_a", "transpose_b")}
    node.attrs = {**node.attrs, "update": node.op, "settings": settings, **turned}
    node.op = APPLY_PRODUCT
    del graph.nodes[product.name]
