"""Error and gamma functions, element by element.

Source: TensorFlow's core/kernels/cwise_ops.h: erf, erfc, lgamma, digamma, ndtri and erfinv of Eigen's special functions.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from npu_runtime import dtypes as dt
from npu_runtime.kernels.tiles import elementwise, of_ufunc

FLOAT32 = frozenset({"float32"})

elementwise("Erf", flops=10)(of_ufunc(special.erf))
elementwise("Erfc", flops=10)(of_ufunc(special.erfc))
elementwise("Erfinv", flops=10, dtypes=FLOAT32)(of_ufunc(special.erfinv))
elementwise("Ndtri", flops=10, dtypes=FLOAT32)(of_ufunc(special.ndtri))


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
