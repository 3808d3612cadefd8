"""Changes of a part of a tensor by indices: what is written is as large as the values, not as the tensor."""

from __future__ import annotations

from npu_runtime.importers.pytorch.families.plain import plain
from npu_runtime.importers.pytorch.graph_builder import GraphBuilder
from npu_runtime.importers.pytorch.operator_call import OperatorCall, tensors_in
from npu_runtime.importers.pytorch.operator_table import OperatorRow
from npu_runtime.lowering.chip_graph import MOVEMENT


def scatter(builder: GraphBuilder, call: OperatorCall, row: OperatorRow) -> None:
    """index_put, scatter, index_add and their like, in place or into a copy of all of the first argument."""
    given = list(tensors_in(call.arguments[1:]))
    if not call.is_in_place or not given:
        plain(builder, call, row._replace(family="movement"))
        return
    target = next(tensors_in(call.arguments[0]))
    largest = max(given, key=lambda use: use.n_elements)
    made = builder.launch(row.op, row.device_op, MOVEMENT, [builder.read(use) for use in given])
    builder.keep(made, target, largest.shape if largest.n_elements < target.n_elements else None)
