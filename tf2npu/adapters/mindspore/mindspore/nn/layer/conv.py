"""Cells of convolutions: images are (N, C, H, W), and weights (out, in / group, height, width)."""

from __future__ import annotations

from typing import Any

import numpy as np
from mindspore import _checkparam as check
from mindspore.common.initializer import initializer
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.ops import operations as P


class _Conv(Cell):
    """The weight and the bias of a convolution, and its attributes."""

    is_transposed = False

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any, pad_mode: str, padding: Any, dilation: Any,
        group: int, has_bias: bool, weight_init: Any, bias_init: Any, data_format: str = "NCHW",
    ) -> None:  # fmt: skip
        super().__init__()
        name = self.cls_name
        self.in_channels = check.positive_int(in_channels, "in_channels", name)
        self.out_channels = check.positive_int(out_channels, "out_channels", name)
        self.kernel_size = check.pair(kernel_size, "kernel_size", name)
        self.stride, self.dilation = check.pair(stride, "stride", name), check.pair(dilation, "dilation", name)
        self.pad_mode = check.one_of(pad_mode, ("valid", "same", "pad"), "pad_mode", name)
        self.padding, self.group = _padding(padding, name), check.positive_int(group, "group", name)
        self.has_bias = check.flag(has_bias, "has_bias", name)
        self.format = check.one_of(data_format, ("NCHW",), "data_format", f"{name} on an Ascend NPU")
        for what, channels in (("in_channels", in_channels), ("out_channels", out_channels)):
            if channels % group:
                raise ValueError(f"{name}({what}={channels}, group={group}): the channels do not divide by the groups")
        first, second = (in_channels, out_channels) if self.is_transposed else (out_channels, in_channels)
        self.weight = Parameter(initializer(weight_init, [first, second // group, *self.kernel_size]), name="weight")
        self.bias = Parameter(initializer(bias_init, [out_channels]), name="bias") if has_bias else None
        self.bias_add = P.BiasAdd()

    def _attrs(self) -> dict[str, Any]:
        """The attributes of the primitive."""
        return {
            "kernel_size": self.kernel_size, "pad_mode": self.pad_mode, "pad": self.padding, "stride": self.stride,
            "dilation": self.dilation, "group": self.group,
        }  # fmt: skip

    def _with_bias(self, x: Any) -> Any:
        return self.bias_add(x, self.bias) if self.has_bias else x

    def extend_repr(self) -> str:
        return (
            f"input_channels={self.in_channels}, output_channels={self.out_channels}, kernel_size={self.kernel_size}, "
            f"stride={self.stride}, pad_mode={self.pad_mode}, padding={self.padding}, dilation={self.dilation}, "
            f"group={self.group}, has_bias={self.has_bias}"
        )


def _padding(padding: Any, owner: str) -> Any:
    if not isinstance(padding, (int, tuple)):
        raise TypeError(f"{owner}(padding={padding!r}): a whole number or (top, bottom, left, right) is needed")
    for one in padding if isinstance(padding, tuple) else (padding,):
        check.non_negative_int(one, "padding", owner)
    return padding


class Conv2d(_Conv):
    """The convolution of images."""

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, pad_mode: str = "same", padding: Any = 0,
        dilation: Any = 1, group: int = 1, has_bias: bool = False, weight_init: Any = "normal", bias_init: Any = "zeros",
        data_format: str = "NCHW",
    ) -> None:  # fmt: skip
        super().__init__(
            in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group, has_bias, weight_init, bias_init,
            data_format,
        )  # fmt: skip
        self.conv2d = P.Conv2D(out_channel=out_channels, **self._attrs())

    def construct(self, x: Any) -> Any:
        return self._with_bias(self.conv2d(x, self.weight))


class DepthwiseConv2d(Conv2d):
    """The convolution of each channel alone.  Source: nn.DepthwiseConv2d of r1.0."""

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, pad_mode: str = "same", padding: Any = 0,
        dilation: Any = 1, group: int = 1, has_bias: bool = False, weight_init: Any = "normal", bias_init: Any = "zeros",
    ) -> None:  # fmt: skip
        if not in_channels == out_channels == group:
            raise ValueError(
                f"DepthwiseConv2d(in_channels={in_channels}, out_channels={out_channels}, group={group}): all three are equal"
            )
        super().__init__(
            in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group, has_bias, weight_init, bias_init
        )


def _output_length(length: int, window: int, step: int, dilation: int, padding: int, pad_mode: str) -> int:
    """The extent of an image that a convolution brings to a length.  Source: Conv2dTranspose of r1.1."""
    window = window + (window - 1) * (dilation - 1)
    if pad_mode == "same":
        return length * step
    if pad_mode == "valid":
        return length * step + max(window - step, 0)
    return length * step - padding + window - step


class Conv2dTranspose(_Conv):
    """The transposed convolution of images."""

    is_transposed = True

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, pad_mode: str = "same", padding: Any = 0,
        dilation: Any = 1, group: int = 1, has_bias: bool = False, weight_init: Any = "normal", bias_init: Any = "zeros",
    ) -> None:  # fmt: skip
        super().__init__(
            in_channels, out_channels, kernel_size, stride, pad_mode, padding, dilation, group, has_bias, weight_init, bias_init
        )
        self.conv2d_transpose = P.Conv2DBackpropInput(out_channel=in_channels, **self._attrs())

    def _output_shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        sides = (self.padding,) * 4 if isinstance(self.padding, int) else self.padding
        extents = [
            _output_length(
                shape[2 + i],
                self.kernel_size[i],
                self.stride[i],
                self.dilation[i],
                sides[2 * i] + sides[2 * i + 1],
                self.pad_mode,
            )
            for i in range(2)
        ]
        return (shape[0], self.out_channels, *extents)

    def construct(self, x: Any) -> Any:
        return self._with_bias(self.conv2d_transpose(x, self.weight, self._output_shape(x.shape)))


class _Lines(Cell):
    """A convolution of lines (N, C, L), which is that of images of one row."""

    images: type[_Conv]

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: int, stride: int = 1, pad_mode: str = "same", padding: int = 0,
        dilation: int = 1, group: int = 1, has_bias: bool = False, weight_init: Any = "normal", bias_init: Any = "zeros",
    ) -> None:  # fmt: skip
        super().__init__()
        for name, value in (("kernel_size", kernel_size), ("stride", stride), ("dilation", dilation)):
            check.positive_int(value, name, self.cls_name)
        check.non_negative_int(padding, "padding", self.cls_name)
        if isinstance(weight_init, Tensor):
            weight_init = Tensor(np.expand_dims(weight_init.asnumpy(), 2))
        whole = type(self).images(
            in_channels, out_channels, (1, kernel_size), (1, stride), pad_mode, (0, 0, padding, padding), (1, dilation), group,
            has_bias, weight_init, bias_init,
        )  # fmt: skip
        self.__dict__["_whole"] = whole
        self.weight, self.bias, self.has_bias = whole.weight, whole.bias, has_bias
        self.expand_dims, self.squeeze = P.ExpandDims(), P.Squeeze(2)

    def construct(self, x: Any) -> Any:
        if len(x.shape) != 3:
            raise ValueError(f"{self.cls_name} takes lines of three axes (N, C, L), and got the shape {x.shape}")
        return self.squeeze(self._whole.construct(self.expand_dims(x, 2)))


class Conv1d(_Lines):
    """The convolution of lines."""

    images = Conv2d


class Conv1dTranspose(_Lines):
    """The transposed convolution of lines."""

    images = Conv2dTranspose


__all__ = ["Conv1d", "Conv1dTranspose", "Conv2d", "Conv2dTranspose", "DepthwiseConv2d"]
