"""Before: Reshape(x, Pack(StridedSlice(Shape(x)), 128)).  After: Reshape(x, [32, 128]), once the shape of x is known.

Folded nodes keep their name and control inputs and become `_Constant`, with the values in their output specs.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from npu_runtime.analysis.movable_reads import shows_variable
from npu_runtime.device import float_status
from npu_runtime.device.denormals import flushed
from npu_runtime.dtypes import FLOATS, to_numpy
from npu_runtime.errors import MISFITS, DeviceError
from npu_runtime.graph.ir import Graph, Node
from npu_runtime.graph.ops import CONSTANT, HANDLES, WHILE
from npu_runtime.graph.order import topological
from npu_runtime.graph.spec import Spec
from npu_runtime.kernels.base import all_kernels
from npu_runtime.passes.base import graph_pass
from npu_runtime.passes.simplify.infer_shapes import device_nodes, infer_node, make_constant
from npu_runtime.passes.simplify.loop_shapes import LoopShapes

ARRAY_SIZE = "TensorArraySizeV3"
MOST_ZEROS = 1 << 14
"""Elements of the largest tensor of zeros that is kept: in a loop, making it anew takes as long as a small kernel."""
MAX_ELEMENTS = 1 << 20
"""Elements of the largest result that is kept. Larger ones are computed in every run: they would cost memory for a value that
is cheap to make."""


@graph_pass
def fold_constants(graph: Graph) -> int:
    """Infer shapes and fold in one walk, as each makes the other possible; returns the number of nodes folded.

    Kernels compute as they do in a step: denormals are zero on every thread, overflow and NaN are values.
    """
    with flushed(), np.errstate(all="ignore"):
        return _fold(graph, False)


@graph_pass
def find_constants(graph: Graph) -> int:
    """As `fold_constants`, but a node that computes floats still runs, and only its readers know what it makes."""
    with flushed(), np.errstate(all="ignore"):
        return _fold(graph, True)


def _fold(graph: Graph, keeps_floats: bool) -> int:
    loops = LoopShapes(graph, partial(_fold, keeps_floats=keeps_floats))
    return sum(_visit(graph, node, loops, keeps_floats) for node in topological(device_nodes(graph)))


def _visit(graph: Graph, node: Node, loops: LoopShapes, keeps_floats: bool) -> int:
    if node.op == WHILE:
        loops.infer(node)
        return 0
    infer_node(graph, node)
    if node.op in ("TensorArrayScatterV3", "TensorArrayGatherV3"):
        loops.infer_array(node)
    if node.op in ("Const", CONSTANT) or (node.is_stateful and node.op != ARRAY_SIZE) or node.ref_outputs or node.ref_inputs:
        return 0
    values = _shape_values(graph, node) or _computed_values(graph, node)
    if values is None:
        return 0
    known = [Spec(v.shape, spec.dtype, v) for v, spec in zip(values, node.outputs, strict=True)]
    if keeps_floats and any(spec.dtype in FLOATS for spec in known):
        node.outputs = known
        return 0
    node.controls = list(dict.fromkeys([*node.controls, *_inherited_controls(graph, node)]))
    make_constant(node, known)
    return 1


def _inherited_controls(graph: Graph, node: Node) -> list[str]:
    """The nodes that a folded node still waits for: effects that its inputs waited for, such as the update of a moving average.

    In a branch not taken it must stay dead, as its inputs are.
    """
    controls: list[str] = []
    for value in node.inputs:
        producer = graph[value.node]
        controls += producer.controls if _is_constant(producer) else [producer.name]
    return controls


def _is_constant(node: Node) -> bool:
    return node.op in ("Const", CONSTANT)


def _shape_values(graph: Graph, node: Node) -> list[np.ndarray] | None:
    """Shape, ShapeN, Size and Rank need their input's shape only, as small zeros do; an array that does not grow has its size.

    The rank of a ref variable is what `assert_variables_initialized` asks for, to fail where there is no value.
    """
    if node.op == ARRAY_SIZE:
        return _array_size(graph, graph[node.inputs[0].node])
    if node.op not in ("Shape", "ShapeN", "Size", "Rank", "ZerosLike"):
        return None
    specs = [graph.spec(value) for value in node.inputs]
    dtype = np.dtype(node.outputs[0].dtype)
    if node.op == "Rank":
        return None if specs[0].rank is None or shows_variable(graph, node.inputs[0]) else [np.array(specs[0].rank, dtype)]
    if not all(spec.is_complete for spec in specs):
        return None
    if node.op == "ZerosLike":
        return _zeros(specs[0])
    if node.op == "Size":
        return [np.array(np.prod(specs[0].known_shape(), dtype=np.int64), dtype)]
    return [np.array(spec.known_shape(), dtype) for spec in specs]


def _array_size(graph: Graph, array: Node) -> list[np.ndarray] | None:
    if array.op != "TensorArrayV3" or array.attrs.get("dynamic_size", False):
        return None
    size = graph.spec(array.inputs[0]).value
    return None if size is None or size.ndim else [size]


def _zeros(spec: Spec) -> list[np.ndarray] | None:
    if spec.dtype in HANDLES or math.prod(spec.known_shape()) > MOST_ZEROS:
        return None
    return [np.zeros(spec.known_shape(), to_numpy(spec.dtype))]


def _computed_values(graph: Graph, node: Node) -> list[np.ndarray] | None:
    """Run the kernel when every input is constant and the result is small."""
    made = all_kernels().get(node.op)
    inputs = [graph.spec(value).value for value in node.inputs]
    if made is None or made.is_stateful or not inputs or any(value is None for value in inputs):
        return None
    if any(spec.dtype in HANDLES for spec in node.outputs):  # a list is no tensor
        return None
    if any(spec.is_complete and np.prod(spec.known_shape()) > MAX_ELEMENTS for spec in node.outputs):
        return None
    try:
        result = made.function(*inputs, **made.bind(node.attrs))
    except (DeviceError, *MISFITS):  # told in the run, if the node is in a branch that is taken
        return None
    values = [np.asarray(v) for v in (result if isinstance(result, tuple) else (result,))]
    if float_status.saturates():
        values = [np.asarray(float_status.saturated(v, node.name)) for v in values]
    return values if all(v.size <= MAX_ELEMENTS for v in values) else None
