"""Copies: between tensors of the device, from the host, and to the host, which then waits."""

from __future__ import annotations

from npu_runtime.cost.memory_copy import TO_DEVICE, TO_HOST
from npu_runtime.importers.pytorch.families.plain import fill, written_tensors
from npu_runtime.importers.pytorch.graph_builder import GraphBuilder
from npu_runtime.importers.pytorch.operator_call import OperatorCall, TensorUse, tensors_in
from npu_runtime.importers.pytorch.operator_table import OperatorRow
from npu_runtime.lowering.chip_graph import COPY, ELEMENTWISE, MOVEMENT


def copy(builder: GraphBuilder, call: OperatorCall, row: OperatorRow) -> None:
    """clone, copy_, _to_copy: a Cast to another type, a Transpose of strided memory, else a move.

    Where torch gives back the same memory, nothing is launched.
    """
    is_into = call.is_in_place
    source = call.arguments[1] if is_into and len(call.arguments) > 1 else call.arguments[0]
    target = written_tensors(call)[0]
    if not isinstance(source, TensorUse):
        fill(builder, call, row)
        return
    if source.storage == target.storage and not is_into:
        return
    if source.dtype != target.dtype:
        made = builder.launch("Cast", "Cast", ELEMENTWISE, [builder.read(source)])
    elif builder.is_strided(source):
        tensor = builder.show(source)
        made = builder.launch("Transpose", "StridedSlice" if tensor.is_part else "Transpose", MOVEMENT, [tensor])
    else:
        made = builder.launch("Cast", "TensorMove", ELEMENTWISE, [builder.show(source)])
    builder.keep(made, target)


def from_host(builder: GraphBuilder, call: OperatorCall, row: OperatorRow) -> None:
    """Bytes of host memory that become a tensor of the device."""
    for use in written_tensors(call) or list(tensors_in(call.arguments))[:1]:
        builder.keep(builder.launch(TO_DEVICE, row.device_op, COPY, []), use)


def to_host(builder: GraphBuilder, call: OperatorCall, row: OperatorRow) -> None:
    """Bytes of a tensor that the host asks for."""
    builder.launch(TO_HOST, row.device_op, COPY, builder.read_all(call.arguments))
