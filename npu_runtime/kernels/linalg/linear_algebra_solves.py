"""Factors, determinants, inverses and solutions of small matrices; worked out in fp64 and rounded once."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from npu_runtime.dtypes import NUMBERS
from npu_runtime.errors import FailedPrecondition, InvalidArgument
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.linalg.batch_matmul import leading_axes
from npu_runtime.kernels.shapes import broadcast_pair, same_as
from npu_runtime.kernels.variable_access import shape_text

Array = np.ndarray
FLOAT32 = frozenset({"float32"})
SINGULAR = "Input matrix is not invertible."
NO_INVERSE = "Input is not invertible."
"""TensorFlow's words in MatrixInverse, which are others than in the solvers."""


def _cubic(factor: float) -> Callable[..., float]:
    """factor * n^3 for every matrix of input 0."""

    def estimate(inputs: Sequence[Spec], outputs: Sequence[Spec], attrs: dict[str, Any]) -> float:
        *batch, _, n = inputs[0].known_shape()
        return factor * math.prod(batch) * n**3

    return estimate


def _check_square(x: Array) -> None:
    if x.ndim < 2:
        raise InvalidArgument(f"Input tensor must have rank >= 2, got shape {shape_text(x.shape)}")
    if x.shape[-1] != x.shape[-2]:
        raise InvalidArgument(f"Input matrix must be square, got shape {shape_text(x.shape)}")


def _wide(x: Array, adjoint: bool = False) -> Array:
    return (x.swapaxes(-1, -2) if adjoint else x).astype(np.float64)


@kernel("Cholesky", unit="vector", shape=same_as(0), dtypes=FLOAT32, estimate=_cubic(1 / 3))
def cholesky(input: Array, /) -> Array:
    """The lower triangular factor; only the lower half of the matrix is read.

    input: (..., n, n).  Source: TensorFlow op `Cholesky`, which fills the lower half with NaN for a matrix that is not
    positive definite.
    """
    _check_square(input)
    wide = _wide(input)
    try:
        return np.linalg.cholesky(wide).astype(input.dtype)
    except np.linalg.LinAlgError:
        lowest = np.linalg.eigvalsh(wide)[..., :1, None] if np.isfinite(wide).all() else np.full((*wide.shape[:-2], 1, 1), -1.0)
        made = np.linalg.cholesky(np.where(lowest > 0, wide, np.eye(wide.shape[-1])))
        return np.where(lowest > 0, made, np.tril(np.full(wide.shape, np.nan))).astype(input.dtype)


@kernel("MatrixInverse", unit="vector", shape=same_as(0), dtypes=FLOAT32 | {"float16"}, estimate=_cubic(2))
def matrix_inverse(input: Array, /, *, adjoint: bool = False) -> Array:
    """input: (..., n, n).  Raises: InvalidArgument for a singular matrix.  Source: TensorFlow op `MatrixInverse`."""
    _check_square(input)
    wide = _wide(input, adjoint)
    _check_first_pivot(wide, NO_INVERSE)
    try:
        return np.linalg.inv(wide).astype(input.dtype)
    except np.linalg.LinAlgError as error:
        raise InvalidArgument(NO_INVERSE) from error


def _check_first_pivot(matrix: Array, message: str) -> None:
    """Raises: InvalidArgument for a NaN in the first column, which is the first pivot, as Eigen's comparisons keep it."""
    if np.isnan(matrix[..., :1]).any():
        raise InvalidArgument(message)


def _one_each(input: Spec, /) -> Shape:
    return None if input.shape is None else input.shape[:-2]


@kernel("MatrixDeterminant", unit="vector", shape=_one_each, dtypes=FLOAT32, estimate=_cubic(2 / 3))
def matrix_determinant(input: Array, /) -> Array:
    """input: (..., n, n).  Returns: (...).

    Source: TensorFlow op `MatrixDeterminant`, which multiplies the sign by the exponential of the logarithm.
    """
    sign, logarithm = _sign_and_logarithm(input)
    with np.errstate(all="ignore"):
        finite = np.asarray(np.linalg.det(_wide(input)))
        return np.where(np.isfinite(logarithm), finite, sign * np.exp(logarithm)).astype(input.dtype)


@kernel("LogMatrixDeterminant", unit="vector", shape=lambda x: [_one_each(x)] * 2, dtypes=FLOAT32, estimate=_cubic(2 / 3))
def log_matrix_determinant(input: Array, /) -> tuple[Array, Array]:
    """Sign and logarithm of the absolute determinant: (..., n, n) -> (...), (...).

    Source: TensorFlow op `LogMatrixDeterminant`.
    """
    sign, logarithm = _sign_and_logarithm(input)
    return sign.astype(input.dtype), logarithm.astype(input.dtype)


def _sign_and_logarithm(input: Array) -> tuple[Array, Array]:
    """Both in fp64. What is not finite has no sign, and a NaN counts as zero.

    Source: TensorFlow core/kernels/linalg/determinant_op.cc, SLogDet.
    """
    _check_square(input)
    with np.errstate(all="ignore"):
        sign, logarithm = (np.asarray(part) for part in np.linalg.slogdet(_wide(input)))
    is_finite = np.isfinite(logarithm)
    return np.where(is_finite, sign, 0.0), np.where(is_finite, logarithm, np.where(logarithm > 0, np.inf, -np.inf))


def _check_rows(matrix: Array, rhs: Array) -> None:
    _check_square(matrix)
    if rhs.ndim < 2 or matrix.shape[-1] != rhs.shape[-2]:
        shapes = f"{shape_text(matrix.shape)} vs. {shape_text(rhs.shape)}"
        raise InvalidArgument(f"Input matrix and rhs are incompatible: {shapes}")


@kernel("MatrixSolve", unit="vector", shape=same_as(1), dtypes=FLOAT32, estimate=_cubic(2 / 3))
def matrix_solve(matrix: Array, rhs: Array, /, *, adjoint: bool = False) -> Array:
    """x with matrix @ x = rhs.

    matrix: (..., n, n).  rhs: (..., n, k).  Raises: InvalidArgument for a singular matrix.  Source: TensorFlow op `MatrixSolve`.
    """
    _check_rows(matrix, rhs)
    if matrix.shape[:-2] != rhs.shape[:-2]:
        raise InvalidArgument(f"Input tensors must have the same outer dimensions: {shape_text(matrix.shape)} vs. "
                              f"{shape_text(rhs.shape)}")  # fmt: skip
    wide = _wide(matrix, adjoint)
    _check_first_pivot(wide, SINGULAR)
    try:
        return np.linalg.solve(wide, _wide(rhs)).astype(rhs.dtype)
    except np.linalg.LinAlgError as error:
        raise InvalidArgument(SINGULAR) from error


def _solved_shape(matrix: Spec, rhs: Spec, /, **attrs: Any) -> Shape:
    if matrix.shape is None or rhs.shape is None:
        return None
    batch = broadcast_pair(matrix.shape[:-2], rhs.shape[:-2])
    return None if batch is None else (*batch, *rhs.shape[-2:])


@kernel("MatrixTriangularSolve", unit="vector", shape=_solved_shape, dtypes=FLOAT32, estimate=_cubic(1))
def matrix_triangular_solve(matrix: Array, rhs: Array, /, *, lower: bool = True, adjoint: bool = False) -> Array:
    """x with triangle(matrix) @ x = rhs; the other half of the matrix is not read.

    matrix: (..., n, n).  rhs: (..., n, k); leading axes broadcast.  Raises: InvalidArgument for a zero on the diagonal, as
    TensorFlow 1.15; 2.15 divides by it.  Source: TensorFlow op `MatrixTriangularSolve`.
    """
    _check_rows(matrix, rhs)
    batch = leading_axes(matrix, rhs)
    triangle = np.tril(_wide(matrix)) if lower else np.triu(_wide(matrix))
    if (np.diagonal(triangle, axis1=-2, axis2=-1) == 0).any():
        raise InvalidArgument(SINGULAR)
    if adjoint:
        triangle = triangle.swapaxes(-1, -2)
    wide = np.broadcast_to(_wide(rhs), (*batch, *rhs.shape[-2:]))
    if not (np.isfinite(triangle).all() and np.isfinite(wide).all()):
        return _substituted(triangle, wide, lower != adjoint).astype(rhs.dtype)
    return np.linalg.solve(np.broadcast_to(triangle, (*batch, *triangle.shape[-2:])), wide).astype(rhs.dtype)


def _substituted(triangle: Array, rhs: Array, lower: bool) -> Array:
    """Row by row, so that an infinity or a NaN gets only into the rows that depend on it."""
    made, n = rhs.copy(), rhs.shape[-2]
    for row in range(n) if lower else range(n - 1, -1, -1):
        known = slice(0, row) if lower else slice(row + 1, n)
        products = triangle[..., row, known, None] * made[..., known, :]
        made[..., row, :] = (made[..., row, :] - products.sum(axis=-2)) / triangle[..., row, row, None]
    return made


@kernel("Cross", unit="vector", shape=same_as(0), dtypes=NUMBERS, estimate=lambda i, o, a: 3.0 * math.prod(o[0].known_shape()))
def cross(a: Array, b: Array, /) -> Array:
    """Cross products along the last axis of extent 3.

    Raises: InvalidArgument for shapes that differ, FailedPrecondition for another extent.  Source: TensorFlow op `Cross`.
    """
    if a.shape != b.shape:
        raise InvalidArgument(f"Both inputs must be of same shape: {shape_text(a.shape)} vs. {shape_text(b.shape)}")
    if not a.ndim:
        raise InvalidArgument(f"Input must be at least 1D{shape_text(a.shape)}")
    if a.shape[-1] != 3:
        raise FailedPrecondition(f"Cross-products are only defined for 3-element vectors. Shape: {shape_text(a.shape)}")
    after, before = np.array([1, 2, 0]), np.array([2, 0, 1])
    return a[..., after] * b[..., before] - a[..., before] * b[..., after]


@kernel(
    "TridiagonalMatMul",
    unit="vector",
    shape=same_as(3),
    dtypes=FLOAT32,
    estimate=lambda i, o, a: 5.0 * math.prod(o[0].known_shape()),
)
def tridiagonal_mat_mul(superdiag: Array, maindiag: Array, subdiag: Array, rhs: Array, /) -> Array:
    """superdiag, maindiag, subdiag: (..., 1, m).  rhs: (..., m, n).  Source: TensorFlow op `TridiagonalMatMul`."""
    if not (superdiag.ndim == maindiag.ndim == subdiag.ndim == rhs.ndim >= 2):
        shapes = ", ".join(shape_text(x.shape) for x in (superdiag, maindiag, subdiag, rhs))
        raise InvalidArgument(f"All input tensors must have the same rank: {shapes}")
    for name, given in (("superdiagonal", superdiag), ("main diagonal", maindiag), ("subdiagonal", subdiag)):
        if given.shape != (*rhs.shape[:-2], 1, rhs.shape[-2]):
            raise InvalidArgument(f"Invalid {name} shape {shape_text(given.shape)} beside {shape_text(rhs.shape)}")
    above, middle, below = (d.swapaxes(-1, -2) for d in (superdiag, maindiag, subdiag))
    made = middle * rhs
    made[..., :-1, :] += above[..., :-1, :] * rhs[..., 1:, :]
    made[..., 1:, :] += below[..., 1:, :] * rhs[..., :-1, :]
    return made


@kernel("TridiagonalSolve", unit="vector", shape=same_as(1), dtypes=FLOAT32, ignores=["partial_pivoting", "perturb_singular"],
        estimate=lambda i, o, a: 8.0 * math.prod(o[0].known_shape()))  # fmt: skip
def tridiagonal_solve(diagonals: Array, rhs: Array, /) -> Array:
    """diagonals: (..., 3, m), above, on and below.  rhs: (..., m, k).  Source: TensorFlow op `TridiagonalSolve`."""
    if diagonals.ndim != rhs.ndim or rhs.ndim < 2:
        shapes = f"{shape_text(diagonals.shape)}, {shape_text(rhs.shape)}"
        raise InvalidArgument(f"All input tensors must have the same rank: {shapes}")
    m = rhs.shape[-2]
    if diagonals.shape[:-2] != rhs.shape[:-2]:
        shapes = f"{shape_text(diagonals.shape)}, {shape_text(rhs.shape)}"
        raise InvalidArgument(f"All input tensors must have the same outer dimensions: {shapes}")
    if diagonals.shape[-2] != 3:
        raise InvalidArgument(f"Expected 3 diagonals got {diagonals.shape[-2]}")
    if diagonals.shape[-1] != m:
        both = f"{diagonals.shape[-1]} and {m}"
        raise InvalidArgument(f"Expected the same number of left-hand sides and right-hand sides, got {both}.")
    matrix = np.zeros((*diagonals.shape[:-2], m, m), np.float64)
    places = np.arange(m)
    matrix[..., places, places] = diagonals[..., 1, :]
    matrix[..., places[:-1], places[1:]] = diagonals[..., 0, :-1]
    matrix[..., places[1:], places[:-1]] = diagonals[..., 2, 1:]
    try:
        return np.linalg.solve(matrix, _wide(rhs)).astype(rhs.dtype)
    except np.linalg.LinAlgError as error:
        raise InvalidArgument("The matrix is singular.") from error
