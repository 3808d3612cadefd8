"""Tensors from diagonals and diagonals of tensors.

Source: TensorFlow's core/kernels/diag_op.cc, matrix_diag_op.cc, matrix_set_diag_op.cc and matrix_band_part_op.cc.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.shapes import same_as
from npu_runtime.kernels.variable_access import shape_text

SCALARS = {"num_rows": 0, "num_cols": 0, "padding_value": 0}
DIAG_TYPES = frozenset({"float16", "float32", "int32", "int64"})


class _Band(NamedTuple):
    """The positions of the elements of diagonals low ... high in a matrix, and in the packed (n_diagonals, longest) form."""

    diagonal: np.ndarray
    place: np.ndarray
    row: np.ndarray
    column: np.ndarray
    n_diagonals: int
    longest: int


def _longest(rows: int, columns: int, low: int, high: int) -> int:
    return min(rows + min(high, 0), columns - max(low, 0))


def _band(rows: int, columns: int, low: int, high: int, align: str) -> _Band:
    """Diagonals from `high` down; align says at which end those above and below the main one are padded."""
    n, longest = high - low + 1, _longest(rows, columns, low, high)
    k = high - np.arange(n)[:, None]
    length = np.minimum(rows + np.minimum(k, 0), columns - np.maximum(k, 0))
    above, below = align.split("_")
    is_left = ((k >= 0) & (above == "LEFT")) | ((k <= 0) & (below == "LEFT"))
    place = np.arange(longest) - np.where(is_left, 0, longest - length)
    diagonal, column = np.nonzero((place >= 0) & (place < length))
    along, of = place[diagonal, column], k[diagonal, 0]
    return _Band(diagonal, column, along + np.maximum(-of, 0), along + np.maximum(of, 0), n, longest)


def _limits(k: np.ndarray) -> tuple[int, int]:
    if k.ndim > 1 or k.size not in (1, 2):
        raise InvalidArgument(
            f"diag_index must be a scalar or a vector of one or two elements, but has shape {shape_text(k.shape)}"
        )
    flat = k.reshape(-1).tolist()
    low, high = flat[0], flat[-1]
    if low > high:
        raise InvalidArgument(f"lower_diag_index must not be larger than upper_diag_index: {low} > {high}")
    return low, high


def _check_matrix(x: np.ndarray) -> None:
    if x.ndim < 2:
        raise InvalidArgument(f"input must be at least 2-dim, received shape: {shape_text(x.shape)}")


def _check_limits(low: int, high: int, rows: int, columns: int) -> None:
    for k, which in ((low, "lower"), (high, "upper")):
        if not -rows < k < columns and k != 0:
            raise InvalidArgument(f"{which}_diag_index is out of bound: {k}. It must be between {-rows} and {columns}")


def _diag_shape(diagonal: Spec) -> Shape:
    return None if diagonal.shape is None else diagonal.shape * 2


@kernel("Diag", unit="memory", shape=_diag_shape, dtypes=DIAG_TYPES)
def diag(diagonal: np.ndarray, /, *, out: np.ndarray | None = None) -> np.ndarray:
    """Zeros but at [i, ..., i, ...], where diagonal[i, ...] is. Returns: shape + shape."""
    if diagonal.ndim == 0:
        raise InvalidArgument("Input must be at least rank 1, got 0")
    made = np.empty(diagonal.shape * 2, diagonal.dtype) if out is None else out
    made.fill(0)
    np.einsum("ii->i", made.reshape(diagonal.size, diagonal.size))[...] = diagonal.reshape(-1)
    return made


def _diag_part_shape(x: Spec) -> Shape:
    return None if x.shape is None else x.shape[: len(x.shape) // 2]


@kernel("DiagPart", unit="memory", shape=_diag_part_shape, dtypes=DIAG_TYPES)
def diag_part(x: np.ndarray, /) -> np.ndarray:
    """x[i, ..., i, ...]. x: shape + shape. Raises: InvalidArgument for other shapes."""
    half = x.shape[: x.ndim // 2]
    if x.ndim % 2 or x.shape[x.ndim // 2 :] != half:
        odd = next((a for a, n in enumerate(half) if x.shape[a + len(half)] != n), 0)
        raise InvalidArgument(f"Invalid shape {shape_text(x.shape)}: dimensions {odd} and {odd + len(half)} do not match.")
    n = math.prod(half)
    return np.diagonal(x.reshape(n, n)).reshape(half).copy()


def _matrix_diag_shape(diagonal: Spec) -> Shape:
    return None if diagonal.shape is None else (*diagonal.shape, diagonal.shape[-1])


@kernel("MatrixDiag", unit="memory", shape=_matrix_diag_shape)
def matrix_diag(diagonal: np.ndarray, /) -> np.ndarray:
    """Square matrices with the last axis on the main diagonal, zeros elsewhere."""
    n = diagonal.shape[-1]
    made = np.zeros((*diagonal.shape, n), diagonal.dtype)
    made[..., np.arange(n), np.arange(n)] = diagonal
    return made


def _banded_shape(diagonal: Spec, k: Spec, rows: Spec, columns: Spec, padding: Spec, *, align: str = "") -> Shape:
    if diagonal.shape is None or diagonal.shape[-1] is None or k.value is None or rows.value is None or columns.value is None:
        return None
    low, high = _limits(k.value)
    n_rows, n_columns = _matrix_extents(diagonal.shape[-1], low, high, int(rows.value), int(columns.value))
    return (*diagonal.shape[: -1 if low == high else -2], n_rows, n_columns)


def _matrix_extents(longest: int, low: int, high: int, rows: int, columns: int) -> tuple[int, int]:
    """Extents of the matrix; -1: the smallest that the diagonals fit into, or a square."""
    least_rows, least_columns = longest - min(high, 0), longest + max(low, 0)
    if rows == columns == -1:
        return (max(least_rows, least_columns),) * 2
    rows, columns = least_rows if rows == -1 else rows, least_columns if columns == -1 else columns
    if rows < least_rows or columns < least_columns:
        raise InvalidArgument(f"The matrix must be at least {least_rows} x {least_columns}, not {rows} x {columns}")
    return rows, columns


def _packed(x: np.ndarray, low: int, high: int) -> np.ndarray:
    """The diagonals as (..., n_diagonals, longest), also when there is only one."""
    return x[..., None, :] if low == high else x


@kernel("MatrixDiagV2", unit="memory", shape=_banded_shape, ranks=SCALARS)
def matrix_diag_v2(
    diagonal: np.ndarray, k: np.ndarray, num_rows: np.ndarray, num_cols: np.ndarray, padding_value: np.ndarray, /
) -> np.ndarray:
    """As `MatrixDiagV3`, every diagonal padded at its end."""
    return matrix_diag_v3(diagonal, k, num_rows, num_cols, padding_value, align="LEFT_LEFT")


@kernel("MatrixDiagV3", unit="memory", shape=_banded_shape, ranks=SCALARS)
def matrix_diag_v3(
    diagonal: np.ndarray, k: np.ndarray, num_rows: np.ndarray, num_cols: np.ndarray, padding_value: np.ndarray, /, *,
    align: str = "RIGHT_LEFT",
) -> np.ndarray:  # fmt: skip
    """Matrices with the given diagonals, padding_value elsewhere.

    diagonal: (..., longest) for one diagonal, (..., n, longest) for those from k[1] down to k[0].
    k: one index or (lowest, highest).  num_rows, num_cols: extents, -1: from the diagonals.
    align: end at which shorter diagonals sit, above_below the main one.  Raises: InvalidArgument when they do not fit.
    """
    low, high = _limits(k)
    rows, columns = _matrix_extents(diagonal.shape[-1], low, high, int(num_rows), int(num_cols))
    packed = _packed(diagonal, low, high)
    band = _band(rows, columns, low, high, align)
    if packed.shape[-2:] != (band.n_diagonals, band.longest):
        raise InvalidArgument(f"Expected {band.n_diagonals} diagonals of length {band.longest}, got {list(packed.shape)}")
    made = np.full((*packed.shape[:-2], rows, columns), padding_value, diagonal.dtype)
    made[..., band.row, band.column] = packed[..., band.diagonal, band.place]
    return made


def _matrix_diag_part_shape(x: Spec) -> Shape:
    if x.shape is None or x.shape[-2] is None or x.shape[-1] is None:
        return None if x.shape is None else (*x.shape[:-2], None)
    return (*x.shape[:-2], min(x.shape[-2], x.shape[-1]))


@kernel("MatrixDiagPart", unit="memory", shape=_matrix_diag_part_shape)
def matrix_diag_part(x: np.ndarray, /) -> np.ndarray:
    """The main diagonal of the last two axes."""
    _check_matrix(x)
    return np.diagonal(x, axis1=-2, axis2=-1).copy()


def _band_part_shape(x: Spec, k: Spec, padding: Spec, *, align: str = "") -> Shape:
    if x.shape is None or k.value is None or x.shape[-2] is None or x.shape[-1] is None:
        return None
    low, high = _limits(k.value)
    longest = _longest(x.shape[-2], x.shape[-1], low, high)
    return (*x.shape[:-2], *(() if low == high else (high - low + 1,)), longest)


@kernel("MatrixDiagPartV2", unit="memory", shape=_band_part_shape)
def matrix_diag_part_v2(x: np.ndarray, k: np.ndarray, padding_value: np.ndarray, /) -> np.ndarray:
    """As `MatrixDiagPartV3`, every diagonal padded at its end."""
    return matrix_diag_part_v3(x, k, padding_value, align="LEFT_LEFT")


@kernel("MatrixDiagPartV3", unit="memory", shape=_band_part_shape)
def matrix_diag_part_v3(x: np.ndarray, k: np.ndarray, padding_value: np.ndarray, /, *, align: str = "RIGHT_LEFT") -> np.ndarray:
    """Diagonals of the last two axes, packed as `MatrixDiagV3` takes them, shorter ones padded.

    Raises: InvalidArgument for a diagonal outside the matrix.
    """
    _check_matrix(x)
    low, high = _limits(k)
    _check_limits(low, high, *x.shape[-2:])
    band = _band(x.shape[-2], x.shape[-1], low, high, align)
    made = np.full((*x.shape[:-2], band.n_diagonals, band.longest), padding_value.reshape(-1)[0], x.dtype)
    made[..., band.diagonal, band.place] = x[..., band.row, band.column]
    return made[..., 0, :] if low == high else made


@kernel("MatrixSetDiag", unit="memory", shape=same_as(0), inplace=(0,))
def matrix_set_diag(x: np.ndarray, diagonal: np.ndarray, /, *, out: np.ndarray | None = None) -> np.ndarray:
    """x with another main diagonal."""
    return _set_band(x, diagonal, 0, 0, "LEFT_LEFT", out)


@kernel("MatrixSetDiagV2", unit="memory", shape=same_as(0), inplace=(0,))
def matrix_set_diag_v2(x: np.ndarray, diagonal: np.ndarray, k: np.ndarray, /, *, out: np.ndarray | None = None) -> np.ndarray:
    """As `MatrixSetDiagV3`, every diagonal padded at its end."""
    return _set_band(x, diagonal, *_limits(k), "LEFT_LEFT", out)


@kernel("MatrixSetDiagV3", unit="memory", shape=same_as(0), inplace=(0,))
def matrix_set_diag_v3(
    x: np.ndarray, diagonal: np.ndarray, k: np.ndarray, /, *, align: str = "RIGHT_LEFT", out: np.ndarray | None = None
) -> np.ndarray:
    """x with other diagonals, packed as `MatrixDiagV3` takes them. Raises: InvalidArgument when they do not fit."""
    return _set_band(x, diagonal, *_limits(k), align, out)


def _set_band(x: np.ndarray, diagonal: np.ndarray, low: int, high: int, align: str, out: np.ndarray | None) -> np.ndarray:
    _check_matrix(x)
    _check_limits(low, high, *x.shape[-2:])
    band = _band(x.shape[-2], x.shape[-1], low, high, align)
    packed = _packed(diagonal, low, high)
    if packed.shape != (*x.shape[:-2], band.n_diagonals, band.longest):
        raise InvalidArgument(
            "Either first dimensions of diagonal don't match input.shape[:-2], or diagonal.shape[:-1] is not equal to the "
            "longests diagonal in range [lower_diag_index:upper_diag_index]."
            f" Diagonal {shape_text(diagonal.shape)}, input {shape_text(x.shape)}"
        )
    made = x.copy() if out is None else out
    if made is not x and out is not None:
        np.copyto(made, x)
    made[..., band.row, band.column] = packed[..., band.diagonal, band.place]
    return made


@kernel("MatrixBandPart", unit="memory", shape=same_as(0), inplace=(0,), ranks={"num_lower": 0, "num_upper": 0})
def matrix_band_part(
    x: np.ndarray, num_lower: np.ndarray, num_upper: np.ndarray, /, *, out: np.ndarray | None = None
) -> np.ndarray:
    """x where the column is at most num_upper right and num_lower left of the diagonal, else 0; negative: no limit.

    x: (..., rows, columns).  Raises: InvalidArgument for a limit beyond rows or columns, and below two axes.
    """
    _check_matrix(x)
    lower, upper = int(num_lower), int(num_upper)
    rows, columns = x.shape[-2:]
    for name, limit, what, most in (("num_lower", lower, "rows", rows), ("num_upper", upper, "columns", columns)):
        if limit > most:
            raise InvalidArgument(f"{name} must be negative or less or equal to number of {what} ({most}) got: {limit}")
    distance = np.arange(columns) - np.arange(rows)[:, None]
    inside = ((lower < 0) | (-distance <= lower)) & ((upper < 0) | (distance <= upper))
    made = np.empty(x.shape, x.dtype) if out is None else out
    if made is not x:
        np.copyto(made, x)
    np.copyto(made, np.zeros((), x.dtype), where=~inside)
    return made
