"""Dropout: a mask of a bit an element, which the AI CPU makes beside the computations, and a task that applies it.

Where torch draws the mask by itself, divides it and multiplies with it, the device does the same two.
"""

from __future__ import annotations

from npu_runtime.importers.pytorch.families.copies import copy
from npu_runtime.importers.pytorch.families.plain import plain, written_tensors
from npu_runtime.importers.pytorch.graph_builder import GraphBuilder
from npu_runtime.importers.pytorch.operator_call import OperatorCall, TensorUse, argument
from npu_runtime.importers.pytorch.operator_table import OperatorRow
from npu_runtime.lowering.chip_graph import AI_CPU, ELEMENTWISE
from npu_runtime.lowering.fuse_dropout import GENERATE_MASK


def dropout(builder: GraphBuilder, call: OperatorCall, row: OperatorRow) -> None:
    """native_dropout.  Arguments: x, probability, whether it trains; results: what is kept, the mask."""
    x, out, mask = call.arguments[0], *call.results[:2]
    if argument(call, 2, "train") is False:
        copy(builder, call, row)
        return
    builder.keep(builder.launch(GENERATE_MASK, GENERATE_MASK, AI_CPU, []), mask, (mask.n_elements,), bits=1)
    builder.keep(builder.launch("Mul", "DropOutDoMask", ELEMENTWISE, [builder.read(x), builder.read(mask)]), out)


def dropout_backward(builder: GraphBuilder, call: OperatorCall, row: OperatorRow) -> None:
    """native_dropout_backward.  Arguments: gradient, mask, scale."""
    plain(builder, call, row._replace(family="elementwise"))


def mask(builder: GraphBuilder, call: OperatorCall, row: OperatorRow) -> None:
    """bernoulli: zeros and ones by one probability."""
    made = builder.launch(GENERATE_MASK, GENERATE_MASK, AI_CPU, [])
    for use in written_tensors(call):
        builder.keep(made, use, (use.n_elements,), bits=1)


def quotient(builder: GraphBuilder, call: OperatorCall, row: OperatorRow) -> None:
    """div; of a mask nothing, as the operator that applies it scales too."""
    x = call.arguments[0]
    if call.is_in_place and isinstance(x, TensorUse) and builder.show(x).storage.bits == 1:
        return
    plain(builder, call, row._replace(family="elementwise"))
