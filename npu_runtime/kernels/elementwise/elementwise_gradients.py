"""Gradients of element-wise functions, as TensorFlow's ops take them: of the result y, or of the input.

Source: TensorFlow's core/kernels/cwise_ops_gradients.h, relu_op_functor.h, softplus_op.h and softsign_op.h.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.cost.work import per_element
from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.elementwise.elementwise import ONE, SELU_SCALE, SELU_SCALE_ALPHA
from npu_runtime.kernels.native import elementwise_loops
from npu_runtime.kernels.shapes import merge
from npu_runtime.kernels.threads.parallel import scratch
from npu_runtime.kernels.threads.tiling import Body, choose, elementwise, filled, keep_where, result_buffer, run_tiled, widened
from npu_runtime.kernels.variable_access import shape_text

BOTH = (0, 1)
"""Inputs whose buffer the result may take over."""


def _same_shape(a: Spec, b: Spec, **attrs: object) -> Shape:
    if a.is_complete and b.is_complete:
        _require_same(a.known_shape(), b.known_shape())
    return merge(a.shape, b.shape)


def _require_same(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    """Source: TensorFlow's ValidateSameSize, of core/framework/numeric_op.h's BinaryElementWiseOp."""
    if a != b:
        raise InvalidArgument(
            f"Inputs to operation must have the same size and shape.  Input 0: {shape_text(a)} != input 1: {shape_text(b)}"
        )


def _equal(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    _require_same(a.shape, b.shape)
    return a, b


def _first_shape(y: Spec, dy: Spec) -> Shape:
    """Unknown where the shapes differ, so that nothing is fused that `_as_first` has to look at."""
    return None if y.is_complete and dy.is_complete and y.shape != dy.shape else merge(y.shape, dy.shape)


def _as_first(y: np.ndarray, dy: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Operands of as many elements in any shape, which is y's then.  Source: TensorFlow's SimpleBinaryOp,
    core/kernels/cwise_ops_common.h."""
    if y.size != dy.size:
        raise InvalidArgument(
            f"The two arguments to a cwise op must have same number of elements, got {y.size} and {dy.size}"
            f" in shapes {shape_text(y.shape)} and {shape_text(dy.shape)}"
        )
    return y, dy.reshape(y.shape)


@elementwise("TanhGrad", flops=3, shape=_first_shape, inplace=BOTH, fit=_as_first)
def tanh_grad(out: np.ndarray, y: np.ndarray, dy: np.ndarray) -> None:
    """dy * (1 - y * y)."""
    slope = scratch("slope", out.shape, out.dtype)
    np.multiply(y, y, out=slope)
    np.subtract(ONE, slope, out=slope)
    np.multiply(dy, slope, out=out)


@elementwise("SigmoidGrad", flops=3, shape=_first_shape, inplace=BOTH, fit=_as_first)
def sigmoid_grad(out: np.ndarray, y: np.ndarray, dy: np.ndarray) -> None:
    """dy * y * (1 - y)."""
    slope = scratch("slope", out.shape, out.dtype)
    np.subtract(ONE, y, out=slope)
    np.multiply(slope, y, out=slope)
    np.multiply(dy, slope, out=out)


@elementwise("SqrtGrad", flops=2, shape=_first_shape, inplace=BOTH, fit=_as_first)
def sqrt_grad(out: np.ndarray, y: np.ndarray, dy: np.ndarray) -> None:
    """dy * 0.5 / y, and 0 where dy is 0, whatever y is."""
    has_gradient = dy != 0
    half = dy * np.float32(0.5)
    np.divide(half, y, out=out)
    keep_where(out, has_gradient)


@elementwise("RsqrtGrad", flops=4, shape=_first_shape, inplace=BOTH, fit=_as_first)
def rsqrt_grad(out: np.ndarray, y: np.ndarray, dy: np.ndarray) -> None:
    """-0.5 * dy * y cubed, and 0 where dy is 0, whatever y is."""
    has_gradient = dy != 0
    square = y * y
    once = dy * y  # in this order nothing overflows or vanishes on the way that the result does not
    once *= np.float32(-0.5)
    np.multiply(once, square, out=out)
    keep_where(out, has_gradient)


@elementwise("ReciprocalGrad", "InvGrad", flops=3, shape=_first_shape, inplace=BOTH, fit=_as_first)
def reciprocal_grad(out: np.ndarray, y: np.ndarray, dy: np.ndarray) -> None:
    """-dy * y * y, and 0 where dy is 0, whatever y is."""
    has_gradient = dy != 0
    once = dy * y  # in this order nothing overflows on the way that the result does not
    np.negative(once, out=once)
    np.multiply(once, y, out=out)
    keep_where(out, has_gradient)


@elementwise("ReluGrad", dtypes=dt.NUMBERS, shape=_same_shape, inplace=BOTH, fit=_equal)
def relu_grad(out: np.ndarray, gradients: np.ndarray, features: np.ndarray) -> None:
    """The gradient where the input (or the output: the same) is positive."""
    if _relu_gradient_by_loop(out, gradients, features):
        return
    inside = scratch("inside", out.shape, np.bool_)
    np.greater(features, _scalar(0, features.dtype), out=inside)
    _multiply_by(inside, gradients, out)


def _relu_gradient_by_loop(*arrays: np.ndarray) -> bool:
    """The same by a compiled loop; False where there is none."""
    loop = elementwise_loops.relu_gradient
    return loop.takes(*arrays) and loop(*[x.reshape(-1) for x in arrays])


@elementwise("Relu6Grad", flops=2, dtypes=dt.NUMBERS, shape=_same_shape, inplace=BOTH, fit=_equal)
def relu6_grad(out: np.ndarray, gradients: np.ndarray, features: np.ndarray) -> None:
    """The gradient where the input lies inside (0, 6)."""
    inside, below = (scratch(name, out.shape, np.bool_) for name in ("inside", "below"))
    np.greater(features, _scalar(0, features.dtype), out=inside)
    np.less(features, _scalar(6, features.dtype), out=below)
    np.logical_and(inside, below, out=inside)
    _multiply_by(inside, gradients, out)


def _multiply_by(condition: np.ndarray, gradients: np.ndarray, out: np.ndarray) -> None:
    """out = gradients times 1 where the condition holds, else times 0, which NaN survives, as in TensorFlow."""
    np.multiply(gradients, condition, out=out)  # numpy makes numbers of the condition line by line, in the nearest cache


@lru_cache(maxsize=64)
def _scalar(value: float, dtype: np.dtype) -> np.ndarray:
    """A number as numpy takes it without converting it in each call."""
    return np.array(value, dtype)


@elementwise("EluGrad", flops=2, shape=_same_shape, inplace=BOTH, fit=_equal)
def elu_grad(out: np.ndarray, gradients: np.ndarray, outputs: np.ndarray) -> None:
    """gradient * (y + 1) where the result y is negative, else the gradient."""
    slope = scratch("slope", out.shape, out.dtype)
    np.fmin(outputs, filled(0, outputs), out=slope)
    np.add(slope, ONE, out=slope)
    np.multiply(gradients, slope, out=out)


@elementwise("SeluGrad", flops=2, shape=_same_shape, inplace=BOTH, fit=_equal)
def selu_grad(out: np.ndarray, gradients: np.ndarray, outputs: np.ndarray) -> None:
    """gradient * (y + scale * alpha) where the result y is negative, else gradient * scale."""
    low = outputs + SELU_SCALE_ALPHA
    low *= gradients
    choose(out, outputs < 0, low, gradients * SELU_SCALE)


@elementwise("SoftplusGrad", flops=3, shape=_same_shape, inplace=BOTH, fit=_equal)
def softplus_grad(out: np.ndarray, gradients: np.ndarray, features: np.ndarray) -> None:
    """gradient / (1 + exp(-x))."""
    scale = np.negative(features)
    np.exp(scale, out=scale)
    scale += ONE
    np.divide(gradients, scale, out=out)


@elementwise("SoftsignGrad", flops=3, shape=_same_shape, inplace=BOTH, fit=_equal)
def softsign_grad(out: np.ndarray, gradients: np.ndarray, features: np.ndarray) -> None:
    """gradient / (1 + |x|) squared."""
    scale = np.abs(features)
    scale += ONE
    np.square(scale, out=scale)
    np.divide(gradients, scale, out=out)


@kernel("LeakyReluGrad", unit="vector", shape=_same_shape, dtypes=dt.FLOATS, estimate=per_element(2), inplace=BOTH)
def leaky_relu_grad(
    gradients: np.ndarray, features: np.ndarray, /, *, alpha: float = 0.2, out: np.ndarray | None = None
) -> np.ndarray:
    """The gradient where the input is positive, else alpha times it.

    gradients, features: the same shape, fp16|bf16|fp32.  Source: TensorFlow op `LeakyReluGrad`.
    """
    _require_same(gradients.shape, features.shape)
    return run_tiled(widened(leaky_relu_grad_body(alpha)), result_buffer((gradients,), None, out), gradients, features)


def leaky_relu_grad_body(alpha: float) -> Body:
    """LeakyReluGrad of one tile: the gradient times 1 or alpha."""

    def body(out: np.ndarray, gradients: np.ndarray, features: np.ndarray) -> None:
        if not 0 <= alpha <= 1:
            choose(out, features > 0, gradients, gradients * np.float32(alpha))
            return
        slope, inside = scratch("slope", out.shape, out.dtype), scratch("inside", out.shape, np.bool_)
        np.greater(features, _scalar(0, features.dtype), out=inside)
        np.copyto(slope, inside)
        np.maximum(slope, filled(alpha, slope), out=slope)
        np.multiply(gradients, slope, out=out)

    return body
