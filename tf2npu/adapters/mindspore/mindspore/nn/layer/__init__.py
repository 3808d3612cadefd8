"""Cells of layers."""

from mindspore.nn.layer import (
    activation,
    basic,
    combined,
    container,
    conv,
    embedding,
    image,
    lstm,
    math,
    normalization,
    pooling,
    quant,
)  # fmt: skip
from mindspore.nn.layer.activation import *
from mindspore.nn.layer.basic import *
from mindspore.nn.layer.combined import *
from mindspore.nn.layer.container import *
from mindspore.nn.layer.conv import *
from mindspore.nn.layer.embedding import *
from mindspore.nn.layer.image import *
from mindspore.nn.layer.lstm import *
from mindspore.nn.layer.math import *
from mindspore.nn.layer.normalization import *
from mindspore.nn.layer.pooling import *
from mindspore.nn.layer.quant import *

__all__ = [
    *activation.__all__, *basic.__all__, *combined.__all__, *container.__all__, *conv.__all__, *embedding.__all__,
    *image.__all__, *lstm.__all__, *math.__all__, *normalization.__all__, *pooling.__all__, *quant.__all__,
]  # fmt: skip
