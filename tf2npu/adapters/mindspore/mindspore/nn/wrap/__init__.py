"""Cells around networks: the loss, the gradients, a step of training."""

from mindspore.nn.wrap.cell_wrapper import (
    GetNextSingleOp,
    ParameterUpdate,
    TrainOneStepCell,
    VirtualDatasetCellTriple,
    WithEvalCell,
    WithGradCell,
    WithLossCell,
)
from mindspore.nn.wrap.grad_reducer import DistributedGradReducer
from mindspore.nn.wrap.loss_scale import DynamicLossScaleUpdateCell, FixedLossScaleUpdateCell, TrainOneStepWithLossScaleCell

__all__ = [
    "DistributedGradReducer", "DynamicLossScaleUpdateCell", "FixedLossScaleUpdateCell", "GetNextSingleOp", "ParameterUpdate",
    "TrainOneStepCell", "TrainOneStepWithLossScaleCell", "VirtualDatasetCellTriple", "WithEvalCell", "WithGradCell",
    "WithLossCell",
]  # fmt: skip
