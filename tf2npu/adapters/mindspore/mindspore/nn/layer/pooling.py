"""Cells of pooling."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindspore import _checkparam as check
from mindspore.nn.cell import Cell
from mindspore.ops import operations as P


class _Images(Cell):
    """Pooling of images (N, C, H, W)."""

    operator: Callable[..., Any]

    def __init__(self, kernel_size: Any = 1, stride: Any = 1, pad_mode: str = "valid", data_format: str = "NCHW") -> None:
        super().__init__()
        self.kernel_size = check.pair(kernel_size, "kernel_size", self.cls_name)
        self.stride = check.pair(stride, "stride", self.cls_name)
        self.pad_mode = check.one_of(str(pad_mode).upper(), ("VALID", "SAME"), "pad_mode", self.cls_name)
        self.format = check.one_of(data_format, ("NCHW",), "data_format", f"{self.cls_name} on an Ascend NPU")
        self.pool = type(self).operator(self.kernel_size, self.stride, self.pad_mode)

    def construct(self, x: Any) -> Any:
        return self.pool(x)

    def extend_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, pad_mode={self.pad_mode}"


class MaxPool2d(_Images):
    """The greatest number of each window; the stride is 1, and not the window as in TensorFlow."""

    operator = P.MaxPool


class AvgPool2d(_Images):
    """The mean of each window; the stride is 1, and not the window as in TensorFlow."""

    operator = P.AvgPool


class _Lines(Cell):
    """Pooling of lines (N, C, L)."""

    operator: Callable[..., Any]

    def __init__(self, kernel_size: int = 1, stride: int = 1, pad_mode: str = "valid") -> None:
        super().__init__()
        self.kernel_size = (1, check.positive_int(kernel_size, "kernel_size", self.cls_name))
        self.stride = (1, check.positive_int(stride, "stride", self.cls_name))
        self.pad_mode = check.one_of(str(pad_mode).upper(), ("VALID", "SAME"), "pad_mode", self.cls_name)
        self.pool = type(self).operator(self.kernel_size, self.stride, self.pad_mode)
        self.expand, self.squeeze = P.ExpandDims(), P.Squeeze(2)

    def construct(self, x: Any) -> Any:
        if len(x.shape) != 3:
            raise ValueError(f"{self.cls_name} takes lines of three axes (N, C, L), and got the shape {x.shape}")
        return self.squeeze(self.pool(self.expand(x, 2)))


class MaxPool1d(_Lines):
    """The greatest number of each window."""

    operator = P.MaxPool


class AvgPool1d(_Lines):
    """The mean of each window."""

    operator = P.AvgPool


__all__ = ["AvgPool1d", "AvgPool2d", "MaxPool1d", "MaxPool2d"]
