"""From calls of PyTorch's operators to the graph of the chip."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from npu_runtime.importers.pytorch.families.attention import attention, attention_backward
from npu_runtime.importers.pytorch.families.collectives import collective
from npu_runtime.importers.pytorch.families.convolution import convolution, convolution_backward
from npu_runtime.importers.pytorch.families.copies import copy, from_host, to_host
from npu_runtime.importers.pytorch.families.dropout import dropout, dropout_backward, mask, quotient
from npu_runtime.importers.pytorch.families.indexing import scatter
from npu_runtime.importers.pytorch.families.normalization import batch_norm, batch_norm_backward, row_norm
from npu_runtime.importers.pytorch.families.optimizers import optimizer
from npu_runtime.importers.pytorch.families.plain import fill, nothing, plain, random, unmapped, view
from npu_runtime.importers.pytorch.families.pooling import max_pool
from npu_runtime.importers.pytorch.families.products import linear, product, product_with_addend
from npu_runtime.importers.pytorch.families.recurrent import recurrent, recurrent_backward
from npu_runtime.importers.pytorch.graph_builder import GraphBuilder, TracedGraph, lasting_storages
from npu_runtime.importers.pytorch.operator_call import OperatorCall
from npu_runtime.importers.pytorch.operator_table import OperatorRow, row_of
from npu_runtime.lowering.chip_graph import CUBE, ELEMENTWISE

Family = Callable[[GraphBuilder, OperatorCall, OperatorRow], None]
FAMILIES: Mapping[str, Family] = {
    "elementwise": plain, "reduction": plain, "movement": plain, "ai_cpu": plain, "fill": fill, "random": random, "view": view,
    "nothing": nothing, "copy": copy, "from_host": from_host, "to_host": to_host, "convolution": convolution,
    "convolution_backward": convolution_backward, "product": product, "product_with_addend": product_with_addend,
    "linear": linear, "batch_norm": batch_norm, "batch_norm_backward": batch_norm_backward, "row_norm": row_norm,
    "max_pool": max_pool, "scatter": scatter, "dropout": dropout, "dropout_backward": dropout_backward, "mask": mask,
    "quotient": quotient, "attention": attention, "attention_backward": attention_backward, "optimizer": optimizer,
    "collective": collective, "recurrent": recurrent, "recurrent_backward": recurrent_backward,
}  # fmt: skip
"""The function of each family that stands in operators.csv."""


def chip_graph_of(calls: Sequence[OperatorCall]) -> TracedGraph:
    """The operators of the chip for the calls of one device, in the order of the calls.

    Calls that the table does not know are movements of their bytes, and named in `unmapped`.
    """
    builder = GraphBuilder(lasting_storages(calls))
    for call in calls:
        builder.begin(call)
        row = row_of(call.name)
        if row is None:
            unmapped(builder, call)
        else:
            FAMILIES[row.family](builder, call, row)
    _leave_out_empty(builder.graph)
    return builder.graph


def _leave_out_empty(graph: TracedGraph) -> None:
    """Nothing is launched for results without elements; a product over no elements is zeros."""
    gone = {op for op in graph.ops if op.outputs and not any(tensor.n_elements for tensor in op.outputs)}
    graph.ops = [op for op in graph.ops if op not in gone]
    for op in graph.ops:
        if op.pattern == CUBE and not all(tensor.n_elements for tensor in op.inputs):
            op.op, op.op_type, op.pattern, op.inputs = "ZerosLike", "ZerosLike", ELEMENTWISE, []
        for tensor in op.inputs:
            if tensor.producer in gone:
                tensor.producer = None
