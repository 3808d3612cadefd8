"""Convolution without stride over the taps that lie inside the image: nothing is multiplied by the zeros of the padding.

In small images much of a window is padding: a third of all taps of a 5x5 filter over 7x7 pixels. Outputs of columns that see
the same taps are computed together. What their taps see in each line of the image is laid out once, lines outermost, so that
the lines under one row of the filter, without those that would be padding, are one matrix; the products of the filter's rows
are added up.
"""

from __future__ import annotations

import itertools
import math
from functools import lru_cache

import numpy as np

from npu_runtime.kernels.conv.im2col import add_parts
from npu_runtime.kernels.linalg.epilogue import Epilogue
from npu_runtime.kernels.linalg.gemm_unpacked import SMALL_PRODUCT
from npu_runtime.kernels.linalg.serial_products import multiply_stacked
from npu_runtime.kernels.threads.parallel import fair, parallel_ranges, scratch
from npu_runtime.kernels.windows.windows import Axis, Span, spans

MOST_INSIDE = 0.9
"""The largest share of the taps that may lie inside the image: with more there is too little to be saved."""
CHUNK_POSITIONS = 768
"""Outputs of a chunk of images, which repay packing the filter."""
MOST_CHUNKS = 8
"""Pieces that the images of a batch are cut into, at most."""
FEWEST_POSITIONS = 32
"""Pixels that one small product sums over, at least."""
LARGE_FILTER = 1 << 17
"""Elements of a filter from which on both threads make copies of it."""
START_NS = 6000
"""Nanoseconds that the calls of numpy for one row of the filter over one chunk take beside their work."""


def share_inside(axis: Axis) -> float:
    """The share of the taps of all outputs of an axis that lie inside the image."""
    return sum((span.last - span.first) * (span.high - span.low) for span in spans(axis)) / (axis.out * axis.kernel)


def cost_ns(x: np.ndarray, w: np.ndarray, rows: Axis, cols: Axis) -> float:
    """Time on one thread: 0.25 ns to lay out an element, 0.5 ns one of the filters, 190 flops a ns, 0.15 ns to add a product.
    Infinite where little is saved. Depends on shapes only.

    Infinite where little is saved. Depends on shapes only.
    """
    if x.dtype != np.float32 or any(axis.stride != 1 or axis.dilation != 1 or not axis.out for axis in (rows, cols)):
        return math.inf
    inside = share_inside(rows) * share_inside(cols)
    if not 0 < inside <= MOST_INSIDE or any(span.low == span.high for span in spans(cols)):
        return math.inf
    depth, filters = w.shape[2:]
    line = len(x) * cols.out
    flops = 2 * inside * line * rows.out * rows.kernel * cols.kernel * depth * filters
    moved = 0.25 * line * rows.extent * cols.kernel * depth + 0.15 * line * rows.out * filters * rows.kernel
    filters_moved = 0.5 * sum(span.high - span.low for span in spans(cols)) * w.size / cols.kernel
    return moved + filters_moved + flops / 190 + START_NS * len(_chunks(len(x), rows, cols)) * rows.kernel


def _cuts(n_images: int, positions: int) -> list[tuple[int, int]]:
    """(first image, last image) of chunks that have about CHUNK_POSITIONS of so many outputs, an even number of them or one."""
    count = min(fair(max(1, round(positions / CHUNK_POSITIONS)), n_images), MOST_CHUNKS)
    return list(itertools.pairwise(n_images * index // count for index in range(count + 1)))


@lru_cache(maxsize=4096)
def _chunks(n_images: int, rows: Axis, cols: Axis) -> tuple[tuple[int, int, Span], ...]:
    """(first image, last image, columns), those that take longest first."""
    work = {}
    for span in spans(cols):
        width = span.last - span.first
        for first, last in _cuts(n_images, n_images * rows.out * width):
            work[first, last, span] = (last - first) * width * (span.high - span.low)
    return tuple(sorted(work, key=work.__getitem__, reverse=True))


def _laid_out(x: np.ndarray, cols: Axis, span: Span) -> np.ndarray:
    """The inputs of the taps of some columns in each line.  x: (n, H, W, C).  Returns: (H, n * columns, taps * C) in scratch."""
    start = span.first - cols.before + span.low
    if x.strides[2:] != (x.shape[3] * x.itemsize, x.itemsize):
        x = np.ascontiguousarray(x)
    image, line, pixel, item = x.strides
    shape = (x.shape[1], len(x), span.last - span.first, (span.high - span.low) * x.shape[3])
    seen = np.lib.stride_tricks.as_strided(x[:, :, start:], shape, (line, image, pixel, item), writeable=False)
    made = scratch("unpadded lines", shape)
    np.copyto(made, seen)
    return made.reshape(shape[0], -1, shape[3])


def _matrices(w: np.ndarray, cols: Axis) -> dict[Span, np.ndarray]:
    """`_by_row` for the columns that see the same taps."""
    todo = spans(cols)
    made: dict[Span, np.ndarray] = {}

    def work(start: int, stop: int) -> None:
        made.update((span, _by_row(w, span)) for span in todo[start:stop])

    parallel_ranges(len(todo), work, 1 if w.size >= LARGE_FILTER else len(todo))
    return made


def _by_row(w: np.ndarray, span: Span) -> np.ndarray:
    """The matrix of each row of the filter.  w: perhaps a view with C and K exchanged.  Returns: (rows, taps * C, K)."""
    taps = w[:, span.low : span.high]
    if w.strides[2] >= w.strides[3]:
        return np.ascontiguousarray(taps).reshape(len(w), -1, w.shape[3])
    turned = np.ascontiguousarray(taps.transpose(0, 3, 1, 2))  # runs of C stay together
    return turned.reshape(len(w), w.shape[3], -1).swapaxes(1, 2)


def _rows_inside(rows: Axis) -> list[tuple[int, slice, slice]]:
    """(row of the filter, outputs, lines of the image) wherever it lies inside, the row that most outputs see first."""
    found = [(index, *rows.tap(index, 0, rows.out)) for index in range(rows.kernel)]
    inside = [tap for tap in found if tap[1].stop > tap[1].start]
    return sorted(inside, key=lambda tap: tap[1].start - tap[1].stop)


def convolve(x: np.ndarray, w: np.ndarray, rows: Axis, cols: Axis, out: np.ndarray, epilogue: Epilogue | None = None) -> None:
    """out = x * w, as `im2col.convolve` where `is_worth_it`."""
    matrices = _matrices(w, cols)
    todo, filters = _chunks(len(x), rows, cols), w.shape[3]

    def work(start: int, stop: int) -> None:
        for first, last, span in todo[start:stop]:
            sums = _sums(x[first:last], matrices[span], rows, cols, span)
            if epilogue is not None:
                epilogue(sums.reshape(-1, filters))
            made = sums.reshape(rows.out, last - first, span.last - span.first, filters)
            np.copyto(out[first:last, :, span.first : span.last], made.swapaxes(0, 1))

    parallel_ranges(len(todo), work)


def _sums(x: np.ndarray, by_row: np.ndarray, rows: Axis, cols: Axis, span: Span) -> np.ndarray:
    """The outputs of some columns.  Returns: (rows, n * columns, K) in scratch."""
    lines = _laid_out(x, cols, span)
    sums, product = (scratch(f"unpadded {name}", (rows.out, lines.shape[1], by_row.shape[2])) for name in ("sums", "product"))
    for number, (row, outputs, inputs) in enumerate(_rows_inside(rows)):
        target = product[outputs] if number else sums[outputs]
        multiply_stacked(lines[inputs].reshape(-1, lines.shape[2]), by_row[row], target.reshape(-1, by_row.shape[2]))
        if number:
            np.add(sums[outputs], target, out=sums[outputs])
        else:
            sums[: outputs.start] = 0
            sums[outputs.stop :] = 0
    return sums


def filter_gradient(x: np.ndarray, dy: np.ndarray, rows: Axis, cols: Axis, out: np.ndarray) -> None:
    """out = sum over positions of window times gradient, as `im2col.filter_gradient` where `is_worth_it`."""
    todo = _chunks(len(x), rows, cols)
    n_parts = len(_cuts(len(x), len(x) * rows.out * cols.out // 2))
    sums = np.zeros((n_parts, *out.shape), np.float32)

    def work(start: int, stop: int) -> None:
        for index in range(start, stop):
            for first, last, span in todo[index::n_parts]:
                _add_products(sums[index], x[first:last], dy[first:last], rows, cols, span)

    parallel_ranges(n_parts, work)
    np.copyto(out, add_parts(sums))


def _add_products(sums: np.ndarray, x: np.ndarray, dy: np.ndarray, rows: Axis, cols: Axis, span: Span) -> None:
    """Add what the outputs of some columns give to the taps that they see.  sums: (kernel rows, kernel columns, C, K)."""
    lines = _laid_out(x, cols, span)
    columns = dy[:, :, span.first : span.last].swapaxes(0, 1)
    gradient = scratch("unpadded gradient", columns.shape)
    np.copyto(gradient, columns)
    depth, filters = lines.shape[2], dy.shape[3]
    size = _small(lines.shape[1], SMALL_PRODUCT // (depth * filters))
    for row, outputs, inputs in _rows_inside(rows):
        under, by = lines[inputs].reshape(-1, depth), gradient[outputs].reshape(-1, filters)
        stack = len(under) // (size or len(under))
        products = scratch("unpadded products", (stack, depth, filters))
        np.matmul(under.reshape(stack, -1, depth).swapaxes(1, 2), by.reshape(stack, -1, filters), out=products)
        target = sums[row, span.low : span.high]
        total = products[0] if stack == 1 else products.sum(axis=0)
        np.add(target, total.reshape(target.shape), out=target)


def _small(positions: int, limit: int) -> int:
    """Positions of the largest equal parts within a limit, whose products BLAS does not pack; 0 where they are too few."""
    sizes = range(min(positions, limit), FEWEST_POSITIONS - 1, -1)
    return next((size for size in sizes if positions % size == 0), 0)
