"""Cells of losses."""

from mindspore.nn.loss import loss
from mindspore.nn.loss.loss import *

__all__ = [*loss.__all__]
