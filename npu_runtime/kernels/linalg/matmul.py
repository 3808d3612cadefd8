"""Matrix products on the cube unit."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.algorithm_choice import is_tuned
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.half_storage import store, wide_buffer, widen
from npu_runtime.kernels.linalg import product_trials
from npu_runtime.kernels.linalg.epilogue import ALL, Epilogue
from npu_runtime.kernels.linalg.gemm_unpacked import (
    IS_AMD,
    SMALL_PRODUCT,
    WIDTH,
    cut_columns,
    multiply_unpacked,
    way_unpacked,
    with_rows,
)
from npu_runtime.kernels.linalg.serial_products import (
    FEWEST_NARROW,
    MORE_ROWS,
    SOME_COLUMNS,
    SOME_ROWS,
    as_blas_takes_it,
    fewest_stacked,
    multiply_few,
    multiply_stacked,
    multiply_transposed,
    repays_narrow_columns,
    repays_turning,
    stack_of,
)
from npu_runtime.kernels.threads.parallel import Body, n_threads, parallel_ranges
from npu_runtime.kernels.variable_access import shape_text

PRODUCTS = dt.FLOATS | {"int32", "int64"}
ROWS = 1024
"""Rows of a product that one thread computes at a time: each piece packs the other operand once more, so that two pieces are
the fastest for two threads; but where there are more threads they want a piece each."""
COLUMNS = 768
"""Columns that one thread computes at a time where a product is wide, for the same reasons."""
LEAST_BY_THREADS = 512
"""The fewest rows or columns at a time, where each thread gets one piece."""
FINISHED = 1 << 19
"""The most elements of such a piece where an epilogue follows, which wants them in cache."""
STACKED_ROWS = 4096
"""Rows at a time where the other operand is not packed, as the rows are multiplied in smaller pieces."""
FEW_ROWS, FEW_ROWS_BY_COLUMNS = range(4, 81) if IS_AMD else range(4, 25), range(4, 41)
"""Rows of a product that is multiplied by pieces of the other operand, as packing it takes longer than multiplying; and of one
whose columns are contiguous, where `repays_narrow_columns` does not tell."""
TRANSPOSED_ROWS, TRANSPOSED_SIZE = range(0) if IS_AMD else range(25, 321), 500_000
"""Rows of a product that is turned around, and the size of the other operand from which on that pays."""
COLUMNS_BY_FEW = 1280
"""Columns at a time then: pieces side by side share the pages of memory that their rows are in."""
MOST_STACKS = 8
"""The most pieces that a stack of products is cut into: after each of them a thread may have to wait for the other."""
WIDE_COLUMNS = range(64, 1025)
"""Columns of one such product where the other operand is small and has few rows: the narrowest and the widest."""
FEWEST_WIDE = 512
"""The fewest columns of a product that is cut so."""
TALL = 4
"""A product of so many times as many rows as columns is cut between the threads by its rows, where columns are multiplied in
panels, which then every thread lays out."""
SERIAL_FLOPS = 2e7
"""A product smaller than this, 0.2 ms of one thread, takes less time than waking a worker and waiting for it, where the steps
around it are as short: as in the body of a loop."""


def multiply(a: np.ndarray, b: np.ndarray, out: np.ndarray, epilogue: Epilogue | None = None) -> np.ndarray:
    """out = a @ b for matrices of one type, cut along the longer side of `out` over the worker threads.

    a: (m, k).  b: (k, n).  out: (m, n), rows contiguous.  epilogue: applied to what is finished.  Returns: out.
    """
    if is_tuned() and product_trials.is_worth_it(a, out):
        return product_trials.multiply(a, b, out, epilogue, _multiply_by_rules)
    return _multiply_by_rules(a, b, out, epilogue)


def _multiply_by_rules(a: np.ndarray, b: np.ndarray, out: np.ndarray, epilogue: Epilogue | None = None) -> np.ndarray:
    """Multiplies in pieces that shapes, layouts and what BLAS packs tell."""
    a, b = as_blas_takes_it(a), as_blas_takes_it(b)
    m, n = out.shape
    b = _with_rows(a, b)
    if 2.0 * m * n * a.shape[1] < SERIAL_FLOPS:
        _multiply_serially(a, b, out)
        if epilogue is not None and m:
            epilogue(out)
        return out
    finish = epilogue or leave

    by, has_stack = _way(a, b), (IS_AMD or m >= n) and stack_of(a, b, out) > 0
    by_rows = by if by is multiply_unpacked and not has_stack else multiply_stacked

    def rows(start: int, stop: int) -> None:
        by_rows(a[start:stop], b, out[start:stop])
        finish(out[start:stop])

    def columns(start: int, stop: int) -> None:
        by(a, b[:, start:stop], out=out[:, start:stop])
        finish(out[:, start:stop], slice(start, stop))

    most = None if epilogue is None else FINISHED // max(min(m, n), 1)
    if width := _width_of(a, b, out):
        multiply_wide(a, b, out, width, finish)
    elif has_stack:
        parallel_ranges(m, rows, _block(m, STACKED_ROWS if epilogue is None else ROWS))
    elif by is multiply_unpacked and m < (TALL * n if n >= FEWEST_WIDE else n):
        _over_panels(columns, n, most or n)
    elif by is multiply_few:
        _over_panels(columns, n, min(most or n, COLUMNS_BY_FEW))
    elif m >= n:
        parallel_ranges(m, rows, _share(m, ROWS, b, most))
    else:
        parallel_ranges(n, columns, _share(n, COLUMNS, a, most))
    return out


def _with_rows(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """b, or a copy with contiguous rows where a @ b then is so much faster that it repays the copy."""
    if IS_AMD and b.dtype == np.float32:
        is_turned = b.strides[1] != b.itemsize and repays_turning(len(a), *b.shape)
        return np.ascontiguousarray(b) if is_turned else with_rows(a, b)
    is_small = len(a) >= FEWEST_NARROW and 0 < b.size * fewest_stacked(len(a), b) <= SMALL_PRODUCT
    return np.ascontiguousarray(b) if is_small else with_rows(a, b)


def _multiply_serially(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """out = a @ b on this thread."""
    is_large = len(a) * b.size > SMALL_PRODUCT
    if is_large and IS_AMD and stack_of(a, b, out):
        multiply_stacked(a, b, out)
        return
    way = _way(a, b)
    if is_large and way is np.matmul:
        multiply_stacked(a, b, out)
    else:
        way(a, b, out=out)


def _way(a: np.ndarray, b: np.ndarray) -> Callable[..., object]:
    """The function that multiplies a piece of all rows and some columns, by shapes and layouts and by what BLAS packs."""
    m, has_rows = len(a), b.strides[1] == b.itemsize
    if b.dtype != np.float32 or not SMALL_PRODUCT:
        return np.matmul
    if IS_AMD and not has_rows and repays_narrow_columns(m, *b.shape):
        return multiply_few
    if m * b.size <= SMALL_PRODUCT:
        return np.matmul
    if m in (FEW_ROWS if has_rows else () if IS_AMD else FEW_ROWS_BY_COLUMNS):
        return multiply_few
    if has_rows and m in MORE_ROWS:
        return multiply_few
    if unpacked := way_unpacked(a, b):
        return unpacked
    if has_rows and m in SOME_ROWS and m * len(b) * SOME_COLUMNS <= SMALL_PRODUCT:
        return multiply_few
    return multiply_transposed if has_rows and m in TRANSPOSED_ROWS and b.size >= TRANSPOSED_SIZE else np.matmul


def _width_of(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> int:
    """Columns of one product in a stack of them; 0 where that does not pay. Depends on shapes, layout and BLAS."""
    n = b.shape[1]
    width = min(SMALL_PRODUCT // a.size, n // 2, WIDE_COLUMNS[-1]) // WIDE_COLUMNS[0] * WIDE_COLUMNS[0]
    is_plain = out.dtype == np.float32 and b.strides[1] == b.itemsize and out.strides[1] == out.itemsize
    return width if is_plain and n >= max(FEWEST_WIDE, len(a)) else 0


def multiply_wide(a: np.ndarray, b: np.ndarray, out: np.ndarray, width: int, finish: Epilogue) -> None:
    """out = a @ b, where a is small, in products of `width` columns, which BLAS does not pack: up to six times as fast.

    a: (m, k).  b: (k, n), out: (m, n), both with contiguous rows.
    """
    count = b.shape[1] // width

    def columns(start: int, stop: int) -> None:
        part = slice(start * width, stop * width)
        np.matmul(a, cut_columns(b[:, part], width), out=cut_columns(out[:, part], width))
        finish(out[:, part], part)

    parallel_ranges(count, columns, -(-count // MOST_STACKS))
    rest = slice(count * width, b.shape[1])
    if rest.start < rest.stop:
        np.matmul(a, b[:, rest], out=out[:, rest])
        finish(out[:, rest], rest)


def leave(block: np.ndarray, columns: slice = ALL) -> None:
    """The epilogue of a plain product."""


def _block(extent: int, most: int) -> int:
    """The extent of a piece: of at least two, at most `most`, a whole multiple of the widest micro kernel."""
    return min(most, max(16, -(-extent // 32) * 16))


def _share(extent: int, fixed: int, other: np.ndarray, most: int | None) -> int:
    """The extent of a piece: that of `_block` with `fixed`, but a piece for each thread where the pieces do not change the
    result.

    That is so with OpenBLAS' kernels for AVX-512, which sum in the same order wherever an element of the result is, unless
    a piece is so small that it is not packed.  other: the operand that all pieces share.  most: for each thread; None: no limit.
    """
    is_packed = 0 < SMALL_PRODUCT < other.size * (LEAST_BY_THREADS // 2)
    if is_packed and extent >= LEAST_BY_THREADS and other.dtype == np.float32:
        fair_share = -(-extent // n_threads())
        return _block(extent, max(min(fair_share, most or extent), LEAST_BY_THREADS))
    return _block(extent, fixed)


def _over_panels(columns: Body, n: int, most: int) -> None:
    """columns(start, stop) over n columns in whole panels, of at most about `most`: the last ones are summed in another order."""
    count = max(n // WIDTH, 1)  # what is left belongs to the last panel

    def panels(start: int, stop: int) -> None:
        columns(start * WIDTH, n if stop == count else stop * WIDTH)

    parallel_ranges(count, panels, max(1, min(-(-count // n_threads()), most // WIDTH)))


def matmul_shape(a: Spec, b: Spec, *, transpose_a: bool = False, transpose_b: bool = False) -> Shape:
    if a.shape is None or b.shape is None:
        rows, columns = None, None
    else:
        check_ranks(a.shape, b.shape)
        rows, inner_a = a.shape[::-1] if transpose_a else a.shape
        inner_b, columns = b.shape[::-1] if transpose_b else b.shape
        check_inner(inner_a, inner_b, a.shape, b.shape)
    return (rows, columns)


def check_ranks(a: Sequence[int | None], b: Sequence[int | None]) -> None:
    if len(a) != len(b):
        raise InvalidArgument(f"In[0] and In[1] has different ndims: {shape_text(a)} vs. {shape_text(b)}")
    if len(a) != 2:
        raise InvalidArgument(f"In[0] and In[1] must be matrices, got {shape_text(a)} and {shape_text(b)}")


def check_inner(inner_a: int | None, inner_b: int | None, a: Shape, b: Shape) -> None:
    if inner_a is not None and inner_b is not None and inner_a != inner_b:
        raise InvalidArgument(f"Matrix size-incompatible: In[0]: {shape_text(a or ())}, In[1]: {shape_text(b or ())}")


def matmul_flops(inputs: Sequence[Spec], outputs: Sequence[Spec], attrs: dict[str, Any]) -> float:
    """2 m n k.  Source: TensorFlow python/profiler/internal/flops_registry.py, _calc_mat_mul_flops."""
    is_transposed = attrs.get("transpose_a", False) or attrs.get("adj_x", False)
    inner = inputs[0].known_shape()[-2 if is_transposed else -1]
    return 2.0 * inner * math.prod(outputs[0].known_shape())


def small_product(
    inputs: Sequence[Spec], outputs: Sequence[Spec], attrs: Mapping[str, Any], is_planned: bool
) -> Callable[..., Any] | None:
    """See `base.Small`: matrices of fp32 that one thread multiplies."""
    (a, b), (result,) = inputs[:2], outputs
    if result.dtype != "float32" or a.rank != 2 or b.rank != 2 or 0 in (*a.known_shape(), *b.known_shape()):
        return None
    m, n = result.known_shape()
    k = math.prod(a.known_shape()) // m
    if 2.0 * m * n * k >= SERIAL_FLOPS or (is_tuned() and m * n * k >= product_trials.LEAST):
        return None
    is_turned, is_other_turned = attrs.get("transpose_a", False), attrs.get("transpose_b", False)
    by = _matmul_once if _is_plain(m, k, n, is_other_turned) else _multiply_by_rules

    def run(a: np.ndarray, b: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        made = np.empty((m, n), np.float32) if out is None else out
        return by(a.T if is_turned else a, b.T if is_other_turned else b, made)

    return run


def _matmul_once(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> np.ndarray:
    return np.matmul(as_blas_takes_it(a), as_blas_takes_it(b), out)


def _is_plain(m: int, inner: int, columns: int, is_turned: bool) -> bool:
    """Whether one call of BLAS is the way of a small product, wherever its right operand has contiguous rows, or is turned."""
    if not SMALL_PRODUCT:
        return True
    if m * inner * columns > SMALL_PRODUCT:
        return False
    if not IS_AMD:
        return m < FEWEST_NARROW
    return not is_turned or not (repays_turning(m, inner, columns) or repays_narrow_columns(m, inner, columns))


@kernel("MatMul", unit="cube", shape=matmul_shape, dtypes=PRODUCTS, estimate=matmul_flops, small=small_product)
def matmul(
    a: np.ndarray, b: np.ndarray, /, *, transpose_a: bool = False, transpose_b: bool = False, out: np.ndarray | None = None
) -> np.ndarray:
    """Product of two matrices.

    a: (m, k), or (k, m) with transpose_a.  b: (k, n), or (n, k) with transpose_b.  Returns: (m, n).
    16-bit floats are summed in fp32 and rounded once; k = 0 gives zeros.
    Raises: InvalidArgument for ranks other than 2 or different k.  Source: TensorFlow op `MatMul`.
    """
    return run_matmul(a, b, transpose_a, transpose_b, out)


def run_matmul(
    a: np.ndarray, b: np.ndarray, transpose_a: bool, transpose_b: bool, out: np.ndarray | None, epilogue: Epilogue | None = None
) -> np.ndarray:
    """The product of a node: checks and precision.  Returns: the result in the node's type."""
    check_ranks(a.shape, b.shape)
    left, right = (a.T if transpose_a else a), (b.T if transpose_b else b)
    check_inner(left.shape[1], right.shape[0], a.shape, b.shape)
    result = wide_buffer((left.shape[0], right.shape[1]), a.dtype, out)
    if result.dtype == a.dtype:
        multiply(left, right, result, epilogue)
        return result if out is None or out is result else store(result, a.dtype, out)
    return store(multiply(widen(left), widen(right), result, epilogue), a.dtype, out)
