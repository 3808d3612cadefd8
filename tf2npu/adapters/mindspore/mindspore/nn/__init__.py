"""Cells: layers, losses, optimizers, schedules, wrappers, metrics."""

from mindspore._device.absent_names import absent as _absent
from mindspore.nn import dynamic_lr, layer, learning_rate_schedule, loss, metrics, optim, wrap
from mindspore.nn.cell import Cell, GraphKernel
from mindspore.nn.dynamic_lr import *
from mindspore.nn.layer import *
from mindspore.nn.learning_rate_schedule import *
from mindspore.nn.loss import *
from mindspore.nn.metrics import *
from mindspore.nn.optim import *
from mindspore.nn.wrap import *

__all__ = [
    "Cell", "GraphKernel", *dynamic_lr.__all__, *layer.__all__, *learning_rate_schedule.__all__, *loss.__all__, *metrics.__all__,
    *optim.__all__, *wrap.__all__,
]  # fmt: skip

__getattr__ = _absent("mindspore.nn", lambda: __all__)
