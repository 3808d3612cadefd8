"""Operators: classes of primitives, functions, and functions of functions."""

from mindspore._device.absent_names import absent as _absent
from mindspore.ops import composite, functional, operations
from mindspore.ops.composite import *
from mindspore.ops.functional import *
from mindspore.ops.operations import *
from mindspore.ops.primitive import Primitive, PrimitiveWithCheck, PrimitiveWithInfer, constexpr, prim_attr_register

__all__ = [
    "Primitive", "PrimitiveWithCheck", "PrimitiveWithInfer", "constexpr", "prim_attr_register",
    *composite.__all__, *functional.__all__, *operations.__all__,
]  # fmt: skip

__getattr__ = _absent("mindspore.ops", lambda: __all__)
