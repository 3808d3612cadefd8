"""Optimizers of one call for all parameters: each step reads parameters, gradients and states, and writes all but gradients."""

from __future__ import annotations

from npu_runtime.importers.pytorch.graph_builder import GraphBuilder
from npu_runtime.importers.pytorch.operator_call import OperatorCall, changed_tensors
from npu_runtime.importers.pytorch.operator_table import OperatorRow
from npu_runtime.lowering.chip_graph import UPDATE


def optimizer(builder: GraphBuilder, call: OperatorCall, row: OperatorRow) -> None:
    """_fused_adam_ and its like: an update writes the variables that it reads, so only others are its results."""
    made = builder.launch(row.op, row.device_op, UPDATE, builder.read_all(call.arguments[:5]))
    for use in changed_tensors(call):
        if not builder.show(use).storage.is_variable:
            builder.keep(made, use)
