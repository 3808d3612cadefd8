"""The operators of the device, one function each: npu_bridge's library of them, at the vendor's path for TensorFlow 2.

Importing it loads npu_bridge as ``npu_device.compat.v1`` does, which leaves `tensorflow` what it is. A node joins the graph of
the function that is being traced; eagerly the same is computed on the CPU.
"""

from importlib import import_module as _import_module
from typing import Any

_import_module("npu_device.compat.v1")
_library = _import_module("npu_bridge._gen_ops")

__all__ = list(_library.__all__)


def __getattr__(name: str) -> Any:
    return getattr(_library, name)
