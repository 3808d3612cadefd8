"""The adapter of TensorFlow 1 under the vendor's path for TensorFlow 2."""

from __future__ import annotations

import importlib
import os

from npu_device._device import handle as _handle


def enable_v1() -> None:
    """Let ``tf.compat.v1`` scripts run on the device: eager execution is off, and sessions with NpuOptimizer run there."""
    number = _handle.open_device_number()
    if number is not None:
        os.environ["ASCEND_DEVICE_ID"] = str(number)
    importlib.import_module("npu_device.compat.v1")
    importlib.import_module("npu_device.compat.v1._loading").use_version_1()


def __getattr__(name: str) -> object:
    if name == "v1":
        return importlib.import_module("npu_device.compat.v1")
    raise AttributeError(f"module 'npu_device.compat' has no attribute {name!r}")
