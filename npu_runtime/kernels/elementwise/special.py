"""Error and gamma functions, element by element.

Source: TensorFlow's core/kernels/cwise_ops.h: erf, erfc, lgamma, digamma, ndtri and erfinv of Eigen's special functions.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from npu_runtime import dtypes as dt
from npu_runtime.kernels.threads.tiling import OneUfunc, elementwise, filled

FLOAT32 = frozenset({"float32"})

elementwise("Erfc", flops=10)(OneUfunc(special.erfc))
elementwise("Erfinv", flops=10, dtypes=FLOAT32)(OneUfunc(special.erfinv))
elementwise("Ndtri", flops=10, dtypes=FLOAT32)(OneUfunc(special.ndtri))


# erf(x) = x * P(x * x) / Q(x * x) for |x| <= 3.92, beyond which erf is 1 in fp32: a rational least-squares fit of our own
# with the relative error 1.9e-8 before, 6 ulp after rounding. SciPy's erf works in float64 and takes 50 times as long.
ERF_ONE = 3.92
ERF_P = (2.05007205e-06, 2.84882079e-04, 3.76563366e-03, 5.27487850e-02, 1.90406994e-01, 1.12837915e00)
ERF_Q = (3.80915186e-05, 1.16253736e-03, 1.49692559e-02, 1.14109321e-01, 5.02076547e-01, 1.0)


def _polynomial(coefficients: tuple[float, ...], x: np.ndarray) -> np.ndarray:
    """Horner's scheme, the highest power first."""
    value = x * np.float32(coefficients[0])
    for coefficient in coefficients[1:-1]:
        value += np.float32(coefficient)
        value *= x
    value += np.float32(coefficients[-1])
    return value


@elementwise("Erf", flops=24)
def erf(out: np.ndarray, x: np.ndarray) -> None:
    """The error function; NaN stays NaN."""
    inside = np.minimum(x, filled(ERF_ONE, x))
    np.maximum(inside, filled(-ERF_ONE, x), out=inside)
    square = np.square(inside)
    inside *= _polynomial(ERF_P, square)
    np.divide(inside, _polynomial(ERF_Q, square), out=out)


@elementwise("Lgamma", flops=10, dtypes=dt.FLOATS - {"bfloat16"})
def log_gamma(out: np.ndarray, x: np.ndarray) -> None:
    """log(|gamma(x)|); infinite at both ends and at the poles."""
    is_lowest = x == -np.inf
    special.gammaln(x, out=out)
    np.copyto(out, np.float32(np.inf), where=is_lowest)


@elementwise("Digamma", flops=10, dtypes=dt.FLOATS - {"bfloat16"})
def digamma(out: np.ndarray, x: np.ndarray) -> None:
    """The derivative of log(gamma(x)); NaN at the poles, 0 among them."""
    is_zero = x == 0
    special.digamma(x, out=out)
    np.copyto(out, np.float32(np.nan), where=is_zero)
