"""Primitives of arithmetic: elementwise, comparisons, sums over axes, matrix products, the float status."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from mindspore._device.operation import apply
from mindspore._device.trace import current_trace, tracing
from mindspore.common.tensor import Tensor
from mindspore.common.tensor_operators import divided
from mindspore.ops.primitive import Primitive, binary_primitive, primitive
from npu_bridge._ops.float_status import npu_alloc_float_status, npu_clear_float_status, npu_get_float_status
from npu_bridge.estimator.npu.npu_loss_scale_optimizer import all_finite
from npu_bridge.npu_init import tf

from npu_runtime.device.float_status import overflows


def _unary(name: str, function: Callable[[Any], Any]) -> type[Primitive]:
    return primitive(name, lambda x: function(tf.convert_to_tensor(x)))


def _quotient(x: Any, y: Any) -> Any:
    """The quotient of Div: that of whole numbers is whole."""
    return tf.math.divide(x, y) if x.dtype.is_floating else tf.truncatediv(x, y)


Abs, Neg, Sign, Square = (
    _unary(name, function) for name, function in (("Abs", tf.abs), ("Neg", tf.negative), ("Sign", tf.sign), ("Square", tf.square))
)
Sqrt, Rsqrt, Exp, Expm1, Log, Log1p = (
    _unary("Sqrt", tf.sqrt), _unary("Rsqrt", tf.math.rsqrt), _unary("Exp", tf.exp), _unary("Expm1", tf.math.expm1),
    _unary("Log", tf.math.log), _unary("Log1p", tf.math.log1p),
)  # fmt: skip
Sin, Cos, Tan, Asin, ACos, Atan = (
    _unary("Sin", tf.sin), _unary("Cos", tf.cos), _unary("Tan", tf.tan), _unary("Asin", tf.asin), _unary("ACos", tf.acos),
    _unary("Atan", tf.atan),
)  # fmt: skip
Sinh, Cosh, Asinh, Acosh, Atanh = (
    _unary("Sinh", tf.sinh), _unary("Cosh", tf.cosh), _unary("Asinh", tf.asinh), _unary("Acosh", tf.acosh),
    _unary("Atanh", tf.atanh),
)  # fmt: skip
Erf, Erfc, Floor, Ceil, Round, Rint = (
    _unary("Erf", tf.math.erf), _unary("Erfc", tf.math.erfc), _unary("Floor", tf.floor), _unary("Ceil", tf.math.ceil),
    _unary("Round", tf.round), _unary("Rint", tf.math.rint),
)  # fmt: skip
Reciprocal, Inv, Invert = (
    _unary("Reciprocal", tf.math.reciprocal), _unary("Inv", tf.math.reciprocal), _unary("Invert", tf.bitwise.invert),
)  # fmt: skip
BesselI0e, BesselI1e, Eps = (
    _unary("BesselI0e", tf.math.bessel_i0e), _unary("BesselI1e", tf.math.bessel_i1e),
    _unary("Eps", lambda x: tf.ones_like(x) * {2: 2.0**-10, 4: 2.0**-23, 8: 2.0**-52}[x.dtype.size]),
)  # fmt: skip
IsNan, IsInf, IsFinite, LogicalNot = (
    _unary("IsNan", tf.math.is_nan), _unary("IsInf", tf.math.is_inf), _unary("IsFinite", tf.math.is_finite),
    _unary("LogicalNot", tf.logical_not),
)  # fmt: skip

Add, TensorAdd, Sub, Mul = (
    binary_primitive("Add", tf.add), binary_primitive("TensorAdd", tf.add), binary_primitive("Sub", tf.subtract),
    binary_primitive("Mul", tf.multiply),
)  # fmt: skip
RealDiv, Div, DivNoNan, FloorDiv, TruncateDiv = (
    binary_primitive("RealDiv", divided), binary_primitive("Div", _quotient),
    binary_primitive("DivNoNan", tf.math.divide_no_nan), binary_primitive("FloorDiv", tf.math.floordiv),
    binary_primitive("TruncateDiv", tf.truncatediv),
)  # fmt: skip
Mod, FloorMod, TruncateMod, Pow = (
    binary_primitive("Mod", tf.truncatemod), binary_primitive("FloorMod", tf.math.floormod),
    binary_primitive("TruncateMod", tf.truncatemod), binary_primitive("Pow", tf.pow),
)  # fmt: skip
Maximum, Minimum, SquaredDifference, Atan2, Xdivy, Xlogy = (
    binary_primitive("Maximum", tf.maximum), binary_primitive("Minimum", tf.minimum),
    binary_primitive("SquaredDifference", tf.math.squared_difference), binary_primitive("Atan2", tf.atan2),
    binary_primitive("Xdivy", tf.math.xdivy), binary_primitive("Xlogy", tf.math.xlogy),
)  # fmt: skip
Equal, NotEqual, Greater, GreaterEqual, Less, LessEqual = (
    binary_primitive("Equal", tf.equal), binary_primitive("NotEqual", tf.not_equal), binary_primitive("Greater", tf.greater),
    binary_primitive("GreaterEqual", tf.greater_equal), binary_primitive("Less", tf.less),
    binary_primitive("LessEqual", tf.less_equal),
)  # fmt: skip
LogicalAnd, LogicalOr = binary_primitive("LogicalAnd", tf.logical_and), binary_primitive("LogicalOr", tf.logical_or)
BitwiseAnd, BitwiseOr, BitwiseXor = (
    binary_primitive("BitwiseAnd", tf.bitwise.bitwise_and), binary_primitive("BitwiseOr", tf.bitwise.bitwise_or),
    binary_primitive("BitwiseXor", tf.bitwise.bitwise_xor),
)  # fmt: skip
ApproximateEqual = primitive(
    "ApproximateEqual", lambda x, y, tolerance: tf.less_equal(tf.abs(tf.subtract(x, y)), tolerance), tolerance=1e-05
)
EqualCount = primitive("EqualCount", lambda x, y: tf.reshape(tf.reduce_sum(tf.cast(tf.equal(x, y), x.dtype)), (1,)))


def _axes(axis: Any) -> Any:
    return None if axis is None or (isinstance(axis, (tuple, list)) and not axis) else axis


def _reduction(name: str, function: Callable[..., Any]) -> type[Primitive]:
    """A primitive over axes, of which () are all."""
    return primitive(
        name, lambda x, axis=(), keep_dims=False: function(x, _axes(axis), keepdims=keep_dims), keep_dims=False
    )  # fmt: skip


ReduceMean, ReduceSum, ReduceProd = (
    _reduction("ReduceMean", tf.reduce_mean), _reduction("ReduceSum", tf.reduce_sum),
    _reduction("ReduceProd", tf.reduce_prod),
)  # fmt: skip
ReduceMax, ReduceMin, ReduceAll, ReduceAny = (
    _reduction("ReduceMax", tf.reduce_max), _reduction("ReduceMin", tf.reduce_min), _reduction("ReduceAll", tf.reduce_all),
    _reduction("ReduceAny", tf.reduce_any),
)  # fmt: skip


def _cumulative(name: str, function: Callable[..., Any]) -> type[Primitive]:
    return primitive(
        name, lambda x, axis, exclusive, reverse: function(x, axis, exclusive=exclusive, reverse=reverse), exclusive=False,
        reverse=False,
    )  # fmt: skip


CumSum, CumProd = _cumulative("CumSum", tf.cumsum), _cumulative("CumProd", tf.math.cumprod)
SquareSumAll = primitive("SquareSumAll", lambda x, y: (tf.reduce_sum(tf.square(x)), tf.reduce_sum(tf.square(y))))


def _matrix_product(x: Any, y: Any, transpose_a: bool, transpose_b: bool) -> Any:
    if x.shape.rank != 2 or y.shape.rank != 2:
        raise ValueError(f"MatMul takes two matrices, and got shapes {tuple(x.shape)} and {tuple(y.shape)}: use BatchMatMul")
    return tf.matmul(x, y, transpose_a, transpose_b)


def _batch_product(x: Any, y: Any, transpose_a: bool, transpose_b: bool) -> Any:
    if x.shape.rank < 2 or y.shape.rank < 2:
        raise ValueError(f"BatchMatMul takes matrices, and got shapes {tuple(x.shape)} and {tuple(y.shape)}")
    return tf.matmul(x, y, transpose_a, transpose_b)


MatMul = primitive("MatMul", _matrix_product, transpose_a=False, transpose_b=False)
BatchMatMul = primitive("BatchMatMul", _batch_product, transpose_a=False, transpose_b=False)


def _sum_of(given: Any) -> Any:
    return tf.add_n(list(given))


AddN, AccumulateNV2 = primitive("AddN", _sum_of), primitive("AccumulateNV2", _sum_of)


def _rows(indices: Any) -> list[list[int]]:
    return [[one] for one in ((indices,) if isinstance(indices, int) else indices)]


InplaceAdd = primitive("InplaceAdd", lambda x, v, indices: tf.tensor_scatter_nd_add(x, _rows(indices), v), indices=())
InplaceSub = primitive("InplaceSub", lambda x, v, indices: tf.tensor_scatter_nd_sub(x, _rows(indices), v), indices=())


def _histogram(x: Any, limits: Any, nbins: int, dtype: str) -> Any:
    """The number of elements in each of equal parts of a range; those outside are of the parts at the ends."""
    x, limits = (tf.cast(one, tf.float32) if one.dtype == tf.float16 else one for one in (x, limits))
    return tf.histogram_fixed_width(x, limits, nbins, tf.int32)


HistogramFixedWidth = primitive("HistogramFixedWidth", _histogram, nbins=1, dtype="int32")
LinSpace = primitive("LinSpace", lambda start, stop, num: tf.cast(tf.linspace(start, stop, num), tf.float32))


def _any_overflow(x: Any) -> Any:
    """1.0 where a number is infinite or none, else 0.0: one element."""
    return tf.reshape(tf.cast(tf.reduce_any(tf.logical_not(tf.math.is_finite(x))), tf.float32), (1,))


FloatStatus = primitive("FloatStatus", _any_overflow)


class NPUAllocFloatStatus(Primitive):
    """A clear float status: eight numbers, zeros."""

    def __call__(self) -> Any:
        return apply(self.name, npu_alloc_float_status)


class _StatusInPlace(Primitive):
    """An operator that writes the status into the tensor that it is given, as on the card."""

    def __call__(self, status: Tensor) -> Tensor:
        if not tracing():
            return status.assign_value(Tensor(np.full(status.shape, self.outside(), np.float32)))
        found = apply(self.name, self.compute, status)
        status._node = found.raw()
        return found


_before = [0]
"""The overflows of the process when PYNATIVE_MODE cleared the status last."""


class NPUGetFloatStatus(_StatusInPlace):
    """The status after the gradients so far, in the place of the tensor's numbers: above 0 where an operator overflowed.

    A gradient that is infinite or no number tells an overflow as well, on chips that do not saturate.
    """

    @staticmethod
    def compute(status: Any) -> Any:
        gradients = current_trace().computed
        with tf.control_dependencies(gradients):
            found = npu_get_float_status(status)
        if not gradients:
            return found
        is_wrong = tf.cast(tf.logical_not(all_finite([(one, None) for one in gradients])), tf.float32)
        return tf.maximum(found, tf.pad(tf.reshape(is_wrong, (1,)), [[0, found.shape[0] - 1]]))

    @staticmethod
    def outside() -> float:
        """1 where an operator of the process overflowed since the status was cleared, else 0."""
        return float(overflows.total() > _before[0])


class NPUClearFloatStatus(_StatusInPlace):
    """Clears the status of all that cells have computed so far: gradients that follow have one of their own."""

    @staticmethod
    def compute(status: Any) -> Any:
        trace = current_trace()
        with tf.control_dependencies(trace.outputs()):
            found = npu_clear_float_status(status)
        trace.cleared = [found.op]
        return found

    @staticmethod
    def outside() -> float:
        """Notes how many operators have overflowed; a clear status is 0."""
        _before[0] = overflows.total()
        return 0.0


__all__ = [
    "ACos", "Abs", "AccumulateNV2", "Acosh", "Add", "AddN", "ApproximateEqual", "Asin", "Asinh", "Atan", "Atan2", "Atanh",
    "BatchMatMul", "BesselI0e", "BesselI1e", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Ceil", "Cos", "Cosh", "CumProd",
    "CumSum", "Div", "DivNoNan", "Eps", "Equal", "EqualCount", "Erf", "Erfc", "Exp", "Expm1", "FloatStatus", "Floor",
    "FloorDiv", "FloorMod", "Greater", "GreaterEqual", "HistogramFixedWidth", "InplaceAdd", "InplaceSub", "Inv", "Invert",
    "IsFinite", "IsInf", "IsNan", "Less", "LessEqual", "LinSpace", "Log", "Log1p", "LogicalAnd", "LogicalNot", "LogicalOr",
    "MatMul", "Maximum", "Minimum", "Mod", "Mul", "NPUAllocFloatStatus", "NPUClearFloatStatus", "NPUGetFloatStatus", "Neg",
    "NotEqual", "Pow", "RealDiv", "Reciprocal", "ReduceAll", "ReduceAny", "ReduceMax", "ReduceMean", "ReduceMin",
    "ReduceProd", "ReduceSum", "Rint", "Round", "Rsqrt", "Sign", "Sin", "Sinh", "Sqrt", "Square", "SquareSumAll",
    "SquaredDifference", "Sub", "Tan", "TensorAdd", "TruncateDiv", "TruncateMod", "Xdivy", "Xlogy",
]  # fmt: skip
