"""Collectives: of c10d, which change tensors in place, and the functional ones."""

from __future__ import annotations

from npu_runtime.importers.pytorch.families.plain import written_tensors
from npu_runtime.importers.pytorch.graph_builder import GraphBuilder
from npu_runtime.importers.pytorch.operator_call import OperatorCall, tensors_in
from npu_runtime.importers.pytorch.operator_table import OperatorRow
from npu_runtime.lowering.chip_graph import COLLECTIVE

_GIVEN = {
    "allgather_": 1,
    "_allgather_base_": 1,
    "reduce_scatter_": 1,
    "_reduce_scatter_base_": 1,
    "alltoall_": 1,
    "alltoall_base_": 1,
}
"""Positions of what a rank gives, for those that take their outputs first.  Source: the schemas of torch's library c10d."""


def collective(builder: GraphBuilder, call: OperatorCall, row: OperatorRow) -> None:
    """One call of all ranks of a group: it costs by the bytes that this rank gives."""
    given = list(tensors_in(call.arguments[_GIVEN.get(call.name.partition("::")[2], 0)])) if call.arguments else []
    made = builder.launch(row.op, row.device_op, COLLECTIVE, [builder.read(use) for use in given])
    for use in written_tensors(call):
        builder.keep(made, use)
