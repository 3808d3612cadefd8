"""Before: tensors in rows.  After: each in the format that its operator makes, with a TransData where a reader wants another one.

Conv2D takes and makes images in blocks of 16 channels (NC1HWC0), MatMul matrices in blocks (FRACTAL_NZ); element-wise work,
normalisation, pooling and softmax go on in the format that they are given; all others want rows.  Variables keep the format that
their readers want from step to step.  Source: supported formats in the vendor's operator information; a pass of the graph engine
changes the format of variables; chips with split cores convert matrices while they load them.
"""

from __future__ import annotations

from npu_formats.device.chip import Chip
from npu_runtime.lowering.chip_graph import (
    CUBE,
    ELEMENTWISE,
    MOVEMENT,
    NC1HWC0,
    ND,
    NORMALIZATION,
    NZ,
    REDUCTION,
    UPDATE,
    ChipGraph,
    ChipOp,
    Tensor,
)

TRANS_DATA = "TransData"
_RESHAPED = " of another shape"
"""Suffix of the format of a view whose blocks are not those of its own shape."""
_POOLS = ("MaxPool", "AvgPool")
_ROW_OPS = frozenset({"Softmax", "LogSoftmax", "SoftmaxCrossEntropyWithLogits", "SoftmaxGrad", "LogSoftmaxGrad"})
_AGNOSTIC = frozenset({ELEMENTWISE, NORMALIZATION, REDUCTION, UPDATE})


def assign_formats(graph: ChipGraph, chip: Chip) -> None:
    """Give every tensor its format and add the conversions."""
    assignment = _Assignment(chip)
    graph.ops = [made for op in graph.ops for made in assignment.visit(op)]


class _Assignment:
    """converted: tensors in another format than they were made in, by tensor and format."""

    def __init__(self, chip: Chip) -> None:
        self.chip = chip
        self.converted: dict[tuple[Tensor, str], Tensor] = {}

    def visit(self, op: ChipOp) -> list[ChipOp]:
        """The operator behind the conversions that it needs."""
        added: list[ChipOp] = []
        if op.pattern == UPDATE:  # in the format of the gradient, which the variable has too
            return [op]
        wanted, largest = self._own_format(op) or self._given_format(op), _largest(op)
        for position, tensor in enumerate(op.inputs):
            needed = wanted if tensor.n_elements == largest or op.pattern == CUBE else _format_of(tensor)
            if needed != _format_of(tensor) and _has_format(tensor):
                op.inputs[position] = self._convert(tensor, needed, added)
        most = max((tensor.n_elements for tensor in op.outputs), default=0)
        for tensor in op.outputs:
            tensor.format = wanted if len(tensor.shape) > 1 and tensor.n_elements == most else ND
        return [*added, op]

    def _own_format(self, op: ChipOp) -> str:
        """The format that an operator insists on, "" for one that takes what it is given."""
        if op.pattern == CUBE:
            images = "Conv" in op.op
            return NC1HWC0 if images else (ND if self.chip.is_split else NZ)
        if op.op.startswith(_POOLS):
            return NC1HWC0
        return "" if op.pattern in _AGNOSTIC or op.op in _ROW_OPS else ND

    def _given_format(self, op: ChipOp) -> str:
        """The format of the first large input that is no view of another shape."""
        largest = _largest(op)
        found = next((_format_of(t) for t in op.inputs if t.n_elements == largest and _has_format(t)), ND)
        return ND if found.endswith(_RESHAPED) else found

    def _convert(self, tensor: Tensor, wanted: str, added: list[ChipOp]) -> Tensor:
        key = tensor, wanted
        if key not in self.converted:
            name = f"trans_TransData_{len(self.converted)}"
            members = tensor.producer.members if tensor.producer is not None else ()
            made = ChipOp(name, TRANS_DATA, TRANS_DATA, MOVEMENT, [tensor], [], members)
            made.outputs.append(Tensor(f"{name}:0", tensor.shape, tensor.dtype, wanted, producer=made))
            added.append(made)
            self.converted[key] = made.outputs[0]
        return self.converted[key]


def _largest(op: ChipOp) -> int:
    return max((t.n_elements for t in (*op.inputs, *op.outputs)), default=0)


def _format_of(tensor: Tensor) -> str:
    """The format in which a reader finds a tensor: a view of blocks in another shape is none of blocks, but for more rows."""
    base = tensor.storage
    is_same = base.shape == tensor.shape or (base.format == NZ and base.shape[-1:] == tensor.shape[-1:])
    return base.format if is_same or base.format == ND else base.format + _RESHAPED


def _has_format(tensor: Tensor) -> bool:
    """Whether blocks matter: not for vectors, and not for variables and what is cast from them."""
    op = tensor.producer
    is_weight = tensor.storage.is_variable or (op is not None and op.op_type == "Cast" and op.inputs[0].storage.is_variable)
    return len(tensor.shape) > 1 and not is_weight
