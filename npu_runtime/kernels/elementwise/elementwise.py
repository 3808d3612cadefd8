"""Functions of one tensor, element by element: arithmetic, exponentials, trigonometry, activations.

Source: TensorFlow's core/kernels/cwise_ops.h, relu_op_functor.h, softplus_op.h and softsign_op.h for formulas and the
types of each op's CPU kernel.
"""

from __future__ import annotations

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.cost.work import per_element
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.shapes import same_as
from npu_runtime.kernels.threads.tiling import Body, OneUfunc, choose, elementwise, filled, result_buffer, run_tiled, widened

SIGNED = dt.NUMBERS - {"uint8"}
ONE = np.ones((), np.float32)
_FLOAT_UFUNCS: dict[str, tuple[np.ufunc, int]] = {
    "Sqrt": (np.sqrt, 1), "Exp": (np.exp, 1), "Expm1": (np.expm1, 1), "Log": (np.log, 1), "Log1p": (np.log1p, 1),
    "Sin": (np.sin, 1), "Cos": (np.cos, 1), "Tan": (np.tan, 1), "Asin": (np.arcsin, 1), "Acos": (np.arccos, 1),
    "Atan": (np.arctan, 1), "Sinh": (np.sinh, 1), "Cosh": (np.cosh, 1), "Tanh": (np.tanh, 1),
    "Asinh": (np.arcsinh, 1), "Acosh": (np.arccosh, 1), "Atanh": (np.arctanh, 1),
    "Floor": (np.floor, 0), "Ceil": (np.ceil, 0),
}  # fmt: skip
for _op, (_ufunc, _flops) in _FLOAT_UFUNCS.items():
    elementwise(_op, flops=_flops)(OneUfunc(_ufunc))
elementwise("Rint", flops=0, dtypes=frozenset({"float32"}))(OneUfunc(np.rint))

elementwise("Neg", dtypes=SIGNED)(OneUfunc(np.negative))
elementwise("Abs", dtypes=SIGNED)(OneUfunc(np.absolute))
elementwise("Sign", dtypes=SIGNED)(OneUfunc(np.sign))
elementwise("Square", dtypes=dt.NUMBERS)(OneUfunc(np.square))

elementwise("IsNan", result="bool", inplace=())(OneUfunc(np.isnan))
elementwise("IsInf", result="bool", inplace=())(OneUfunc(np.isinf))
elementwise("IsFinite", result="bool", inplace=())(OneUfunc(np.isfinite))


@elementwise("Round", flops=0, dtypes=dt.FLOATS | dt.INDICES)
def round_half_even(out: np.ndarray, x: np.ndarray) -> None:
    """The nearest integer, halves to the even one; integers stay."""
    if x.dtype.kind == "i":
        np.copyto(out, x)
    else:
        np.rint(x, out=out)


@elementwise("Reciprocal", "Inv")
def reciprocal(out: np.ndarray, x: np.ndarray) -> None:
    """1 / x."""
    np.divide(np.float32(1), x, out=out)


@elementwise("Rsqrt", flops=2)
def reciprocal_sqrt(out: np.ndarray, x: np.ndarray) -> None:
    """1 / sqrt(x)."""
    np.sqrt(x, out=out)
    np.divide(np.float32(1), out, out=out)


@elementwise("Sigmoid", flops=4)
def sigmoid(out: np.ndarray, x: np.ndarray) -> None:
    """1 / (1 + exp(-x)): exp overflows to infinity and the result to 0, as it should."""
    np.negative(x, out)
    np.exp(out, out)
    np.add(out, ONE, out)
    np.divide(ONE, out, out)


@elementwise("Softplus", flops=2)
def softplus(out: np.ndarray, x: np.ndarray) -> None:
    """log(1 + exp(x)), without overflow: max(x, 0) + log1p(exp(-|x|))."""
    tail = np.abs(x)
    np.negative(tail, out=tail)
    np.exp(tail, out=tail)
    np.log1p(tail, out=tail)
    np.maximum(x, filled(0, x), out=out)
    out += tail


@elementwise("Softsign", flops=3)
def softsign(out: np.ndarray, x: np.ndarray) -> None:
    """x / (1 + |x|)."""
    scale = np.abs(x)
    scale += np.float32(1)
    np.divide(x, scale, out=out)


@elementwise("Relu", dtypes=dt.NUMBERS)
def relu(out: np.ndarray, x: np.ndarray) -> None:
    """max(x, 0); NaN stays NaN."""
    np.maximum(x, filled(0, x), out=out)


@elementwise("Relu6", flops=2, dtypes=dt.NUMBERS)
def relu6(out: np.ndarray, x: np.ndarray) -> None:
    """min(max(x, 0), 6); NaN stays NaN."""
    np.maximum(x, filled(0, x), out=out)
    np.minimum(out, filled(6, x), out=out)


@elementwise("Elu", flops=2)
def elu(out: np.ndarray, x: np.ndarray) -> None:
    """exp(x) - 1 where x < 0, else x."""
    low = _below_zero(x)
    np.maximum(x, filled(0, x), out=out)
    out += low


def _below_zero(x: np.ndarray) -> np.ndarray:
    """exp(x) - 1 where x < 0, else 0: added to the positive part this needs no choice. Exact near 0."""
    low = np.minimum(x, filled(0, x))
    np.expm1(low, out=low)
    return low


SELU_SCALE = np.float32(1.0507009873554804934193349852946)
SELU_SCALE_ALPHA = np.float32(1.7580993408473768599402175208123)


@elementwise("Selu", flops=3)
def selu(out: np.ndarray, x: np.ndarray) -> None:
    """scale * alpha * (exp(x) - 1) where x < 0, else scale * x."""
    low = _below_zero(x)
    low *= SELU_SCALE_ALPHA
    np.maximum(x, filled(0, x), out=out)
    out *= SELU_SCALE
    out += low


@kernel("LeakyRelu", unit="vector", shape=same_as(0), dtypes=dt.FLOATS, estimate=per_element(2), inplace=(0,))
def leaky_relu(x: np.ndarray, /, *, alpha: float = 0.2, out: np.ndarray | None = None) -> np.ndarray:
    """x where x > 0, else alpha * x; alpha may be above 1 or negative.

    x: any shape, fp16|bf16|fp32.  Returns: same shape and dtype.  Source: TensorFlow op `LeakyRelu`.
    """
    return run_tiled(widened(leaky_relu_body(alpha)), result_buffer((x,), None, out), x)


def leaky_relu_body(alpha: float) -> Body:
    """LeakyRelu of one tile."""

    def body(out: np.ndarray, x: np.ndarray) -> None:
        scaled = x * np.float32(alpha)
        if 0 < alpha <= 1:
            np.maximum(x, scaled, out=out)
        else:
            choose(out, x > 0, x, scaled)

    return body
