"""Matrix decompositions."""

from __future__ import annotations

from typing import Any

import numpy as np

from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.variable_access import shape_text


def _factors_shape(input: Spec, /, *, full_matrices: bool = False) -> list[Shape]:
    if input.shape is None:
        return [None, None]
    *batch, m, n = input.shape
    inner = m if full_matrices else None if m is None or n is None else min(m, n)
    return [(*batch, m, inner), (*batch, inner, n)]


def _qr_flops(inputs: Any, outputs: Any, attrs: dict[str, Any]) -> float:
    """Householder's: 4 m n min(m, n), the orthogonal factor included."""
    *batch, m, n = inputs[0].known_shape()
    return 4.0 * float(np.prod(batch)) * m * n * min(m, n)


@kernel("Qr", unit="vector", shape=_factors_shape, dtypes=frozenset({"float16", "float32"}), estimate=_qr_flops)
def qr(input: np.ndarray, /, *, full_matrices: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Orthogonal q and upper triangular r with q @ r = input, by Householder reflections: the diagonal's signs are LAPACK's.

    input: (..., m, n).  Returns: (..., m, p), (..., p, n); p = m with full_matrices, else min(m, n).
    Raises: InvalidArgument for a vector.  Source: TensorFlow op `Qr`, which has the same signs.
    """
    if input.ndim < 2:
        raise InvalidArgument(f"Input tensor must have rank >= 2, got shape {shape_text(input.shape)}")
    q, r = np.linalg.qr(input.astype(np.float32, copy=False), mode="complete" if full_matrices else "reduced")
    return q.astype(input.dtype, copy=False), np.triu(r).astype(input.dtype, copy=False)
