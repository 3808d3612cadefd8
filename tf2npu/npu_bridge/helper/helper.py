"""Access to the operator library."""

from __future__ import annotations

from types import ModuleType

from npu_bridge import _gen_ops

version = "v1.15.0"


def get_gen_ops() -> ModuleType:
    """The library of the device's operators; each is a function of it."""
    return _gen_ops
