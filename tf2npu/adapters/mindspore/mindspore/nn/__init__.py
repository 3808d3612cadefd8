"""Cells: layers, losses, optimizers, wrappers, metrics."""

from mindspore.nn import dynamic_lr, layer, learning_rate_schedule, loss, optim
from mindspore.nn.cell import Cell, GraphKernel
from mindspore.nn.dynamic_lr import *
from mindspore.nn.layer import *
from mindspore.nn.learning_rate_schedule import *
from mindspore.nn.loss import *
from mindspore.nn.optim import *

__all__ = [
    "Cell", "GraphKernel",
    *dynamic_lr.__all__, *layer.__all__, *learning_rate_schedule.__all__, *loss.__all__, *optim.__all__,
]  # fmt: skip
