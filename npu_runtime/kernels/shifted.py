"""Convolution without stride as products of the image itself, for few channels: no windows are laid out.

The pixels of a line lie side by side, so the taps of a window in one line are one run of memory. Every k-th window of k
columns is then a row of a matrix that is the image seen with another width; k such matrices, each begun a pixel later, hold
all windows of a line. Lines follow each other with zeros between them that pad the end of one and the start of the next,
so that one product goes over a whole image; what it computes at the zeros is left out. The kernel's lines are added up.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from npu_runtime.kernels.im2col import Block, blocks, each_block
from npu_runtime.kernels.matmul import Epilogue
from npu_runtime.kernels.parallel import scratch
from npu_runtime.kernels.windows import Axis

MOST_LEFT_OUT = 1.3
"""Outputs computed for each that is wanted: with more, laying out windows is cheaper."""
FEWEST_ROWS = 48
"""Of a matrix that repay packing the filter."""
RUNS = range(32, 321)
"""Elements of a window in one line: fewer make thin products, more repay laying out windows and multiplying once."""
MOST_FILTERS = 48
"""With more, adding up the products of the kernel's lines costs more than windows do."""
RESULT_BYTES = 2 << 20
"""Of the sums of one block, which stay in cache with the products that are added to them."""


@dataclass(frozen=True)
class Line:
    """One line of a padded image: `used` input columns behind the zeros of the line before, then `zeros`."""

    left: int
    used: int
    zeros: int

    @property
    def width(self) -> int:
        return self.used + self.zeros


def line_of(cols: Axis) -> Line:
    used = min(cols.extent, cols.out - 1 - cols.before + cols.kernel)
    right = cols.out - 1 - cols.before + cols.kernel - used
    return Line(cols.before, used, max(cols.before, right))


def is_possible(x: np.ndarray, rows: Axis, cols: Axis) -> bool:
    """Whether the kernel has no stride or dilation and no more padding than it reaches over an edge."""
    if x.dtype != np.float32 or any(a.stride != 1 or a.dilation != 1 or a.before < 0 or not a.out for a in (rows, cols)):
        return False
    line = line_of(cols)
    return line.used > 0 and line.zeros < cols.kernel


def is_worth_it(x: np.ndarray, w: np.ndarray, rows: Axis, cols: Axis) -> bool:
    """Whether there are few channels and little is computed that is left out. Depends on shapes only."""
    if cols.kernel * w.shape[2] not in RUNS or w.shape[3] > MOST_FILTERS or not is_possible(x, rows, cols):
        return False
    width = line_of(cols).width
    return width <= MOST_LEFT_OUT * cols.out and rows.out * width >= FEWEST_ROWS * cols.kernel


def padded(x: np.ndarray, rows: Axis, line: Line, block: Block, size: int) -> np.ndarray:
    """The lines that a block reads, with their zeros.  Returns: (n, size, C) in scratch of this thread."""
    top, bottom = rows.reach(block.top, block.bottom)
    first, last = max(top, 0), max(min(bottom, rows.extent), max(top, 0))
    frame = scratch("shifted frame", (block.last - block.first, size, x.shape[3]))
    start, stop = line.left + (first - top) * line.width, line.left + (last - top) * line.width
    frame[:, :start] = 0
    frame[:, stop:] = 0
    body = frame[:, start:stop].reshape(len(frame), last - first, line.width, x.shape[3])
    body[:, :, line.used :] = 0
    body[:, :, : line.used] = x[block.first : block.last, first:last, : line.used]
    return frame


def windows(frame: np.ndarray, start: int, count: int, kernel: int) -> np.ndarray:
    """Every kernel-th window from pixel `start` on.  frame: (n, pixels, C).  Returns: (n, count, kernel * C), not copied."""
    n, _, channels = frame.shape
    return frame[:, start : start + count * kernel].reshape(n, count, kernel * channels)


def convolve(x: np.ndarray, w: np.ndarray, rows: Axis, cols: Axis, out: np.ndarray, epilogue: Epilogue | None = None) -> None:
    """out = x * w, as `im2col.convolve` where `is_worth_it`."""
    line, filters = line_of(cols), w.shape[3]
    by_line = w.reshape(rows.kernel, -1, filters)

    @each_block(blocks(len(x), rows, cols, 4 * filters, RESULT_BYTES))
    def run(block: Block) -> None:
        n_rows = block.bottom - block.top
        count = -(-((n_rows - 1) * line.width + cols.out) // cols.kernel)
        read = (rows.kernel - 1) * line.width + cols.kernel - 1 + count * cols.kernel
        size = max(read, line.left + (n_rows + rows.kernel - 1) * line.width)
        frame = padded(x, rows, line, block, size)
        shape = (len(frame), count * cols.kernel, filters)
        sums, product = scratch("shifted sums", shape), scratch("shifted product", shape)
        target = block.of(out)
        for row in range(rows.kernel):
            result = product if row else sums
            for col in range(cols.kernel):
                part = windows(frame, row * line.width + col, count, cols.kernel)
                np.matmul(part, by_line[row], out=result[:, col :: cols.kernel])
            if 0 < row < rows.kernel - 1:
                np.add(sums, product, out=sums)
        if rows.kernel > 1:
            np.add(_wanted(sums, target.shape, line), _wanted(product, target.shape, line), out=target)
        else:
            np.copyto(target, _wanted(sums, target.shape, line))
        if epilogue is not None:
            epilogue(target.reshape(-1, filters))


def _wanted(results: np.ndarray, shape: tuple[int, ...], line: Line) -> np.ndarray:
    """The results that are outputs, not copied.  results: (n, pixels, K).  Returns: shape, (n, rows, columns, K)."""
    image, pixel, item = results.strides
    return np.lib.stride_tricks.as_strided(results, shape, (image, pixel * line.width, pixel, item), writeable=False)
