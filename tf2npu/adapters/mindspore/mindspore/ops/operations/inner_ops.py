"""Primitives on Python's numbers."""

from __future__ import annotations

from typing import Any

from mindspore.common.dtype import np_type
from mindspore.common.tensor import Tensor
from mindspore.ops.operations.array_ops import Cast
from mindspore.ops.primitive import Primitive


class ScalarCast(Primitive):
    """A number of Python's in a type."""

    def __call__(self, x: Any, t: Any) -> Any:
        return Cast()(x, t) if isinstance(x, Tensor) else np_type(t).type(x).item()


__all__ = ["ScalarCast"]
