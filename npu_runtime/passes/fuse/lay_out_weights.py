"""Before: MatMul(x, w), MatMul(y, w), ... of few rows each.  After: _Panels(w) once, and _PanelMatMul in their places.

So for a weight that every step of a recurrent network uses, unrolled or in a loop: there it is laid out before the loop. Products
with the weight turned around, as gradients have them, share panels of their own.
"""

from __future__ import annotations

from typing import NamedTuple

from npu_runtime.analysis.effects import conditional_nodes
from npu_runtime.analysis.movable_reads import Writers, shows_variable
from npu_runtime.graph.ir import Graph, Node, Value
from npu_runtime.graph.ops import LOOP_INPUT, WHILE
from npu_runtime.graph.order import predecessors, reached, topological
from npu_runtime.graph.spec import Spec
from npu_runtime.kernels.fused.packed_weights import PANEL_MATMUL, PANELS, WIDTH
from npu_runtime.kernels.linalg.gemm_unpacked import SMALL_PRODUCT
from npu_runtime.kernels.linalg.matmul import FEW_ROWS
from npu_runtime.kernels.linalg.serial_products import SOME_ROWS
from npu_runtime.passes.base import graph_pass

PRODUCTS = ("MatMul", "_FusedMatMul")
HANDLE, READ = "VarHandleOp", "ReadVariableOp"
ROWS = range(FEW_ROWS.start, max(FEW_ROWS.stop, SOME_ROWS.stop) if SMALL_PRODUCT else 0)
"""Rows of a product that gains by it; none with kernels of BLAS that pack every product."""
LEAST_BYTES, LEAST_COLUMNS = 1_600_000, 2 * WIDTH
"""Bytes and columns of the smallest weight that does not stay in the second caches of two threads. Smaller ones gain nothing."""
FEWEST_PRODUCTS = {False: 8, True: 16}
"""Products of a weight that repay laying it out, by whether it is turned around. Laying out takes as long as three to five
products, turned around as three to eight."""


class _Shared(NamedTuple):
    """A weight, or the handle of the resource variable that each product reads, and whether they read it turned around."""

    value: Value
    is_turned: bool


@graph_pass
def lay_out_weights(graph: Graph) -> int:
    """Lay out the weights of this graph's products and of its loops' bodies; returns how many."""
    products = {shared: nodes for shared, nodes in _products(graph).items() if len(nodes) >= FEWEST_PRODUCTS[shared.is_turned]}
    loops = [node for node in graph if node.op == WHILE and node.host_reason is None]
    if not products and not loops:
        return 0
    writers = Writers(graph)
    n_laid_out = 0
    for shared, nodes in products.items():
        weight = _common(graph, shared.value, nodes, writers)
        if weight is not None:
            _use(nodes, _laid_out(graph, weight, shared.is_turned))
            n_laid_out += 1
    return n_laid_out + sum(_lay_out_before(graph, loop, writers) for loop in loops)


def _products(graph: Graph) -> dict[_Shared, list[Node]]:
    """The products that gain by it, by what they share."""
    found: dict[_Shared, list[Node]] = {}
    for node in graph:
        if node.op in PRODUCTS and node.host_reason is None and _gains(graph, node):
            weight = _weight(graph, node)
            shared = graph[weight.node].inputs[0] if graph[weight.node].op == READ else weight
            found.setdefault(_Shared(shared, node.attrs.get("transpose_b", False)), []).append(node)
    return found


def _weight(graph: Graph, product: Node) -> Value:
    """The weight that a product reads, or, behind Identities, the read of a resource variable that gives it."""
    value = product.inputs[1]
    while graph[value.node].op == "Identity":
        value = graph[value.node].inputs[0]
    return value if graph[value.node].op == READ else product.inputs[1]


def _gains(graph: Graph, node: Node) -> bool:
    rows, weight = graph.spec(node.inputs[0]), graph.spec(node.inputs[1])
    if node.attrs.get("transpose_a") or node.outputs[0].dtype != "float32":
        return False
    if not rows.is_complete or not weight.is_complete or weight.dtype != "float32" or weight.rank != 2:
        return False
    columns = weight.known_shape()[0 if node.attrs.get("transpose_b") else 1]
    is_large = weight.n_bytes >= LEAST_BYTES and columns >= LEAST_COLUMNS
    return rows.known_shape()[0] in ROWS and is_large


def _common(graph: Graph, shared: Value, products: list[Node], writers: Writers) -> Value | None:
    """The weight that is the same for all of them, None where it may not be.

    What was read of a resource variable stays, as an update does not touch it, but another read may find an update.
    """
    weights = {_weight(graph, node) for node in products}
    if len(weights) > 1:
        reads = {value.node for value in weights}
        order = topological(list(graph)) if _is_written_later(graph, shared, reads, writers) else []
        return next((Value(node.name) for node in order if node.name in reads), None)
    (weight,) = weights
    is_read = graph[weight.node].op == READ
    return weight if is_read or not shows_variable(graph, weight) or writers.comes_later(weight, products) else None


def _is_written_later(graph: Graph, handle: Value, reads: set[str], writers: Writers) -> bool:
    """Whether everybody else who is handed a resource variable waits for all of these reads."""
    name = graph[handle.node].attrs.get("shared_name")
    same = [node for node in graph if node.op == HANDLE and node.attrs.get("shared_name") == name]
    if len(same) != 1 or same[0].name != handle.node or reads & conditional_nodes(graph):
        return False
    others = {node.name for node in graph if handle in node.inputs and node.op != READ}
    return all(others <= reached([read], writers.after) for read in sorted(reads))


def _laid_out(graph: Graph, weight: Value, is_turned: bool) -> Value:
    """The weight in panels, made by a node that does not run where its maker does not."""
    name = f"{weight.node}/{'turned_' if is_turned else ''}panels_{weight.output}"
    if name not in graph:
        shape = graph.spec(weight).shape
        spec = Spec(shape[::-1] if is_turned and shape is not None else shape, "float32")
        graph.add(Node(name, PANELS, [weight], attrs={"T": "float32", "transpose": is_turned}, outputs=[spec], members=()))
    return Value(name)


def _use(nodes: list[Node], panels: Value) -> None:
    for node in nodes:
        fused = {name: node.attrs.get(name, default) for name, default in (("fused_ops", ()), ("leakyrelu_alpha", 0.2))}
        node.op, node.attrs = PANEL_MATMUL, {"T": "float32", **fused}
        node.inputs = [node.inputs[0], panels, *node.inputs[2:]]


def _lay_out_before(graph: Graph, node: Node, writers: Writers) -> int:
    """Lay out the weights that come into a loop and stay; returns how many."""
    loop = node.attrs["loop"]
    positions = {source: position for position, source in loop.constants.items()}
    n_laid_out = 0
    for (shared, is_turned), products in _products(loop.graph).items():
        position = positions.get(shared.node)
        weight = None if position is None else _weight_before(graph, node, position, products, writers)
        if weight is None:
            continue
        panels = _laid_out(graph, weight, is_turned)
        name = f"{shared.node}/{'turned_' if is_turned else ''}panels"
        source = loop.graph.add(Node(name, LOOP_INPUT, outputs=[graph.spec(panels)]))
        loop.constants[len(node.inputs)] = source.name
        node.inputs.append(panels)
        _use(products, Value(source.name))
        n_laid_out += 1
    return n_laid_out


def _weight_before(graph: Graph, node: Node, position: int, products: list[Node], writers: Writers) -> Value | None:
    """The weight of a loop's products before it: what comes in, or read of the handle that comes in, if nobody inside writes."""
    inside, entering = node.attrs["loop"].graph, node.inputs[position]
    weight = _weight(inside, products[0])
    if inside[weight.node].op != READ:
        return entering if not shows_variable(graph, entering) or writers.comes_later(entering, [node]) else None
    handle = inside[weight.node].inputs[0]
    is_alone = graph[entering.node].op == HANDLE and node.inputs.count(entering) == 1
    if not is_alone or any(handle in one.inputs and one.op != READ for one in inside):
        return None
    waits = [name for name in predecessors(node) if name != entering.node]
    attrs, outputs = inside[weight.node].attrs, inside[weight.node].outputs
    name = f"{node.name}/{handle.node}/read"
    if name not in graph:
        graph.add(Node(name, READ, [entering], list(dict.fromkeys(waits)), attrs, list(outputs), members=()))
    return Value(name)
