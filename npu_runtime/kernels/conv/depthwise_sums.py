"""Depthwise convolution's sums over the taps that lie inside the image: outputs that see the same taps are one call of numpy.

Nothing is padded, so nothing is copied but what lies in other pixels of the result. Most outputs see all taps; they are cut
into blocks, the edges of all images are a call each.

numpy's einsum multiplies and adds in one pass where the axis next to the innermost one, in memory, is one that is summed
over; where it is not, it copies its operands into buffers, which takes three times as long. Hence the shapes of the views.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from npu_runtime.kernels.native import depthwise_loops
from npu_runtime.kernels.native.compiled import EINSUM_ROUNDS_PRODUCTS, Loop
from npu_runtime.kernels.threads.parallel import fair, parallel_ranges, scratch
from npu_runtime.kernels.threads.per_channel import pixels_a_line
from npu_runtime.kernels.threads.row_indexing import as_items
from npu_runtime.kernels.windows.windows import Axis, Span, phases, spans

BLOCK_BYTES = 4 << 20
"""Bytes that one call reads or writes: Python between smaller ones takes longer than the L2 cache saves."""
SUMMED_BYTES = 2 << 20
"""Bytes of the same where products are summed in fp32, which bounds the rounding error, and each column tap is a call."""
LINE_ELEMENTS = 1152
"""Elements of pixels that are worked on as one, for a long inner loop: what a call reads and writes stays in the nearest
cache."""
SHORTEST_LINE = 512
"""Elements of the shortest line. Where no divisor of the columns gives as long a line, a whole row is one."""
LONG_CHANNELS = 128
"""Channels from which on the sums of all taps of a pixel are one call."""
LOOP_ELEMENTS = 512
"""Elements that a compiled loop works on as one: a result and the filter's taps for it stay in the nearest cache."""
SERIAL_TAPS = 1 << 17
"""Taps that one thread multiplies and adds in the time that waking another takes."""


class Piece(NamedTuple):
    """Outputs of some images, rows and columns that see the same taps."""

    first: int
    last: int
    top: int
    bottom: int
    rows: Span
    cols: Span

    @property
    def seen(self) -> tuple[int, int]:
        """Rows and columns of taps."""
        return self.rows.high - self.rows.low, self.cols.high - self.cols.low

    @property
    def work(self) -> int:
        """Taps of all outputs of a channel."""
        n_outputs = (self.last - self.first) * (self.bottom - self.top) * (self.cols.last - self.cols.first)
        return n_outputs * math.prod(self.seen)

    def of(self, outputs: np.ndarray) -> np.ndarray:
        return outputs[self.first : self.last, self.top : self.bottom, self.cols.first : self.cols.last]

    def taps(self, w: np.ndarray) -> np.ndarray:
        return w[self.rows.low : self.rows.high, self.cols.low : self.cols.high]


@lru_cache(maxsize=4096)
def pieces(n_images: int, rows: Axis, cols: Axis, pixel_bytes: int, block_bytes: int) -> tuple[Piece, ...]:
    """All outputs, what takes longest first; depends on shapes only.  pixel_bytes: that one output reads or writes."""
    found = []
    for row, col in itertools.product(spans(rows), spans(cols)):
        height = row.last - row.first
        n_blocks = -(-n_images * height * (col.last - col.first) * pixel_bytes // block_bytes)
        for first, last in _cuts(n_images, n_blocks):
            for top, bottom in _cuts(height, -(-n_blocks // n_images)):
                found.append(Piece(first, last, row.first + top, row.first + bottom, row, col))
    return tuple(sorted(found, key=lambda piece: piece.work, reverse=True))


def _cuts(extent: int, count: int) -> list[tuple[int, int]]:
    """[0, extent) in `count` parts, an even number of them or one."""
    count = fair(max(1, min(count, extent)), extent)
    return list(itertools.pairwise(extent * index // count for index in range(count + 1)))


def _grain(todo: Sequence[Piece], depth: int) -> int:
    """Pieces for one thread at a time."""
    return len(todo) if depth * sum(piece.work for piece in todo) < SERIAL_TAPS else 1


def _seen(x: np.ndarray, rows: Axis, cols: Axis, piece: Piece, depth: int, pixels: int) -> np.ndarray:
    """The inputs of the taps of a piece, `pixels` outputs as one.  x: (N, H, W, C), each channel used depth / C times.

    Returns: (n, rows, columns / pixels, row taps, column taps, pixels * depth), a view of x if depth is C. The step within a
    pixel is an item's: numpy lets the stride of an axis of one element, as of one channel turned to the end, be anything.
    """
    n_rows, n_cols = piece.bottom - piece.top, piece.cols.last - piece.cols.first
    row_taps, col_taps = piece.seen
    top, left = _first_input(rows, cols, piece)
    part = x[piece.first : piece.last, top:, left:]
    if depth != x.shape[3]:
        height = (n_rows - 1) * rows.stride + (row_taps - 1) * rows.dilation + 1
        part = np.repeat(part[:, :height], depth // x.shape[3], axis=-1)
    image, row, col, _ = part.strides
    return np.lib.stride_tricks.as_strided(
        part,
        (len(part), n_rows, n_cols // pixels, row_taps, col_taps, pixels * depth),
        (image, row * rows.stride, col * cols.stride * pixels, row * rows.dilation, col * cols.dilation, x.itemsize),
        writeable=False,
    )


def _as_one(cols: Axis, span: Span, depth: int) -> int:
    """The number of neighbouring outputs to work on as one; 1 with a stride, as their inputs do not lie together then."""
    width = span.last - span.first
    if cols.stride > 1:
        return 1
    pixels = pixels_a_line(width, depth, LINE_ELEMENTS)
    return pixels if pixels * depth >= SHORTEST_LINE and span.high - span.low > 1 else width


def _grouped(x: np.ndarray, pixels: int) -> np.ndarray:
    """(n, rows, columns, C) as (n, rows, columns / pixels, pixels * C), not copied; pixels side by side unless one by one."""
    image, row, col, _ = x.strides
    shape = (*x.shape[:2], x.shape[2] // pixels, pixels * x.shape[3])
    return np.lib.stride_tricks.as_strided(x, shape, (image, row, col * pixels, x.itemsize))


def convolve(x: np.ndarray, w: np.ndarray, rows: Axis, cols: Axis, out: np.ndarray) -> None:
    """out = x * w by channel.

    x: (N, H, W, C), contiguous, with C * M = K: each channel is used M times.  w: (kernel rows, kernel columns, K).
    out: (N, rows, columns, K), contiguous.
    """
    if not out.size or not w.size:
        out.fill(0)
        return
    depth = w.shape[2]
    todo = pieces(len(x), rows, cols, rows.stride * cols.stride * depth * x.itemsize, BLOCK_BYTES)

    def work(start: int, stop: int) -> None:
        for piece in todo[start:stop]:
            if not _sum_by_loop(x, w, rows, cols, piece, out, (piece.first, piece.top, piece.cols.first)):
                _sum_taps(x, w, rows, cols, piece, piece.of(out))

    parallel_ranges(len(todo), work, _grain(todo, depth))


def _sum_by_loop(
    x: np.ndarray, w: np.ndarray, rows: Axis, cols: Axis, piece: Piece, out: np.ndarray, at: tuple[int, int, int]
) -> bool:  # fmt: skip
    """`_sum_taps` by a compiled loop, with the same bits; False where there is none, or numpy has a shorter way.

    out: (n, rows, columns, K) contiguous.  at: image, row and column of the piece in it.
    """
    depth, taps = w.shape[2], piece.taps(w)
    if taps.size <= depth or not depth == x.shape[3] == out.shape[3] or not _may_loop(depthwise_loops.tap_sums, x, w):
        return False
    width = piece.cols.last - piece.cols.first
    pixels = pixels_a_line(width, depth, LOOP_ELEMENTS) if cols.stride == 1 else 1
    top, left = _first_input(rows, cols, piece)
    images = (piece.last - piece.first, piece.bottom - piece.top, width // pixels, piece.first, left * depth)
    steps = (top, rows.stride, cols.stride * pixels * depth, rows.dilation, cols.dilation * depth, pixels * depth)
    repeated = np.tile(taps, (1, 1, pixels)) if pixels > 1 else np.ascontiguousarray(taps)
    return depthwise_loops.tap_sums(as_rows(x), repeated, as_rows(out), images, (at[0], at[1], at[2] * depth), steps)


def _may_loop(loop: Loop, *arrays: np.ndarray) -> bool:
    return EINSUM_ROUNDS_PRODUCTS and loop.is_ready and all(array.dtype == np.float32 for array in arrays)


def as_rows(images: np.ndarray) -> np.ndarray:
    """(N, H, W, C) as (N, H, W * C)."""
    return images.reshape(*images.shape[:2], -1)


def _first_input(rows: Axis, cols: Axis, piece: Piece) -> tuple[int, int]:
    """Row and column of the first input that a piece sees."""
    top = piece.top * rows.stride - rows.before + piece.rows.low * rows.dilation
    return top, piece.cols.first * cols.stride - cols.before + piece.cols.low * cols.dilation


def _sum_taps(x: np.ndarray, w: np.ndarray, rows: Axis, cols: Axis, piece: Piece, out: np.ndarray) -> None:
    """out = what the taps of a piece see times w.  out: (n, rows, columns, K), pixels side by side if `cols` has no stride."""
    taps, depth = piece.taps(w), w.shape[2]
    if taps.size == 0:
        out.fill(0)
    elif taps.size == depth:
        np.multiply(_seen(x, rows, cols, piece, depth, 1)[:, :, :, 0, 0], taps[0, 0], out=out)
    else:
        pixels = _as_one(cols, piece.cols, depth)
        seen = _seen(x, rows, cols, piece, depth, pixels)
        np.einsum("nrcijk,ijk->nrck", seen, np.tile(taps, (1, 1, pixels)), out=_grouped(out, pixels))


def input_gradient(dy: np.ndarray, w: np.ndarray, rows: Axis, cols: Axis, dx: np.ndarray) -> None:
    """dx = dy spread back through w.

    dy: (N, rows, columns, K), contiguous.  w: (kernel rows, kernel columns, K).  dx: (N, H, W, C): sums of K / C neighbours;
    contiguous.
    """
    if not dx.size or not w.size or not dy.size:
        dx.fill(0)
        return
    depth, todo = w.shape[2], []
    for row, col in itertools.product(phases(rows), phases(cols)):
        target = dx[:, row.start :: rows.stride, col.start :: cols.stride]
        by_phase = pieces(len(dy), row.axis, col.axis, depth * dy.itemsize, BLOCK_BYTES)
        todo += [(piece, row, col, target) for piece in by_phase]
    todo.sort(key=lambda one: one[0].work, reverse=True)

    def work(start: int, stop: int) -> None:
        for piece, row, col, target in todo[start:stop]:
            _sum_taps_into(target, dy, w[row.taps, col.taps], row.axis, col.axis, piece)

    parallel_ranges(len(todo), work, _grain([piece for piece, *_ in todo], depth))


def _sum_taps_into(whole: np.ndarray, dy: np.ndarray, w: np.ndarray, rows: Axis, cols: Axis, piece: Piece) -> None:
    """As `_sum_taps`, with sums of neighbouring channels where `whole`, the image of all pieces, has fewer; pixels anywhere."""
    at, target = (piece.first, piece.top, piece.cols.first), piece.of(whole)
    if whole.flags.c_contiguous and _sum_by_loop(dy, w, rows, cols, piece, whole, at):
        return
    groups = w.shape[2] // target.shape[3]
    is_dense = target.strides[2] == target.shape[3] * target.itemsize
    if groups == 1 and (is_dense or piece.seen == (1, 1)):
        _sum_taps(dy, w, rows, cols, piece, target)
        return
    result = scratch("depthwise", (*target.shape[:3], w.shape[2]), target.dtype)
    if not _sum_by_loop(dy, w, rows, cols, piece, result, (0, 0, 0)):
        _sum_taps(dy, w, rows, cols, piece, result)
    if groups > 1:
        np.sum(result.reshape(*target.shape, groups), axis=-1, out=target)
    else:
        as_items(target)[...] = as_items(result)


def filter_gradient(x: np.ndarray, dy: np.ndarray, rows: Axis, cols: Axis) -> np.ndarray:
    """Sum over positions of input times gradient by channel.  x: (N, H, W, C), dy: (N, rows, columns, K), both contiguous.

    Returns: (kernel rows, kernel columns, K) float64; pieces are summed in fp32, all of them in float64, in one order.
    """
    depth = dy.shape[3]
    sums = np.zeros((rows.kernel, cols.kernel, depth))
    if not dy.size or not x.size:
        return sums
    found = pieces(len(x), rows, cols, rows.stride * cols.stride * depth * x.itemsize, SUMMED_BYTES)
    todo = [piece for piece in found if piece.work]
    parts: list[np.ndarray | None] = [None] * len(todo)

    def work(start: int, stop: int) -> None:
        for index in range(start, stop):
            piece = todo[index]
            parts[index] = _products_by_loop(x, dy, rows, cols, piece)
            if parts[index] is None:
                parts[index] = _products(x, piece.of(dy), rows, cols, piece)

    parallel_ranges(len(todo), work, _grain(todo, depth))
    for piece, part in zip(todo, parts, strict=True):
        piece.taps(sums)[...] += part
    return sums


def _products_by_loop(x: np.ndarray, dy: np.ndarray, rows: Axis, cols: Axis, piece: Piece) -> np.ndarray | None:
    """`_products` by a compiled loop, with the same bits; None where there is none.  dy: all of it."""
    depth, (n_rows, n_cols) = dy.shape[3], piece.seen
    if depth != x.shape[3] or not _may_loop(depthwise_loops.tap_products, x, dy):
        return None
    width = piece.cols.last - piece.cols.first
    by_pixel = cols.stride > 1 or n_cols == 1 or depth >= LONG_CHANNELS
    pixels = 1 if by_pixel else pixels_a_line(width, depth, LINE_ELEMENTS)
    totals = np.zeros((n_rows, n_cols, pixels * depth), np.float32)
    top, left = _first_input(rows, cols, piece)
    images = (piece.last - piece.first, piece.bottom - piece.top, width // pixels, piece.first, left * depth)
    steps = (top, rows.stride, cols.stride * pixels * depth, rows.dilation, cols.dilation * depth)
    at = (piece.top, piece.cols.first * depth)
    if not depthwise_loops.tap_products(as_rows(x), as_rows(dy), totals, images, at, steps):
        return None
    return totals if pixels == 1 else totals.reshape(n_rows, n_cols, pixels, depth).sum(axis=2)


def _products(x: np.ndarray, dy: np.ndarray, rows: Axis, cols: Axis, piece: Piece) -> np.ndarray:
    """Sum over the outputs of a piece of what each tap sees times gradient.  Returns: (row taps, column taps, K)."""
    depth = dy.shape[3]
    n_rows, n_cols = piece.seen
    if n_cols == 1 or (cols.stride == 1 and depth >= LONG_CHANNELS):
        return np.einsum("nrcijk,nrck->ijk", _seen(x, rows, cols, piece, depth, 1), dy)
    pixels = pixels_a_line(dy.shape[2], depth, LINE_ELEMENTS) if cols.stride == 1 else 1
    seen, gradients = _seen(x, rows, cols, piece, depth, pixels), _grouped(dy, pixels)
    sums = np.empty((n_cols, n_rows, pixels, depth), dy.dtype)
    for index, total in enumerate(sums):
        np.einsum("nrcik,nrck->ik", seen[:, :, :, :, index], gradients, out=total.reshape(n_rows, -1))
    return sums.sum(axis=2).swapaxes(0, 1)
