"""Cells: layers, losses, optimizers, wrappers, metrics."""

from mindspore.nn.cell import Cell, GraphKernel

__all__ = ["Cell", "GraphKernel"]
