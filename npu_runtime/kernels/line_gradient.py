"""The gradient of a filter from windows of one line, in products so small that BLAS reads its operands where they lie.

What a line of the kernel saw are runs of kernel columns x channels elements. They are laid out once for each input line, a
kernel-th of what whole windows take; the kernel's lines are that matrix begun a line later. OpenBLAS copies the operands of a
product into a layout of its own first, which for few channels takes as long as multiplying, but not those of a small product:
so the positions are multiplied in stacks of small products whose results are added up.
"""

from __future__ import annotations

import math

import numpy as np

from npu_runtime.kernels.im2col import FEWEST_SUMMED, MOST_PARTS, SHORT_RUN, Block, blocks, framed
from npu_runtime.kernels.matmul import SMALL_PRODUCT
from npu_runtime.kernels.parallel import parallel_ranges, scratch
from npu_runtime.kernels.windows import Axis

FEWEST_POSITIONS = 32
"""That one small product sums over."""
LINE_BYTES = 2 << 20
"""Of the runs of one block, which stay in cache while they are multiplied."""


def is_worth_it(x: np.ndarray, dw: np.ndarray, rows: Axis, cols: Axis) -> bool:
    """Whether the kernel has no stride or dilation and few channels, and BLAS knows small products."""
    run, filters = cols.kernel * dw.shape[2], dw.shape[3]
    if x.dtype != np.float32 or any(axis.stride != 1 or axis.dilation != 1 for axis in (rows, cols)) or run < SHORT_RUN:
        return False
    limit = SMALL_PRODUCT // (run * filters)
    is_small = cols.out <= limit and _piece(rows.out * cols.out, limit) >= FEWEST_POSITIONS
    return is_small and len(x) * rows.out * cols.out >= 2 * FEWEST_SUMMED


def _piece(n: int, limit: int) -> int:
    """The largest divisor of n up to a limit."""
    return next(size for size in range(min(n, limit), 0, -1) if n % size == 0)


def filter_gradient(x: np.ndarray, dy: np.ndarray, rows: Axis, cols: Axis, out: np.ndarray) -> None:
    """out = sum over positions of window times gradient, as `im2col.filter_gradient` where `is_worth_it`."""
    run, filters = cols.kernel * x.shape[3], dy.shape[3]
    limit = SMALL_PRODUCT // (run * filters)
    todo = blocks(len(x), rows, cols, run * x.itemsize, LINE_BYTES, MOST_PARTS)
    n_parts = min(MOST_PARTS, len(todo))
    sums = np.zeros((n_parts, rows.kernel, filters, run), np.float32)

    def work(start: int, stop: int) -> None:
        for index in range(start, stop):
            for block in todo[len(todo) * index // n_parts : len(todo) * (index + 1) // n_parts]:
                _add_block(sums[index], x, dy, rows, cols, block, limit)

    parallel_ranges(n_parts, work)
    by_tap = sums.sum(axis=0).reshape(rows.kernel, filters, cols.kernel, -1)
    np.copyto(out, by_tap.transpose(0, 2, 3, 1))


def _add_block(sums: np.ndarray, x: np.ndarray, dy: np.ndarray, rows: Axis, cols: Axis, block: Block, limit: int) -> None:
    """Add what the outputs of a block give.  sums: (kernel rows, K, kernel columns * C)."""
    runs = _runs(framed(x, rows, cols, block), cols)
    n_images, n_rows, run, filters = block.last - block.first, block.bottom - block.top, runs.shape[3], dy.shape[3]
    size = _piece(n_rows * cols.out, limit)
    stack = (n_images, n_rows * cols.out // size, size)
    gradient = block.of(dy).reshape(*stack, filters).swapaxes(2, 3)
    product = scratch("line products", (*stack[:2], filters, run))
    for row in range(rows.kernel):
        np.matmul(gradient, runs[:, row : row + n_rows].reshape(*stack, run), out=product)
        sums[row] += product.reshape(math.prod(stack[:2]), filters, run).sum(axis=0)


def _runs(frame: np.ndarray, cols: Axis) -> np.ndarray:
    """What lies under the kernel's columns, for each output of each line.  Returns: (n, lines, columns, kernel columns * C)."""
    if frame.strides[2:] != (frame.shape[3] * frame.itemsize, frame.itemsize):
        frame = np.ascontiguousarray(frame)
    image, line, pixel, item = frame.strides
    shape = (*frame.shape[:2], cols.out, cols.kernel * frame.shape[3])
    view = np.lib.stride_tricks.as_strided(frame, shape, (image, line, pixel, item), writeable=False)
    made = scratch("line runs", shape)
    np.copyto(made, view)
    return made
