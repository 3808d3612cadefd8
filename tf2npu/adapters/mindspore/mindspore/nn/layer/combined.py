"""Cells of a convolution or a matrix product with normalisation and activation."""

from __future__ import annotations

from typing import Any

from mindspore import _checkparam as check
from mindspore.nn.cell import Cell
from mindspore.nn.layer.activation import LeakyReLU, activation_of
from mindspore.nn.layer.basic import Dense
from mindspore.nn.layer.conv import Conv2d
from mindspore.nn.layer.normalization import BatchNorm1d, BatchNorm2d


class _WithActivation(Cell):
    """The parts after the linear one."""

    def _insert_rest(self, batchnorm: Cell | None, activation: Any, alpha: float, after_fake: bool) -> None:
        self.after_fake = check.flag(after_fake, "after_fake", self.cls_name)
        self.has_bn, self.has_act = batchnorm is not None, activation is not None
        if batchnorm is not None:
            self.batchnorm = batchnorm
        self.activation = LeakyReLU(alpha) if activation == "leakyrelu" else activation_of(activation, self.cls_name)

    def _rest(self, x: Any) -> Any:
        x = self.batchnorm(x) if self.has_bn else x
        return self.activation(x) if self.has_act else x


class Conv2dBnAct(_WithActivation):
    """A convolution, and if asked batch normalisation and an activation."""

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, pad_mode: str = "same", padding: Any = 0,
        dilation: Any = 1, group: int = 1, has_bias: bool = False, weight_init: Any = "normal", bias_init: Any = "zeros",
        has_bn: bool = False, momentum: float = 0.997, eps: float = 1e-5, activation: Any = None, alpha: float = 0.2,
        after_fake: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        self.conv = Conv2d(
            in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group, has_bias, weight_init, bias_init
        )
        batchnorm = BatchNorm2d(out_channels, eps, momentum) if check.flag(has_bn, "has_bn", "Conv2dBnAct") else None
        self._insert_rest(batchnorm, activation, alpha, after_fake)

    def construct(self, x: Any) -> Any:
        return self._rest(self.conv(x))


class DenseBnAct(_WithActivation):
    """A dense layer, and if asked batch normalisation and an activation."""

    def __init__(
        self, in_channels: int, out_channels: int, weight_init: Any = "normal", bias_init: Any = "zeros", has_bias: bool = True,
        has_bn: bool = False, momentum: float = 0.9, eps: float = 1e-5, activation: Any = None, alpha: float = 0.2,
        after_fake: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        self.dense = Dense(in_channels, out_channels, weight_init, bias_init, has_bias)
        batchnorm = BatchNorm1d(out_channels, eps, momentum) if check.flag(has_bn, "has_bn", "DenseBnAct") else None
        self._insert_rest(batchnorm, activation, alpha, after_fake)

    def construct(self, x: Any) -> Any:
        return self._rest(self.dense(x))


__all__ = ["Conv2dBnAct", "DenseBnAct"]
