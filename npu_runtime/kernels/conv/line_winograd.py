"""Convolution without stride by Winograd's minimal filtering along rows only: six products of lines where three taps take twelve.

Six input lines give four lines of outputs of a three-row filter, eight give four of a five-row filter. Along a line nothing is
transformed: both transforms are sums of whole lines, which is one product of a constant matrix with lines as long as the image
is wide. In between, the pixels of a line lie side by side, so the taps of a window are one run of memory: every k-th window of k
columns is a row of the matrix that the line is when it is seen with another width, and no windows are laid out. Lines follow
each other with zeros between them that pad the end of one and the start of the next; what is computed there is left out.

Against `winograd`, which does the same along both axes, there are twice as many products but hardly any transforms: it is faster
up to about 64 channels. The error of a sum is less than there, or as much with five rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from npu_runtime.kernels.conv.im2col import MOST_PARTS, Block, blocks, each_block, framed, sum_by_parts
from npu_runtime.kernels.conv.winograd_1d import (
    KERNELS,
    LARGE_SIZE,
    SIZE,
    cut,
    finish_lines,
    gradients_of,
    one_axis,
    strided,
    tile_outputs,
    tiles_of,
    transform_lines,
)
from npu_runtime.kernels.linalg.epilogue import Epilogue
from npu_runtime.kernels.linalg.gemm_unpacked import SMALL_PRODUCT
from npu_runtime.kernels.threads.parallel import scratch
from npu_runtime.kernels.windows.windows import Axis

BLOCK_BYTES = 3 << 20
"""Bytes of the transformed lines and products of one block."""
SHORTEST_RUN = 8
"""Elements of a window in one line, below which windows of all lines are faster."""
PACKED = 30_000
"""Elements of a point's filters from which on BLAS packs them for every product: few rows at a time hardly repay it."""
FEWEST_STACKED = 16
"""The fewest rows of a product that BLAS does not pack. Fewer are better packed."""
FEWEST_SUMMED = 64
"""The fewest positions that such a product of a filter's gradient sums over, as it is written and added to the others."""
MOST_WHOLE = 4096
"""Elements of a point's filters up to which their gradient takes whole windows. Larger ones take one tap at a time: longer and
fewer sums."""
START_NS = 30_000
"""Nanoseconds that the calls of numpy for one block take beside their work."""


@dataclass(frozen=True)
class Line:
    """One line of a padded image: `used` input columns behind the zeros of the line before, then `zeros`."""

    left: int
    used: int
    zeros: int

    @property
    def width(self) -> int:
        return self.used + self.zeros


@lru_cache(maxsize=4096)
def line_of(cols: Axis) -> Line:
    used = min(cols.extent, cols.out - 1 - cols.before + cols.kernel)
    right = cols.out - 1 - cols.before + cols.kernel - used
    return Line(cols.before, used, max(cols.before, right))


def size_of(rows: Axis) -> int:
    """Lines that a band reads, and points."""
    return _size(rows.kernel)


def _size(kernel: int) -> int:
    return LARGE_SIZE if kernel > 4 else SIZE


def is_possible(x: np.ndarray, rows: Axis, cols: Axis) -> bool:
    """Whether the kernel has two to five rows, no stride or dilation and no more padding than it reaches over an edge."""
    if x.dtype != np.float32 or any(a.stride != 1 or a.dilation != 1 or a.before < 0 or not a.out for a in (rows, cols)):
        return False
    line = line_of(cols)
    return rows.kernel in KERNELS and line.used > 0 and line.zeros < cols.kernel


def cost_ns(x: np.ndarray, w: np.ndarray, rows: Axis, cols: Axis) -> float:
    """Time on one thread, infinite where it is not possible. Depends on shapes only.

    0.15 ns to make an element of the transformed lines or of the outputs, 6 ns to begin a row of products, 190 flops a ns.
    """
    depth, filters = w.shape[2:]
    run = cols.kernel * depth
    if run < SHORTEST_RUN or not is_possible(x, rows, cols):
        return math.inf
    size = size_of(rows)
    bands = tiles_of(rows, size)
    positions = len(x) * bands.out * line_of(cols).width
    moved = 0.15 * (size * depth + bands.stride * filters)
    products = size * (6 + 2 * run * filters / (190 if run * filters < PACKED else 120))
    n_blocks = -(-4 * size * positions * (depth + filters) // BLOCK_BYTES)
    return positions * (moved + products) + START_NS * n_blocks + 0.8 * size * run * filters


def transformed(x: np.ndarray, bands: Axis, line: Line, kind: str, shape: tuple[int, int], name: str) -> np.ndarray:
    """The lines that each band reads, transformed, zeros between them.

    x: (n, H, W, C).  bands, kind: as for `transform_lines`.  shape: (size, pixels).  Returns: (size, pixels, C) in
    scratch `name`.
    """
    zeros_behind = Axis(line.used, line.width, 1, 1, 0, 1)
    frame = framed(x, bands, zeros_behind, Block(0, len(x), 0, bands.out), must_copy=True)  # read in order from memory
    made = scratch(name, (*shape, x.shape[3]))
    made[:, : line.left] = 0
    made[:, line.left + len(x) * bands.out * line.width :] = 0
    transform_lines(frame, bands, kind, made, line.left)
    return made


def _stacks(count: int, size: int, least: int) -> tuple[int, int]:
    """(products, rows of each) for `count` rows; one product if `size`, the most that BLAS does not pack, is below `least`."""
    if size < least:
        return 1, count
    stacks = -(-count // size)
    return stacks, -(-count // stacks)


@dataclass(frozen=True)
class Plan:
    """The matrices of a block: products of `stacks` times `size` rows, each of which begins `step` pixels behind the last one.

    pixels: of a point, all that rows reach over included.
    """

    stacks: int
    size: int
    step: int
    pixels: int


@lru_cache(maxsize=4096)
def _plan(n_images: int, bands: Axis, cols: Axis, elements: int, least: int, step: int) -> Plan:
    """elements: of the product of one row.  step: the kernel's columns for rows of whole windows, 1 for rows of one pixel."""
    positions = n_images * bands.out * line_of(cols).width
    stacks, size = _stacks(-(-positions // step), SMALL_PRODUCT // elements, least)
    return Plan(stacks, size, step, stacks * size * step + cols.kernel - 1)


def _rows(points: np.ndarray, start: int, plan: Plan, n_pixels: int = 1) -> np.ndarray:
    """Rows of some pixels each, the first from pixel `start` on.  Returns: (size, stacks, size, n_pixels * C), not copied."""
    channels = points.shape[2]
    step = plan.step * channels
    shape, strides = (
        (len(points), plan.stacks, plan.size, n_pixels * channels),
        (plan.pixels * channels, plan.size * step, step, 1),
    )
    return strided(points, start * channels, shape, strides)


def transform_filters(w: np.ndarray) -> np.ndarray:
    """The matrix of each point.  w: (kernel rows, kernel columns, C, K), perhaps a view with C and K exchanged.

    Returns: (size, 1, kernel columns * C, K).
    """
    size = _size(len(w))
    matrix = one_axis("taps", len(w), size)
    if w.strides[2] >= w.strides[3]:
        return np.matmul(matrix, np.ascontiguousarray(w).reshape(len(w), -1)).reshape(size, 1, -1, w.shape[3])
    turned = np.ascontiguousarray(w.transpose(0, 3, 1, 2))  # runs of C stay together
    points = np.matmul(matrix, turned.reshape(len(w), -1)).reshape(size, 1, w.shape[3], -1)
    return np.ascontiguousarray(points.swapaxes(2, 3))


def _blocks(n_images: int, rows: Axis, cols: Axis, channels: int) -> tuple[Block, ...]:
    """Blocks of whole images, or of bands of one: top and bottom count bands."""
    size = size_of(rows)
    return blocks(n_images, replace(rows, out=tiles_of(rows, size).out), cols, 4 * size * channels, BLOCK_BYTES)


def convolve(x: np.ndarray, w: np.ndarray, rows: Axis, cols: Axis, out: np.ndarray, epilogue: Epilogue | None = None) -> None:
    """out = x * w, as `im2col.convolve` where it is possible."""
    depth, filters = w.shape[2:]
    by_point = transform_filters(w)
    size, line = size_of(rows), line_of(cols)
    bands, step = tiles_of(rows, size), tile_outputs(rows, size)

    @each_block(_blocks(len(x), rows, cols, depth + filters))
    def run(block: Block) -> None:
        part = cut(bands, block.top, block.bottom)
        images = slice(block.first, block.last)
        plan = _plan(block.last - block.first, part, cols, cols.kernel * depth * filters, FEWEST_STACKED, cols.kernel)
        points = transformed(x[images], part, line, "inputs", (size, plan.pixels), "line points")
        products = scratch("line products", (size, plan.pixels, filters))
        for col in range(cols.kernel):
            np.matmul(_rows(points, col, plan, cols.kernel), by_point, out=_rows(products, col, plan))
        target = out[images, block.top * step : block.bottom * step]
        finish_lines(products, target, line.width, step)
        if epilogue is not None:
            epilogue(target.reshape(-1, filters))


def filter_gradient(x: np.ndarray, dy: np.ndarray, rows: Axis, cols: Axis, out: np.ndarray) -> None:
    """out = sum over positions of window times gradient, as `im2col.filter_gradient` where it is possible.

    A filter's gradient is a convolution of the image by the gradient whose outputs are the taps, summed over all bands.
    """
    depth, filters = out.shape[2:]
    size = size_of(rows)
    todo = _blocks(len(x), rows, cols, depth + filters)

    def add(target: np.ndarray, block: Block, is_first: bool) -> None:
        if is_first:
            target[...] = 0
        _add_products(target, x, dy, rows, cols, block)

    sums = scratch("line parts", (min(MOST_PARTS, len(todo)), size, cols.kernel * depth, filters))
    total = sum_by_parts(todo, sums, add)
    np.matmul(one_axis("outputs", rows.kernel, size), total.reshape(size, -1), out=out.reshape(rows.kernel, -1))


def _add_products(sums: np.ndarray, x: np.ndarray, dy: np.ndarray, rows: Axis, cols: Axis, block: Block) -> None:
    """Add what the outputs of a block give.  sums: (size, kernel columns * C, K)."""
    size, line, images = len(sums), line_of(cols), slice(block.first, block.last)
    bands = cut(tiles_of(rows, size), block.top, block.bottom)
    is_whole = sums[0].size <= MOST_WHOLE
    n_pixels = cols.kernel if is_whole else 1
    width = n_pixels * x.shape[3]
    plan = _plan(block.last - block.first, bands, cols, width * dy.shape[3], FEWEST_SUMMED, n_pixels)
    inputs = transformed(x[images], bands, line, "inputs", (size, plan.pixels), "line points")
    behind = Line(0, cols.out, line.width - cols.out)
    outputs = cut(gradients_of(rows, size), block.top, block.bottom)
    gradients = transformed(dy[images], outputs, behind, "taps", (size, plan.pixels), "line gradients")
    products = scratch("line sums", (size, plan.stacks, width, dy.shape[3]))
    for col in range(cols.kernel):
        seen = _rows(inputs, col, plan, n_pixels)
        np.matmul(seen.swapaxes(2, 3), _rows(gradients, col if is_whole else 0, plan), out=products)
        target = sums if is_whole else sums[:, col * width : (col + 1) * width]
        np.add(target, products[:, 0] if plan.stacks == 1 else products.sum(axis=1), out=target)
