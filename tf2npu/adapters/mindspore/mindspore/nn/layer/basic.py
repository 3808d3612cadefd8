"""Cells of the most common layers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from mindspore import _checkparam as check
from mindspore._device.operation import apply
from mindspore.common.dtype import Type, float16, float32, number_type
from mindspore.common.initializer import initializer
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn.cell import Cell
from mindspore.nn.layer.activation import activation_of
from mindspore.ops import functional as F
from mindspore.ops import operations as P
from npu_bridge.npu_init import tf


class Dense(Cell):
    """x @ weight.T + bias, with a weight (out, in); an input of more axes is taken row by row."""

    def __init__(
        self, in_channels: int, out_channels: int, weight_init: Any = "normal", bias_init: Any = "zeros", has_bias: bool = True,
        activation: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.in_channels = check.positive_int(in_channels, "in_channels", "Dense")
        self.out_channels = check.positive_int(out_channels, "out_channels", "Dense")
        self.has_bias = check.flag(has_bias, "has_bias", "Dense")
        self.weight = Parameter(initializer(weight_init, [out_channels, in_channels]), name="weight")
        self.bias = Parameter(initializer(bias_init, [out_channels]), name="bias") if has_bias else None
        self.matmul, self.bias_add, self.reshape = P.MatMul(transpose_b=True), P.BiasAdd(), P.Reshape()
        self.activation = activation_of(activation, "Dense")
        self.activation_flag = self.activation is not None

    def construct(self, x: Any) -> Any:
        shape = x.shape
        if shape[-1] != self.in_channels:
            raise ValueError(
                f"Dense has in_channels={self.in_channels}, and the input the shape {shape}: its last extent must be equal"
            )
        x = self.matmul(x if len(shape) == 2 else self.reshape(x, (-1, shape[-1])), self.weight)
        x = self.bias_add(x, self.bias) if self.has_bias else x
        x = x if len(shape) == 2 else self.reshape(x, (*shape[:-1], self.out_channels))
        return self.activation(x) if self.activation_flag else x

    def extend_repr(self) -> str:
        return f"input_channels={self.in_channels}, output_channels={self.out_channels}, has_bias={self.has_bias}"


class Dropout(Cell):
    """In training each number stays with keep_prob and is divided by it; keep_prob is what TensorFlow 2 calls 1 - rate."""

    def __init__(self, keep_prob: float = 0.5, dtype: Type = float32) -> None:
        super().__init__()
        check.a_float(keep_prob, "keep_prob", "Dropout")
        if not 0 < keep_prob <= 1:
            raise ValueError(f"Dropout(keep_prob={keep_prob}): a number above 0 and up to 1 is needed")
        if dtype not in number_type:
            raise TypeError(f"Dropout(dtype={dtype!r}): one of MindSpore's types of numbers is needed")
        self.keep_prob, self.dtype = keep_prob, dtype
        self.dropout = P.Dropout(keep_prob)

    def construct(self, x: Any) -> Any:
        return self.dropout(x)[0] if self.training and self.keep_prob != 1 else x

    def extend_repr(self) -> str:
        return f"keep_prob={self.keep_prob}, dtype={self.dtype}"


class Flatten(Cell):
    """All axes but the first as one."""

    def construct(self, x: Any) -> Any:
        return F.reshape(x, (x.shape[0], -1))


class L1Regularizer(Cell):
    """The sum of the sizes of weights, by a scale."""

    def __init__(self, scale: float) -> None:
        super().__init__()
        if not isinstance(scale, (int, float)):
            raise TypeError(f"L1Regularizer(scale={scale!r}): a number is needed")
        if not 0 < scale < math.inf:
            raise ValueError(f"L1Regularizer(scale={scale}): a number above 0 is needed")
        self.scale = scale

    def construct(self, weights: Any) -> Any:
        return P.ReduceSum()(P.Abs()(weights)) * float(self.scale)


class ClipByNorm(Cell):
    """A tensor scaled so that its norm, over all axes or some, is at most another number."""

    def __init__(self, axis: Any = None) -> None:
        super().__init__()
        self.axis = () if axis is None else axis
        if not isinstance(self.axis, (int, tuple)):
            raise TypeError(f"ClipByNorm(axis={axis!r}): a number or a tuple of numbers is needed")

    def construct(self, x: Any, clip_norm: Any) -> Any:
        if x.dtype not in (float16, float32):
            raise TypeError(f"ClipByNorm takes float16 or float32, and got {x.dtype}")
        squares = F.cast(P.ReduceSum(keep_dims=True)(F.square(x), self.axis), float32)
        is_above = P.Greater()(squares, 0.0)
        norm = P.Select()(is_above, F.sqrt(P.Select()(is_above, squares, F.ones_like(squares))), squares)
        return F.cast(x * clip_norm, float32) / P.Maximum()(norm, clip_norm)


class Norm(Cell):
    """The square root of the sum of squares, over all axes or some."""

    def __init__(self, axis: Any = (), keep_dims: bool = False) -> None:
        super().__init__()
        self.axis, self.keep_dims = axis, check.flag(keep_dims, "keep_dims", "Norm")
        self.reduce_sum = P.ReduceSum(keep_dims)

    def construct(self, x: Any) -> Any:
        return F.sqrt(self.reduce_sum(F.square(x), self.axis))

    def extend_repr(self) -> str:
        return f"axis={self.axis}, keep_dims={self.keep_dims}"


class OneHot(Cell):
    """One-hot vectors of whole numbers."""

    def __init__(
        self, axis: int = -1, depth: int = 1, on_value: float = 1.0, off_value: float = 0.0, dtype: Type = float32
    ) -> None:  # fmt: skip
        super().__init__()
        self.onehot, self.depth, self.dtype = P.OneHot(axis), depth, dtype
        self.on_value, self.off_value = on_value, off_value

    def construct(self, indices: Any) -> Any:
        return self.onehot(indices, self.depth, F.cast(self.on_value, self.dtype), F.cast(self.off_value, self.dtype))


class Pad(Cell):
    """A tensor with more elements at both ends of its axes: zeros, or those inside mirrored."""

    def __init__(self, paddings: Any, mode: str = "CONSTANT") -> None:
        super().__init__()
        check.one_of(mode, ("CONSTANT", "REFLECT", "SYMMETRIC"), "mode", "Pad")
        if not isinstance(paddings, tuple):
            raise TypeError(f"Pad(paddings={paddings!r}): a tuple of pairs is needed")
        if any(len(one) != 2 for one in paddings):
            raise ValueError(f"Pad(paddings={paddings!r}): each axis has a pair, (before, after)")
        self.mode, self.paddings = mode, paddings

    def construct(self, x: Any) -> Any:
        return P.Pad(self.paddings)(x) if self.mode == "CONSTANT" else P.MirrorPad(self.mode)(x, self.paddings)


class ResizeBilinear(Cell):
    """Images (N, C, H, W) of another size, which is given or a multiple of theirs."""

    def construct(self, x: Any, size: Any = None, scale_factor: Any = None, align_corners: bool = False) -> Any:
        if (size is None) == (scale_factor is None):
            raise ValueError(f"ResizeBilinear(size={size}, scale_factor={scale_factor}): one of the two is needed")
        size = size or (scale_factor * x.shape[2], scale_factor * x.shape[3])
        return P.ResizeBilinear(tuple(size), align_corners)(x)


class Unfold(Cell):
    """The windows of images (N, C, H, W) as channels.  Each attribute is [1, rows, columns, 1]."""

    def __init__(self, ksizes: Any, strides: Any, rates: Any, padding: str = "valid") -> None:
        super().__init__()
        for name, value in (("ksizes", ksizes), ("strides", strides), ("rates", rates)):
            if len(value) != 4 or value[0] != 1 or value[3] != 1:
                raise ValueError(f"Unfold({name}={value}): [1, rows, columns, 1] is needed")
            check.pair(tuple(value[1:3]), name, "Unfold")
        self.window, self.padding = (list(ksizes), list(strides), list(rates)), padding.upper()

    def construct(self, input_x: Any) -> Any:
        def windows(x: Any) -> Any:
            found = tf.extract_image_patches(tf.transpose(x, (0, 2, 3, 1)), *self.window, self.padding)
            return tf.transpose(found, (0, 3, 1, 2))

        return apply(("Unfold", repr(self.window), self.padding), windows, input_x)


class _Triangle(Cell):
    """A matrix with zeros on one side of a diagonal."""

    mask = staticmethod(np.tril)

    def construct(self, x: Any, k: int = 0) -> Any:
        return x * F.cast(Tensor(self.mask(np.ones(x.shape, np.float32), k)), x.dtype)


class Tril(_Triangle):
    """A matrix with zeros above a diagonal."""


class Triu(_Triangle):
    """A matrix with zeros below a diagonal."""

    mask = staticmethod(np.triu)


class MatrixDiag(Cell):
    """Matrices with the input on their diagonals."""

    def construct(self, input_x: Any) -> Any:
        return apply("MatrixDiag", tf.linalg.diag, input_x)


class MatrixDiagPart(Cell):
    """The diagonals of matrices."""

    def construct(self, input_x: Any) -> Any:
        return apply("MatrixDiagPart", tf.linalg.diag_part, input_x)


class MatrixSetDiag(Cell):
    """Matrices with other diagonals."""

    def construct(self, input_x: Any, diagonal: Any) -> Any:
        return apply("MatrixSetDiag", tf.linalg.set_diag, input_x, diagonal)


__all__ = [
    "ClipByNorm", "Dense", "Dropout", "Flatten", "L1Regularizer", "MatrixDiag", "MatrixDiagPart", "MatrixSetDiag", "Norm",
    "OneHot", "Pad", "ResizeBilinear", "Tril", "Triu", "Unfold",
]  # fmt: skip
