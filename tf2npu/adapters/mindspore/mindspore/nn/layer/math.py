"""Cells of arithmetic."""

from __future__ import annotations

from typing import Any

import numpy as np
from mindspore import _checkparam as check
from mindspore._device.operation import apply
from mindspore.common.dtype import float32
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.ops import functional as F
from mindspore.ops import operations as P
from npu_bridge.npu_init import tf


class ReduceLogSumExp(Cell):
    """The logarithm of the sum of exponentials over axes."""

    def __init__(self, axis: Any, keep_dims: bool = False) -> None:
        super().__init__()
        self.axis, self.keep_dims = axis, check.flag(keep_dims, "keep_dims", "ReduceLogSumExp")

    def construct(self, x: Any) -> Any:
        axis = None if self.axis in ((), None) else self.axis
        return apply(
            ("ReduceLogSumExp", repr(axis), self.keep_dims),
            lambda node: tf.reduce_logsumexp(node, axis, keepdims=self.keep_dims), x,
        )  # fmt: skip


class Range(Cell):
    """Numbers from start to limit by delta: int32 of whole ones, else float32."""

    def __init__(self, start: Any, limit: Any = None, delta: Any = 1) -> None:
        super().__init__()
        if delta == 0:
            raise ValueError("Range(delta=0): another number is needed")
        start, limit = (0, start) if limit is None else (start, limit)
        is_whole = all(isinstance(one, int) for one in (start, limit, delta))
        self.numbers = Tensor(np.arange(start, limit, delta, dtype=np.int32 if is_whole else np.float32))

    def construct(self) -> Any:
        return F.reshape(self.numbers, self.numbers.shape)


class _OneCall(Cell):
    """A cell of one function of TensorFlow's."""

    function = staticmethod(tf.identity)

    def construct(self, *given: Any) -> Any:
        return apply(self.cls_name, type(self).function, *given)


class LGamma(_OneCall):
    """The logarithm of the gamma function."""

    function = staticmethod(tf.math.lgamma)


class DiGamma(_OneCall):
    """The derivative of LGamma."""

    function = staticmethod(tf.math.digamma)


class IGamma(_OneCall):
    """The regularized lower incomplete gamma function of (a, x)."""

    function = staticmethod(tf.math.igamma)


class LBeta(_OneCall):
    """The logarithm of the beta function of (x, y)."""

    function = staticmethod(lambda x, y: tf.math.lgamma(x) + tf.math.lgamma(y) - tf.math.lgamma(x + y))


class MatInverse(_OneCall):
    """The inverse of symmetric matrices."""

    function = staticmethod(tf.linalg.inv)


class MatDet(_OneCall):
    """The determinant of symmetric matrices."""

    function = staticmethod(tf.linalg.det)


class MatMul(Cell):
    """The product of matrices, of vectors, and of stacks of matrices."""

    def __init__(self, transpose_x1: bool = False, transpose_x2: bool = False) -> None:
        super().__init__()
        self.transpose_x1 = check.flag(transpose_x1, "transpose_x1", "MatMul")
        self.transpose_x2 = check.flag(transpose_x2, "transpose_x2", "MatMul")

    def construct(self, x1: Any, x2: Any) -> Any:
        def product(a: Any, b: Any) -> Any:
            is_row, is_column = a.shape.rank == 1, b.shape.rank == 1
            left = tf.expand_dims(a, 0) if is_row else a
            right = tf.expand_dims(b, -1) if is_column else b
            found = tf.matmul(left, right, self.transpose_x1 and not is_row, self.transpose_x2 and not is_column)
            found = tf.squeeze(found, -1) if is_column else found
            return tf.squeeze(found, -1 if is_column else -2) if is_row else found

        return apply(("nn.MatMul", self.transpose_x1, self.transpose_x2), product, x1, x2)


class Moments(Cell):
    """(mean, variance) over axes."""

    def __init__(self, axis: Any = None, keep_dims: bool | None = None) -> None:
        super().__init__()
        self.axis, self.keep_dims = () if axis is None else axis, bool(keep_dims)

    def construct(self, x: Any) -> Any:
        whole = F.cast(x, float32)
        mean = P.ReduceMean(keep_dims=True)(whole, self.axis)
        variance = P.ReduceMean(self.keep_dims)(F.square(whole - F.stop_gradient(mean)), self.axis)
        mean = P.ReduceMean(self.keep_dims)(whole, self.axis)
        return F.cast(mean, x.dtype), F.cast(variance, x.dtype)


__all__ = ["DiGamma", "IGamma", "LBeta", "LGamma", "MatDet", "MatInverse", "MatMul", "Moments", "Range", "ReduceLogSumExp"]
