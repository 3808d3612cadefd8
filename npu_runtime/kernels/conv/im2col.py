"""Convolution as matrix products: the windows of a block of outputs laid out as rows, in scratch that stays in cache."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from npu_runtime.kernels.linalg.epilogue import Epilogue
from npu_runtime.kernels.linalg.gemm_unpacked import SMALL_PRODUCT, cut_rows, way_unpacked
from npu_runtime.kernels.linalg.matmul import multiply
from npu_runtime.kernels.linalg.serial_products import multiply_stacked, multiply_transposed
from npu_runtime.kernels.threads.parallel import fair, is_alone, parallel_ranges, scratch
from npu_runtime.kernels.threads.row_indexing import as_items
from npu_runtime.kernels.windows.windows import Axis

BLOCK_BYTES = 4 << 20
"""Bytes of the laid-out windows of one block: more repays packing the filter and needs fewer calls, less stays in cache."""
LEAST_BLOCKS = 2
"""Blocks that small images are cut into. More would share the work better, but their calls of numpy are so short that threads
wait for Python's lock."""
MIN_POSITIONS = 196
"""The fewest positions of a block."""
FEWEST_SUMMED = 512
"""Positions that one product of a filter's gradient sums over, where there are that many: then adding it up costs little."""
MOST_PARTS = 8
"""The most sums of a filter's gradient that are formed side by side."""
FEWEST_TURNED = 96
"""The fewest positions that a product sums over which BLAS does not pack, as it is written and added to others."""
TURNED_BYTES = 1 << 19
"""Bytes of such products that are added up together."""
AT_ONCE_BYTES = 1 << 19
"""Bytes of laid-out windows up to which a thread by itself lays out those of all blocks in the same calls of numpy."""
SHORT_RUN = 8
"""Elements of a window that lie together, below which windows are laid out tap by tap, as in a picture of one channel."""


@dataclass(frozen=True)
class Block:
    """Outputs of images [first, last), rows [top, bottom), all columns."""

    first: int
    last: int
    top: int
    bottom: int

    def of(self, x: np.ndarray) -> np.ndarray:
        return x[self.first : self.last, self.top : self.bottom]

    def positions(self, rows: Axis, cols: Axis) -> slice:
        """The block's outputs, counted over all images."""
        return slice((self.first * rows.out + self.top) * cols.out, ((self.last - 1) * rows.out + self.bottom) * cols.out)


@lru_cache(maxsize=4096)
def blocks(n_images: int, rows: Axis, cols: Axis, window_bytes: int, block_bytes: int = BLOCK_BYTES) -> tuple[Block, ...]:
    """The outputs in blocks: some rows of one image, or some whole images where these are small. Depends on shapes only."""
    per_image = rows.out * cols.out
    total = n_images * per_image
    positions = max(MIN_POSITIONS, block_bytes // max(window_bytes, 1))
    positions = max(1, min(positions, -(-total // LEAST_BLOCKS) if total > 2 * MIN_POSITIONS else total))
    if positions >= per_image:
        n_blocks = fair(-(-n_images // max(1, round(positions / max(per_image, 1)))), n_images)
        cuts = [n_images * index // n_blocks for index in range(n_blocks + 1)]
        return tuple(Block(a, b, 0, rows.out) for a, b in itertools.pairwise(cuts))
    n_blocks = min(rows.out, -(-per_image // positions))
    n_blocks = fair(n_blocks, rows.out) if n_images % 2 else n_blocks
    cuts = [rows.out * index // n_blocks for index in range(n_blocks + 1)]
    pairs = list(itertools.pairwise(cuts))
    return tuple(Block(image, image + 1, a, b) for image in range(n_images) for a, b in pairs)


def framed(x: np.ndarray, rows: Axis, cols: Axis, block: Block, must_copy: bool = False) -> np.ndarray:
    """The inputs that a block reads, zeros where it reaches over the edge.  x: (N, H, W, C).  Returns: (n, h, w, C).

    A view of x where that will do and need not be a copy; else scratch of this thread, good until the next call.
    """
    top, bottom = rows.reach(block.top, block.bottom)
    left, right = cols.reach(0, cols.out)
    images = slice(block.first, block.last)
    if not must_copy and top >= 0 and left >= 0 and bottom <= rows.extent and right <= cols.extent:
        return x[images, top:bottom, left:right]
    y0, x0 = max(top, 0), max(left, 0)
    y1, x1 = max(min(bottom, rows.extent), y0), max(min(right, cols.extent), x0)
    frame = scratch("frame", (block.last - block.first, bottom - top, right - left, x.shape[3]), x.dtype)
    _margins.clear(frame, (y0 - top, y1 - top, x0 - left, x1 - left))
    if y1 > y0 and x1 > x0:
        frame[:, y0 - top : y1 - top, x0 - left : x1 - left] = x[images, y0:y1, x0:x1]
    return frame


class _Margins(threading.local):
    """Margins of this thread's last frame: they stay zero, as nobody writes to a frame, until one of another shape or place is
    asked for.

    Four short calls of numpy less for most frames, each of which would give up Python's lock.
    """

    frame: np.ndarray | None = None
    inside: tuple[int, int, int, int] = (0, 0, 0, 0)

    def clear(self, frame: np.ndarray, inside: tuple[int, int, int, int]) -> None:
        """Zeros around what is inside: rows and columns, from and to."""
        if self.frame is frame and self.inside == inside:
            return
        top, bottom, left, right = inside
        frame[:, :top] = 0
        frame[:, bottom:] = 0
        frame[:, :, :left] = 0
        frame[:, :, right:] = 0
        self.frame, self.inside = frame, inside


_margins = _Margins()


def window_view(frame: np.ndarray, rows: Axis, cols: Axis, n_rows: int) -> np.ndarray:
    """Every window of a framed block, without copying.  Returns: (n, n_rows, columns, kernel rows, kernel columns, C)."""
    image, row, col, channel = frame.strides
    shape = len(frame), n_rows, cols.out, rows.kernel, cols.kernel, frame.shape[3]
    strides = image, row * rows.stride, col * cols.stride, row * rows.dilation, col * cols.dilation, channel
    if frame.flags.c_contiguous:
        return np.ndarray(shape, frame.dtype, frame, 0, strides)  # in a tenth of the time
    return np.lib.stride_tricks.as_strided(frame, shape, strides, writeable=False)


def lay_out(x: np.ndarray, rows: Axis, cols: Axis, block: Block) -> np.ndarray:
    """The windows of a block as a matrix.  x: (N, H, W, C).  Returns: (positions, taps * C), x's or in scratch."""
    frame = framed(x, rows, cols, block)
    if rows.kernel * cols.kernel * rows.stride * cols.stride == 1 and frame.flags.c_contiguous:
        return frame.reshape(-1, frame.shape[3])
    n_rows, depth = block.bottom - block.top, frame.shape[3]
    n_positions, n_taps = len(frame) * n_rows * cols.out, rows.kernel * cols.kernel
    run = depth * (cols.kernel if cols.dilation == 1 else 1)
    if run < min(SHORT_RUN, cols.out):
        by_tap = window_view(frame, rows, cols, n_rows).transpose(3, 4, 5, 0, 1, 2)
        lines = scratch("windows", by_tap.shape, x.dtype)
        np.copyto(lines, by_tap)
        return lines.reshape(n_taps * depth, n_positions).T
    if not frame.flags.c_contiguous:
        windows = window_view(frame, rows, cols, n_rows)
        matrix = scratch("windows", windows.shape, x.dtype)
        np.copyto(matrix, windows)
        return matrix.reshape(n_positions, n_taps * depth)
    runs = _runs(frame, rows, cols, n_rows, run)
    matrix = scratch("windows", (*runs.shape, run), x.dtype)
    np.copyto(as_items(matrix), runs)
    return matrix.reshape(n_positions, n_taps * depth)


def windows_of(x: np.ndarray, rows: Axis, cols: Axis, window_bytes: int) -> Callable[[Block], np.ndarray]:
    """A function that gives the windows of a block, as `lay_out` does.

    A thread that is alone lays out those of all blocks now, where they are few; they are in its scratch.
    """
    if not is_alone() or len(x) * rows.out * cols.out * window_bytes > AT_ONCE_BYTES:
        return lambda block: lay_out(x, rows, cols, block)
    windows = lay_out(x, rows, cols, Block(0, len(x), 0, rows.out))
    return lambda block: windows[block.positions(rows, cols)]


def _runs(frame: np.ndarray, rows: Axis, cols: Axis, n_rows: int, run: int) -> np.ndarray:
    """The windows of `window_view`, each run of elements that lie together as one item, which numpy moves in half the time.

    frame: contiguous.  Returns: (n, n_rows, columns, kernel rows, runs in a row of the kernel).
    """
    image, row, col, channel = frame.strides
    taps = cols.kernel * frame.shape[3] // run
    shape = len(frame), n_rows, cols.out, rows.kernel, taps
    steps = image, row * rows.stride, col * cols.stride, row * rows.dilation, col * cols.dilation
    return np.ndarray(shape, f"V{run * channel}", frame, 0, steps)


def cost_ns(x: np.ndarray, w: np.ndarray, rows: Axis, cols: Axis) -> float:
    """Time on one thread, about: 0.25 ns to copy each input that an output reads, then multiplied at 180 flops a ns."""
    depth, filters = w.shape[2:]
    return len(x) * rows.out * cols.out * rows.kernel * cols.kernel * depth * (0.25 + 2 * filters / 180)


def each_block(todo: Sequence[Block]) -> Callable[[Callable[[Block], None]], None]:
    """A decorator that runs a body on every block over the worker threads."""

    def run(body: Callable[[Block], None]) -> None:
        def work(start: int, stop: int) -> None:
            for block in todo[start:stop]:
                body(block)

        parallel_ranges(len(todo), work)

    return run


def convolve(x: np.ndarray, w: np.ndarray, rows: Axis, cols: Axis, out: np.ndarray, epilogue: Epilogue | None = None) -> None:
    """out = x * w.  x: (N, H, W, C).  w: (kernel rows, kernel columns, C, K).  out: (N, rows, columns, K), any strides."""
    matrix = w.reshape(-1, w.shape[3])
    window_bytes = matrix.shape[0] * x.itemsize
    laid_out = windows_of(x, rows, cols, window_bytes)

    @each_block(blocks(len(x), rows, cols, window_bytes))
    def run(block: Block) -> None:
        windows = laid_out(block)
        target = block.of(out)
        direct = target.flags.c_contiguous
        result = target.reshape(-1, w.shape[3]) if direct else scratch("result", (len(windows), w.shape[3]), x.dtype)
        multiply_stacked(windows, matrix, result)
        if epilogue is not None:
            epilogue(result)
        if not direct:
            target[...] = result.reshape(target.shape)


def filter_gradient(x: np.ndarray, dy: np.ndarray, rows: Axis, cols: Axis, out: np.ndarray) -> None:
    """out = sum over positions of window times gradient.

    x: (N, H, W, C).  dy: (N, rows, columns, K) contiguous.  out: (kernel rows, kernel columns, C, K).
    """
    matrix = out.reshape(-1, out.shape[3])
    n_positions = len(x) * rows.out * cols.out
    window_bytes = matrix.shape[0] * x.itemsize
    n_parts = min(MOST_PARTS, n_positions // FEWEST_SUMMED)
    if n_parts < 2:
        multiply(_all_windows(x, rows, cols).T, dy.reshape(n_positions, -1), matrix)
        return
    todo = blocks(len(x), rows, cols, window_bytes, max(BLOCK_BYTES, FEWEST_SUMMED * window_bytes))
    laid_out = windows_of(x, rows, cols, window_bytes)

    def add(target: np.ndarray, block: Block, is_first: bool) -> None:
        product = target if is_first else scratch("product", matrix.shape, out.dtype)
        windows = laid_out(block)
        multiply_turned(windows, block.of(dy).reshape(len(windows), -1), product)
        if not is_first:
            np.add(target, product, out=target)

    np.copyto(matrix, sum_by_parts(todo, np.empty((min(n_parts, len(todo)), *matrix.shape), out.dtype), add))


def sum_by_parts(todo: Sequence[Block], sums: np.ndarray, add: Callable[[np.ndarray, Block, bool], None]) -> np.ndarray:
    """Every part of the blocks added up by one thread, so that the same is added whatever the number of threads.

    sums: one for each part, at most as many as blocks.  add(sum, block, whether it is the first).  Returns: their sum, the first.
    """
    n_parts = len(sums)

    def work(start: int, stop: int) -> None:
        for index in range(start, stop):
            for number, block in enumerate(todo[len(todo) * index // n_parts : len(todo) * (index + 1) // n_parts]):
                add(sums[index], block, number == 0)

    parallel_ranges(n_parts, work)
    return add_parts(sums)


def add_parts(parts: np.ndarray) -> np.ndarray:
    """parts[0] += parts[1] + ..., in half the time of numpy's sum over the first axis, in the same order.  Returns: parts[0]."""
    total: np.ndarray = parts[0]
    for part in parts[1:]:
        np.add(total, part, out=total)
    return total


def multiply_turned(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """out = a' @ b on this thread, many rows summed up: where the result is small, in products that BLAS does not pack.

    a: (n, m), one of its axes contiguous.  b: (n, k) with contiguous rows.  out: (m, k), as b.
    """
    if unpacked := way_unpacked(a.T, b):
        unpacked(a.T, b, out)
        return
    size = SMALL_PRODUCT // out.size
    if size < FEWEST_TURNED or len(a) <= size:
        by = multiply_transposed if SMALL_PRODUCT and out.shape[0] < out.shape[1] else np.matmul
        by(a.T, b, out=out)
        return
    size -= size % 16
    at_once = max(1, TURNED_BYTES // out.nbytes)
    whole = len(a) // size * size
    left, right = cut_rows(a[:whole], size).swapaxes(1, 2), cut_rows(b[:whole], size)
    for first in range(0, len(left), at_once):
        part = slice(first, first + at_once)
        products = scratch("turned products", (len(left[part]), *out.shape))
        np.matmul(left[part], right[part], out=products)
        if first:
            np.add(out, products.sum(axis=0), out=out)
        else:
            np.sum(products, axis=0, out=out)
    if whole < len(a):
        np.add(out, np.matmul(a[whole:].T, b[whole:]), out=out)


def _all_windows(x: np.ndarray, rows: Axis, cols: Axis) -> np.ndarray:
    """The windows of all outputs.  Returns: (positions, taps * C) in scratch."""
    depth = rows.kernel * cols.kernel * x.shape[3]
    matrix = scratch("all windows", (len(x), rows.out, cols.out, depth), x.dtype)

    @each_block(blocks(len(x), rows, cols, depth * x.itemsize))
    def run(block: Block) -> None:
        target = block.of(matrix)
        np.copyto(target, lay_out(x, rows, cols, block).reshape(target.shape))

    return matrix.reshape(-1, depth)
