"""Products of matrices on one thread: in pieces that BLAS does not pack, or turned around."""

from __future__ import annotations

import numpy as np

from npu_runtime.kernels.linalg.gemm_unpacked import IS_AMD, SMALL_PRODUCT, cut_columns, cut_rows, way_unpacked
from npu_runtime.kernels.threads.parallel import scratch

FEWEST_STACKED = 128
"""The fewest rows of one such product that repay its start."""
NARROW, FEWEST_NARROW, MANY_ROWS = 96, 32, 512
"""Fewer rows repay it where columns are few: so many columns, so many rows of one product, so many of all of them."""
EVEN_ROWS, LINE_ROWS = 12, 16
"""Rows of a stack's products on AMD's processors are a multiple of these: two of the micro kernel's; or a cache line where the
columns of the left operand are contiguous. As many repay the start of a product."""
SHORT_INNER, LARGE_RESULT = 24, 1 << 20
"""A product that sums up fewer elements into a result of more waits for memory, which BLAS' own blocks spare."""
TURNED_ROWS = 96
"""Rows of a product on AMD's processors that repay turning a small matrix around whose columns are contiguous."""
MOST_DOTS = 1200
"""The largest result of a product that BLAS does not pack although the columns of its right operand alone are contiguous.

Source: OpenBLAS' sgemm_small_matrix_permit, for its kernels with AVX-512.
"""
SOME_ROWS = range(0) if IS_AMD else range(25, 49)
"""Rows of a product where only a narrower piece of all rows of the other operand is one that BLAS does not pack."""
MORE_ROWS = range(81, 201) if IS_AMD else range(0)
"""Rows of a product whose narrower pieces are faster than panels, though several are added up."""
FEW_COLUMNS, SOME_COLUMNS, FEW_TURNED = 64, 32, 16
"""Columns of such a piece; of one for some rows; of one whose columns are contiguous."""
FEWEST_FEW = 4
"""The fewest rows that it pays for."""
FAR_APART = 256
"""Rows whose length is a multiple of this many elements drive each other out of the nearest cache when they are read down."""
LINE_ELEMENTS = 16
"""Elements of a cache line: rows that are longer by so many do not drive each other out."""


def multiply_stacked(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """out = a @ b on this thread, where b is small in products of a few rows each.

    OpenBLAS copies the operands of a product into a layout of its own first, but not those of a small product: with a short
    inner extent and few columns that is most of the time.
    """
    size = stack_of(a, b, out)
    whole = len(a) // size * size if size else 0
    if whole:
        np.matmul(cut_rows(a[:whole], size), b, out=cut_rows(out[:whole], size))
    if whole < len(a):
        by = way_unpacked(a[whole:], b) or np.matmul
        by(a[whole:], b, out=out[whole:])


def multiply_few(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """out = a @ b of few rows on this thread, by pieces of b that BLAS does not pack, whose products are added up.

    Packing all of b would take longer than multiplying it.  a: (m, k), b: (k, n), each with one axis contiguous.  out: (m, n).
    """
    inner, columns = b.shape
    is_narrow = len(a) in SOME_ROWS or len(a) in MORE_ROWS
    width = FEW_TURNED if b.strides[1] != b.itemsize else SOME_COLUMNS if is_narrow else FEW_COLUMNS
    n_parts = -(-inner * len(a) * width // SMALL_PRODUCT)
    whole = columns // width * width
    for index in range(n_parts):
        part = slice(inner * index // n_parts, inner * (index + 1) // n_parts)
        target = scratch("few rows", out.shape) if index else out
        if whole:
            np.matmul(a[:, part], cut_columns(b[part, :whole], width), out=cut_columns(target[:, :whole], width))
        if whole < columns:
            np.matmul(a[:, part], b[part, whole:], out=target[:, whole:])
        if index:
            np.add(out, target, out=out)


def multiply_transposed(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """out = a @ b of fewer rows than columns on this thread, as (b.T @ a.T).T.

    OpenBLAS' kernels for AVX-512 pack numpy's right operand by 16 columns at a time, down all of its rows, which lie in other
    pages of memory; the left one, turned around, along its rows.  a: (m, k), b: (k, n) with contiguous rows.  out: (m, n).
    """
    m, n = out.shape
    apart = 0 if m % FAR_APART else LINE_ELEMENTS
    turned = scratch("turned product", (n, m + apart))[:, :m]
    np.matmul(b.T, a.T, out=turned)
    np.copyto(out, turned.T)


def stack_of(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> int:
    """Rows of one product in a stack of them; 0 where that does not pay. Depends on shapes, layout and BLAS."""
    if out.dtype != np.float32 or b.strides[1] != b.itemsize or out.strides[-1] != out.itemsize:
        return 0
    if IS_AMD:
        return _even_rows(a, b)
    size = SMALL_PRODUCT // max(b.size, 1) // 16 * 16  # the width of the micro kernels
    return size if fewest_stacked(len(a), b) <= size < len(a) and b.flags.c_contiguous else 0


def _even_rows(a: np.ndarray, b: np.ndarray) -> int:
    """The rows of a stack's products on AMD's processors, which are about even and as many as are not packed.

    Their kernels reach 90 to 109 GF/s from 12 rows on, where packed products of a few hundred rows reach 50 to 95 (Zen 4).
    """
    (m, inner), columns = a.shape, b.shape[1]
    most = SMALL_PRODUCT // max(b.size, 1)
    if not EVEN_ROWS <= most < m or (inner < SHORT_INNER and m * columns > LARGE_RESULT):
        return 0
    unit = EVEN_ROWS if a.strides[1] == a.itemsize or most < LINE_ROWS else LINE_ROWS
    even = -(-m // -(-m // (most // unit * unit)))
    return -(-even // unit) * unit


def fewest_stacked(rows: int, b: np.ndarray) -> int:
    return FEWEST_NARROW if b.shape[1] <= NARROW and rows >= MANY_ROWS else FEWEST_STACKED


def repays_narrow_columns(m: int, inner: int, columns: int) -> bool:
    """Whether `multiply_few` is faster on AMD's processors where the columns of the right operand are contiguous."""
    return FEW_TURNED * m <= MOST_DOTS < m * columns and inner >= 4 * m + FEW_TURNED and m >= FEWEST_FEW


def repays_turning(rows: int, inner: int, columns: int) -> bool:
    """Whether to copy a right operand of a product into contiguous rows first, on AMD's processors."""
    return rows >= TURNED_ROWS and 0 < inner * columns * EVEN_ROWS <= SMALL_PRODUCT


def as_blas_takes_it(x: np.ndarray) -> np.ndarray:
    """numpy hands a matrix to BLAS only when one of its axes is contiguous."""
    return x if x.itemsize in (x.strides[-1], x.strides[-2]) else np.ascontiguousarray(x)
