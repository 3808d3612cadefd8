"""Before: nodes of a typed graph.  After: operators of the device and the tensors between them.

Identity, Reshape and the like launch nothing: their results show the memory of their inputs. A rounding is a Cast where the value
comes in fp32, and nothing where the operator before already makes 16 bits.
"""

from __future__ import annotations

from collections.abc import Sequence

from npu_formats.device.chip import Chip
from npu_formats.device.op_table import OpOnDevice, tensorflow_ops
from npu_runtime.analysis.compute_types import DEVICE_TYPE, ROUNDED_INPUT
from npu_runtime.analysis.node_work import node_work
from npu_runtime.dtypes import FLOATS
from npu_runtime.graph.ir import Graph, Node, Value
from npu_runtime.graph.ops import CONSTANT, FEED, LOOP_INPUT, VARIABLES
from npu_runtime.graph.order import topological
from npu_runtime.kernels.elementwise.rounding import ROUND
from npu_runtime.lowering.chip_graph import COLLECTIVE, ELEMENTWISE, ChipGraph, ChipOp, Tensor
from npu_runtime.lowering.patterns import pattern_of

_CONSTANTS = frozenset({"Const", CONSTANT})
_WITHOUT_INPUTS = frozenset({FEED, LOOP_INPUT, "Placeholder", "PlaceholderV2"})
_SHAPE_TYPES = frozenset({"int32", "int64"})


def select_ops(graph: Graph, chip: Chip, fetches: Sequence[Value] = ()) -> tuple[ChipGraph, list[Tensor]]:
    """The operators of the device nodes of a graph, producers first, and the tensors of `fetches`."""
    selection = _Selection(graph, chip)
    for node in topological([node for node in graph if node.host_reason is None]):
        selection.visit(node)
    return selection.chip_graph, [selection.tensors[value].storage for value in fetches if value in selection.tensors]


class _Selection:
    """tensors: of each value of the graph.  casts: made so far, by tensor and type."""

    def __init__(self, graph: Graph, chip: Chip) -> None:
        self.graph, self.chip = graph, chip
        self.chip_graph = ChipGraph()
        self.tensors: dict[Value, Tensor] = {}
        self.casts: dict[tuple[Tensor, str], Tensor] = {}

    def visit(self, node: Node) -> None:
        pattern = pattern_of(node, self.chip)
        if node.op == ROUND and not node.name.startswith(ROUNDED_INPUT):
            self._round_in_place(node)
        elif pattern:
            self._launch(node, ELEMENTWISE if node.op == ROUND else pattern)
        else:
            self._show(node)

    def _round_in_place(self, node: Node) -> None:
        """The operator before makes the 16 bits itself."""
        made = self.tensors[Value(node.name)] = self._tensor_of(node.inputs[0])
        made.dtype = str(node.attrs["dtype"])

    def _show(self, node: Node) -> None:
        for index, spec in enumerate(node.outputs):
            value = Value(node.name, index)
            source = node.inputs[index if len(node.inputs) == len(node.outputs) else 0] if node.inputs else None
            shape = _extents(spec.shape)
            if source is None:
                self.tensors[value] = Tensor(
                    str(value), shape, spec.dtype, is_variable=node.op in VARIABLES, is_constant=node.op in _CONSTANTS
                )  # fmt: skip
                if node.op in VARIABLES:
                    self.tensors[value].shape = _extents(node.attrs.get("shape"))
                    self.tensors[value].dtype = str(node.attrs["dtype"])
                continue
            base = self._tensor_of(source)
            is_same = base.shape == shape or not base.shape or spec.dtype in ("resource", "variant")
            shown = base if is_same else Tensor(str(value), shape, base.dtype, producer=base.producer, base=base)
            self.tensors[value] = shown

    def _launch(self, node: Node, pattern: str) -> None:
        row = tensorflow_ops().get(node.op)
        inputs = [self._input(node, position, row) for position in range(len(node.inputs))]
        op_type = _device_type(node, row, pattern)
        source = str(node.attrs.get("source", "")) if node.op == ROUND else ""
        made = ChipOp(
            node.name, node.op, op_type, pattern, [tensor for tensor in inputs if not _is_attribute(tensor)], [],
            _members(node, source), node.attrs, any(not spec.is_complete for spec in node.outputs), node_work(self.graph, node),
        )  # fmt: skip
        for index, spec in enumerate(node.outputs):
            if index in node.ref_outputs and node.inputs:
                self.tensors[Value(node.name, index)] = self._tensor_of(node.inputs[0])
                continue
            tensor = Tensor(f"{node.name}:{index}", _extents(spec.shape), self._made_type(node, spec.dtype, row), producer=made)
            self.tensors[Value(node.name, index)] = tensor
            made.outputs.append(tensor)
        self.chip_graph.ops.append(made)

    def _made_type(self, node: Node, dtype: str, row: OpOnDevice | None) -> str:
        if dtype != "float32":
            return dtype
        if node.op == ROUND:
            return str(node.attrs["dtype"])
        return str(node.attrs.get(DEVICE_TYPE, dtype)) if row is not None and row.keeps_grid else dtype

    def _input(self, node: Node, position: int, row: OpOnDevice | None) -> Tensor:
        """The tensor that the operator reads, with a Cast where the value is there in another float type."""
        tensor = self._tensor_of(node.inputs[position])
        wanted = self.graph.spec(node.inputs[position]).dtype
        is_typed = row is None or row.inputs is None or position in row.inputs
        if DEVICE_TYPE in node.attrs and is_typed and node.op != ROUND and wanted in FLOATS:
            wanted = str(node.attrs[DEVICE_TYPE])
        if node.op == ROUND or wanted == tensor.dtype or wanted not in FLOATS or tensor.dtype not in FLOATS:
            return tensor
        return self._cast(tensor, wanted, node)

    def _cast(self, tensor: Tensor, dtype: str, reader: Node) -> Tensor:
        key = tensor, dtype
        if key not in self.casts:
            name = f"{ROUNDED_INPUT}{len(self.casts)}_{dtype}"
            members = tensor.producer.members if tensor.producer is not None else (reader.name,)
            made = ChipOp(name, "Cast", "Cast", ELEMENTWISE, [tensor], [], members)
            made.outputs.append(Tensor(f"{name}:0", tensor.shape, dtype, producer=made))
            self.chip_graph.ops.append(made)
            self.casts[key] = made.outputs[0]
        return self.casts[key]

    def _tensor_of(self, value: Value) -> Tensor:
        if value not in self.tensors:  # what the host makes
            spec = self.graph.spec(value)
            self.tensors[value] = Tensor(str(value), _extents(spec.shape), spec.dtype)
        return self.tensors[value]


def _members(node: Node, source: str) -> tuple[str, ...]:
    """The user's nodes that it does.  source: whose result a rounding rounds.  No pass has joined others but collectives."""
    joined = node.original_names if "_npu_op" in node.attrs else ()
    return joined or (source or node.name,)


def _device_type(node: Node, row: OpOnDevice | None, pattern: str) -> str:
    """The device's name of what a node does: a collective has it from the script's own call."""
    if pattern == COLLECTIVE:
        return str(node.attrs["_npu_op"])
    return "Cast" if node.op == ROUND else (row.device_op if row and row.device_op else node.op.lstrip("_"))


def _is_attribute(tensor: Tensor) -> bool:
    """Whether the chip's compiler makes an attribute of an input: constant axes and shapes."""
    return tensor.storage.is_constant and tensor.dtype in _SHAPE_TYPES


def _extents(shape: tuple[int | None, ...] | None) -> tuple[int, ...]:
    """A shape; an extent that only a run tells counts as one."""
    return tuple(1 if n is None else n for n in shape or ())
