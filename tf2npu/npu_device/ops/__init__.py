"""Operators of the device as functions, under the vendor's path."""

from npu_device.ops.train_ops import gelu

__all__ = ["gelu"]
