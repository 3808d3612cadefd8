"""Before: MatMul, MatMul, ... -> AddN.  After: _ProductSum: one product over what all of them sum over.

So the gradient of a weight that every step of a recurrent network uses is written once, not once a step and then added.
"""

from __future__ import annotations

from npu_runtime.analysis.movable_reads import shows_variable
from npu_runtime.graph.ir import Graph, Node, Value
from npu_runtime.kernels.fused.product_sums import PRODUCT_SUM
from npu_runtime.passes.base import graph_pass


@graph_pass
def fuse_product_sums(graph: Graph) -> int:
    """Merge sums of products of turned matrices that are read by nothing else; returns the number of sums."""
    readers = graph.consumers()
    kept, waited_for = graph.kept(), graph.waited_for()

    def may_join(value: Value) -> bool:
        node = graph[value.node]
        is_private = len(readers[value]) == 1 and node.name not in kept and node.name not in waited_for
        return is_private and _is_gradient(graph, node)

    fused = 0
    for total in [node for node in graph if node.op == "AddN" and node.host_reason is None]:
        products = [graph[value.node] for value in total.inputs if may_join(value)]
        if len(products) > 1 and _is_worth_it(graph, products):
            _fuse(graph, total, products)
            fused += 1
    return fused


def _is_gradient(graph: Graph, node: Node) -> bool:
    """Whether a node is x' @ y in fp32, of known shapes and values that stay as they are until the sum."""
    if node.op != "MatMul" or node.host_reason is not None or node.outputs[0].dtype != "float32":
        return False
    if not node.attrs.get("transpose_a") or node.attrs.get("transpose_b"):
        return False
    return all(graph.spec(value).is_complete and not shows_variable(graph, value) for value in node.inputs)


def _is_worth_it(graph: Graph, products: list[Node]) -> bool:
    """Whether the factors, which are copied, are no more than half of the products, which are written and read otherwise."""
    factors = sum(graph.spec(value).n_bytes for node in products for value in node.inputs)
    return 2 * factors <= sum(node.outputs[0].n_bytes for node in products)


def _fuse(graph: Graph, total: Node, products: list[Node]) -> None:
    """Make the sum one product; where it has other terms, a new node in the place of the products."""
    names = {node.name for node in products}
    others = [value for value in total.inputs if value.node not in names]
    factors = [node.inputs[side] for side in (0, 1) for node in products]
    controls = list(dict.fromkeys(name for node in products for name in node.controls))
    attrs = {"count": len(products)}
    for node in products:
        del graph.nodes[node.name]
    if not others:
        total.compute([*products, total])
        total.op, total.inputs, total.attrs = PRODUCT_SUM, factors, attrs
        total.controls = list(dict.fromkeys([*controls, *total.controls]))
        return
    made = Node(products[0].name, PRODUCT_SUM, factors, controls, attrs, products[0].outputs, is_looped=total.is_looped)
    made.compute(products)
    made.origins = {0: None}
    total.inputs = [Value(graph.add(made).name), *others]
