"""Before: FusedBatchNormV3 and its gradient.  After: two operators each, as the chip has them.

FusedBatchNormV3 -> BNTrainingReduce (sums of each channel) and BNTrainingUpdate (the result); FusedBatchNormGradV3 ->
BNTrainingUpdateGrad (gradients of scale and offset) and BNTrainingReduceGrad (gradient of the input).
Source: names and purpose of the passes of the vendor's open graph engine.
"""

from __future__ import annotations

from npu_runtime.lowering.chip_graph import ELEMENTWISE, REDUCTION, ChipGraph, ChipOp, Tensor

_FORWARD = frozenset({"FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"})
_BACKWARD = frozenset({"FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3"})
_REDUCED, _UPDATED = "_Reduce", "_Update"
"""Suffixes of the halves' names.  Source: listing of the vendor's profiling guide (`.../FusedBatchNormV3_Reduce`)."""


def split_normalization(graph: ChipGraph) -> None:
    """Replace every normalisation over a batch by its two operators."""
    graph.ops = [part for op in graph.ops for part in _parts(op)]
    for op in graph.ops:
        for tensor in op.inputs:
            if tensor.base is not None:  # a view of what a half makes now
                tensor.producer = tensor.storage.producer


def _parts(op: ChipOp) -> list[ChipOp]:
    if op.op in _FORWARD and op.attrs.get("is_training", True):
        return _forward(op)
    return _backward(op) if op.op in _BACKWARD and op.attrs.get("is_training", True) else [op]


def _forward(op: ChipOp) -> list[ChipOp]:
    x, vectors = op.inputs[0], op.inputs[1:]
    first = ChipOp(op.name + _REDUCED, op.op, "BNTrainingReduce", REDUCTION, [x], [], op.members, op.attrs, op.is_dynamic)
    first.outputs = _sums(first, op.outputs[1], 2)
    last = ChipOp(op.name + _UPDATED, op.op, "BNTrainingUpdate", ELEMENTWISE, [x, *first.outputs, *vectors], op.outputs,
                  op.members, op.attrs, op.is_dynamic)  # fmt: skip
    return _made_by(first, last)


def _backward(op: ChipOp) -> list[ChipOp]:
    gradient, x, vectors = op.inputs[0], op.inputs[1], op.inputs[2:]
    first = ChipOp(op.name + _UPDATED, op.op, "BNTrainingUpdateGrad", REDUCTION, [gradient, x, *vectors[1:]], op.outputs[1:],
                   op.members, op.attrs, op.is_dynamic)  # fmt: skip
    last = ChipOp(op.name + _REDUCED, op.op, "BNTrainingReduceGrad", ELEMENTWISE, [gradient, x, *op.outputs[1:3], *vectors],
                  op.outputs[:1], op.members, op.attrs, op.is_dynamic)  # fmt: skip
    return _made_by(first, last)


def _made_by(*parts: ChipOp) -> list[ChipOp]:
    for part in parts:
        for tensor in part.outputs:
            tensor.producer = part
    return list(parts)


def _sums(op: ChipOp, like: Tensor, n: int) -> list[Tensor]:
    return [Tensor(f"{op.name}:{index}", like.shape, "float32") for index in range(n)]
