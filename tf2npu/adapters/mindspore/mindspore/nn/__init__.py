"""Cells: layers, losses, optimizers, wrappers, metrics."""

from mindspore.nn import metrics, wrap
from mindspore.nn.cell import Cell, GraphKernel
from mindspore.nn.metrics import *
from mindspore.nn.wrap import *

__all__ = ["Cell", "GraphKernel", *metrics.__all__, *wrap.__all__]
