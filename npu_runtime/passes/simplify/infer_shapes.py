"""Before: shapes as TensorFlow knew them when the graph was built.  After: as this run's feeds make them."""

from __future__ import annotations

from npu_runtime.errors import MISFITS, DeviceError
from npu_runtime.graph.ir import Graph, Node
from npu_runtime.graph.ops import CONSTANT, HANDLES, MERGES, SWITCHES
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.base import all_kernels
from npu_runtime.kernels.shapes import merge

PASS_THROUGH = frozenset({"PlaceholderWithDefault", "Identity", "RefIdentity"})


def make_constant(node: Node, outputs: list[Spec]) -> None:
    """Makes a node a constant, as its values are known: it keeps its name and control edges, with the values in its specs."""
    node.op, node.inputs, node.attrs, node.is_stateful, node.outputs = CONSTANT, [], {}, False, outputs


def device_nodes(graph: Graph) -> list[Node]:
    return [node for node in graph if node.host_reason is None]


def infer_node(graph: Graph, node: Node) -> int:
    """Sharpen one node's output specs from its inputs'; returns the number that changed.

    An error of the shape function is left for the run: the node may sit in a branch that is not taken.
    """
    shapes = _shapes(graph, node)
    changed = 0
    for index, shape in enumerate(shapes):
        old = node.outputs[index]
        sharper = merge(shape, old.shape)
        if sharper != old.shape and old.value is None:
            node.outputs[index] = Spec(sharper, old.dtype)
            changed += 1
    return changed


def _shapes(graph: Graph, node: Node) -> list[Shape]:
    inputs = [graph.spec(value) for value in node.inputs]
    if node.op in SWITCHES:
        return [inputs[0].shape] * 2
    if node.op in MERGES:
        first = inputs[0].shape
        return [first if all(spec.shape == first for spec in inputs) else None, ()]
    if node.op in PASS_THROUGH and inputs and inputs[0].dtype not in HANDLES:
        return [inputs[0].shape]
    made = all_kernels().get(node.op)
    if made is None:
        return []
    try:
        return made.infer(inputs, node.attrs)
    except (DeviceError, *MISFITS):
        return []
