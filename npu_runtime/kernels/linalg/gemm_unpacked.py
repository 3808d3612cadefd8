"""Large products on one thread by panels of columns and pieces of rows, each so small that BLAS packs nothing.

OpenBLAS' kernels for AVX-512 multiply small products as their operands lie in memory. Where every row of a panel follows the one
before, they reach 110 GF/s on a thread of an EPYC, nine tenths of what its units can do; products that are packed reach 88.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from npu_runtime.kernels.threads.parallel import blas_architecture, processor_vendor, scratch
from npu_runtime.kernels.threads.row_indexing import as_items
from npu_runtime.kernels.threads.transposing import transpose_into

SMALL_PRODUCT = 1_000_000 if blas_architecture().lower() in ("skylakex", "cooperlake", "sapphirerapids") else 0
"""Most multiplications of a product whose operands are not packed; 0 where all are.

Source: OpenBLAS' sgemm_small_matrix_permit, which its kernels for AVX-512 have.
"""
IS_AMD = processor_vendor() == "AuthenticAMD"
"""AMD's processors run the same kernels of BLAS, but what packing costs them is another share of a product."""
WIDTH = 64
"""Columns of a panel."""
LANES = 16
"""Elements of a vector."""
ROWS = 6
"""Rows of the micro kernel: pieces have a multiple of so many."""
LONGEST = 1302
"""Elements that one product sums up, which leaves twelve rows for a piece."""
SUMMED_ROWS = 2048
"""Rows at a time where more is summed up than that, so that sums stay in cache."""
PANEL_BYTES = 3 << 18
"""Bytes of panels side by side: they stay in the second cache while all rows pass by them."""
FEWEST_ROWS, FEWEST_INNER = 48, 24
"""The fewest rows of a product that repays laying out panels, and the fewest elements that it sums up."""
FEWEST_TURNED = 3000
"""Rows of a product that repays turning a matrix around first, whose columns are contiguous."""
LINES_APART = 2048
"""Bytes: columns that are read down through rows of a multiple of this length drive each other out of the caches."""


def way_unpacked(a: np.ndarray, b: np.ndarray) -> Callable[..., object] | None:
    """`multiply_unpacked` where it is faster for a @ b than what BLAS packs; by shapes and layout only."""
    return multiply_unpacked if b.strides[1] == b.itemsize and _is_faster(a, b) else None


def _is_faster(a: np.ndarray, b: np.ndarray) -> bool:
    (m, inner), columns = a.shape, b.shape[1]
    is_large = m >= FEWEST_ROWS and columns >= WIDTH and inner >= FEWEST_INNER and m * b.size > SMALL_PRODUCT > 0
    are_apart = a.strides[1] != a.itemsize and a.strides[1] % LINES_APART == 0 and m > columns
    return IS_AMD and b.dtype == np.float32 and is_large and not are_apart


def with_rows(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """b, or a copy with contiguous rows where a @ b then is so much faster that it repays the copy, over the worker threads."""
    if b.strides[1] == b.itemsize or len(a) < FEWEST_TURNED or not _is_faster(a, b):
        return b
    copy = np.empty(b.shape, np.float32)
    transpose_into(copy, b)
    return copy


def multiply_unpacked(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """out = a @ b on this thread.

    a: (m, k), one axis contiguous.  b: (k, n), out: (m, n), rows contiguous, fp32; n is at least WIDTH.
    """
    inner, columns = b.shape
    n_parts = -(-inner // LONGEST)
    parts = _cuts(inner, n_parts)
    whole = columns // WIDTH * WIDTH
    step = max(WIDTH, PANEL_BYTES * n_parts // (4 * inner) // WIDTH * WIDTH)
    pieces = [slice(first, min(first + step, whole)) for first in range(0, whole, step)]
    pieces += [slice(columns - _in_lanes(columns - whole), columns)] if whole < columns else []
    for rows in _cuts(len(a), 1 if n_parts == 1 else -(-len(a) // SUMMED_ROWS)):
        for piece in pieces:
            _multiply_columns(a[rows], b[:, piece], out[rows, piece], parts)


def _cuts(extent: int, count: int) -> list[slice]:
    """An extent in `count` about equal parts."""
    return [slice(extent * index // count, extent * (index + 1) // count) for index in range(count)]


def multiply_each(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """out[i] = a[i] @ b[i] on this thread.  a: (count, m, k), one of the last axes contiguous.  b: (count, k, n)."""
    way = way_unpacked(a[0], b[0])
    if way is None:
        np.matmul(a, b, out=out)
        return
    for left, right, target in zip(a, b, out, strict=True):
        way(left, right, target)


def are_panels_faster(inner: int, columns: int) -> bool:
    """Whether many rows of `inner` elements are best multiplied by a matrix that lies in panels, as `cut_panels` lays it out."""
    is_large = FEWEST_INNER <= inner <= LONGEST and columns * inner * FEWEST_ROWS > SMALL_PRODUCT > 0
    return IS_AMD and is_large and columns % WIDTH == 0


def cut_panels(w: np.ndarray) -> np.ndarray:
    """Matrices in panels of WIDTH columns.  w: (..., k, n), any strides.  Returns: (..., n / WIDTH, k, WIDTH) contiguous."""
    view = w.reshape(*w.shape[:-1], -1, WIDTH).swapaxes(-2, -3)
    panels = np.empty(view.shape, np.float32)
    transpose_into(panels, view)
    return panels


def _in_lanes(columns: int) -> int:
    """The number of columns up to whole lanes: some are computed again, as the last ones beside whole vectors would be summed in
    an order that depends on the rows beside them, and so on how many threads there are."""
    return -(-columns // LANES) * LANES


def _multiply_columns(a: np.ndarray, b: np.ndarray, out: np.ndarray, parts: list[slice]) -> None:
    """out = a @ b for some columns.  parts: of what is summed up, one after the other."""
    for index, part in enumerate(parts):
        made = scratch("unpacked sums", out.shape) if index else out
        multiply_panels(a[:, part], _lay_out(b[part]), made)
        if index:
            np.add(out, made, out=out)


def _lay_out(b: np.ndarray) -> np.ndarray:
    """b in panels, (panels, k, WIDTH) in scratch, or as one that is narrower.  b: (k, n), n a multiple of WIDTH or less."""
    inner, columns = b.shape
    if columns % WIDTH or b.strides[0] == WIDTH * b.itemsize:
        return b[None]
    panels = scratch("unpacked panels", (columns // WIDTH, inner, WIDTH))
    np.copyto(as_items(panels), as_items(b.reshape(inner, -1, WIDTH)).T)
    return panels


def multiply_panels(a: np.ndarray, panels: np.ndarray, out: np.ndarray) -> None:
    """out = a @ the panels side by side, on this thread, in products that BLAS does not pack.

    a: (m, k), one axis contiguous.  panels: (n / width, k, width) contiguous.  out: (m, n), rows contiguous.
    """
    count, inner, width = panels.shape
    rows = rows_of_pieces(len(a), inner, width)
    whole = len(a) // rows * rows
    by_panel = cut_columns(out, width)
    pieces = by_panel[:, :whole].reshape(count, -1, rows, width)
    np.matmul(cut_rows(a[:whole], rows), panels[:, None], out=pieces)
    if whole < len(a):
        rest = max(min(whole, len(a) - 2), 0)  # of one row BLAS makes another product, in another order
        np.matmul(a[rest:], panels, out=by_panel[:, rest:])


def rows_of_pieces(m: int, inner: int, width: int) -> int:
    """Rows of one product of `inner` by `width`: as even pieces of all m as the micro kernel allows."""
    most = max(ROWS, SMALL_PRODUCT // (inner * width) // ROWS * ROWS)
    even = -(-m // -(-m // most))
    return min(m, -(-even // ROWS) * ROWS)


def cut_columns(x: np.ndarray, width: int) -> np.ndarray:
    """(m, n) as (n / width, m, width), not copied; any strides, as cutting an axis never needs a copy."""
    return x.reshape(len(x), x.shape[1] // width, width).swapaxes(0, 1)


def cut_rows(x: np.ndarray, size: int) -> np.ndarray:
    """(m, n) as (m / size, size, n), not copied; any strides."""
    return x.reshape(len(x) // size, size, x.shape[1])
