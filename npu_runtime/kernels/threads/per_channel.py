"""Channel by channel over all pixels: sums, and element-wise work with one value a channel.

Pixels stand side by side in long lines, so that numpy's inner loop does not end after each pixel's few channels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from npu_runtime.kernels.native import normalization_loops
from npu_runtime.kernels.native.compiled import EINSUM_ROUNDS_PRODUCTS
from npu_runtime.kernels.threads.parallel import fair, parallel_ranges

BLOCK_ELEMENTS = 1 << 18
"""Elements of a block. Few calls of numpy, between which threads wait for each other, count for more than the L2 cache."""
LINE_ELEMENTS = 32768
"""Elements of a line in element-wise work: numpy takes a fifth longer where a repeated operand is shorter than its buffers'
8192."""
SUMMED_ELEMENTS = 1024
"""Elements of a line that is added to sums, which stay in the nearest cache."""
SUMMED_LINES = 2048
"""The most lines that are added up in fp32, which bounds the rounding error."""
FEW_LINES = 64
"""Lines that are summed as they are, however short."""
SERIAL_ELEMENTS = 1 << 20
"""Elements up to which their sums are one product on this thread: it takes about as long as waking another one and waiting for
it."""
_SINGLE, _DOUBLE = np.dtype(np.float32), np.dtype(np.float64)


@lru_cache(maxsize=1024)
def pixels_a_line(pixels: int, channels: int, elements: int) -> int:
    """The number of pixels to put side by side for lines of about so many elements: a divisor of `pixels`."""
    most = max(1, elements // max(channels, 1))
    return next((n for n in range(min(most, pixels), 1, -1) if pixels % n == 0), 1)


class _Lines(NamedTuple):
    """A plan of sums over the pixels of a matrix: pixels in a line, the shape of all lines, the lines summed together."""

    times: int
    shape: tuple[int, int]
    blocks: tuple[slice, ...]
    parts: np.ndarray
    """Weights of the sums of all blocks and pixels of a line in the result: 1 / divisor each."""


@lru_cache(maxsize=1024)
def _lines(pixels: int, channels: int, divisor: int) -> _Lines:
    times = pixels_a_line(pixels, channels, SUMMED_ELEMENTS)
    count, width = pixels // times, channels * times
    height = min(max(4, BLOCK_ELEMENTS // max(width, 1)), SUMMED_LINES)
    n_blocks = fair(-(-count // height), count) if width else 0
    blocks = tuple(slice(index * count // n_blocks, (index + 1) * count // n_blocks) for index in range(n_blocks))
    return _Lines(times, (count, width), blocks, np.full(n_blocks * times, 1.0 / divisor))


def each_block(matrices: Sequence[np.ndarray], vectors: Sequence[np.ndarray], body: Callable[..., object]) -> None:
    """body(*blocks, *vectors) for every block of lines over the worker threads.

    matrices: (pixels, channels) each, contiguous.  vectors: (channels,) each, repeated to the length of a line.
    """
    if matrices[0].size == 0:
        return
    pixels, channels = matrices[0].shape
    times = pixels_a_line(pixels, channels, LINE_ELEMENTS)
    lines = [m.reshape(pixels // times, channels * times) for m in matrices]
    rows = _as_lines(vectors, times)
    grain = max(1, BLOCK_ELEMENTS // lines[0].shape[1])
    parallel_ranges(len(lines[0]), lambda start, stop: body(*[m[start:stop] for m in lines], *rows), grain)


def block_sums(
    matrices: Sequence[np.ndarray], vectors: Sequence[np.ndarray], n_sums: int, body: Callable[..., object], divisor: int = 1
) -> np.ndarray:
    """Sums over the pixels of (pixels, channels) matrices, block by block.

    vectors: as for `each_block`.  body(*blocks, *vectors, totals) fills totals, (n_sums, times * channels) fp32.
    Returns: (n_sums, channels) float64, the sums of all blocks over `divisor`; the same on any number of threads.
    """
    pixels, channels = matrices[0].shape
    times, shape, blocks, parts = _lines(pixels, channels, divisor)
    lines = [m.reshape(shape) for m in matrices]
    totals = np.empty((n_sums, len(blocks), shape[1]), np.float32)
    rows = _as_lines(vectors, times)

    def work(start: int, stop: int) -> None:
        for index in range(start, stop):
            block = blocks[index]
            body(*[m[block] for m in lines], *rows, totals[:, index])

    parallel_ranges(len(blocks), work)
    return np.matmul(parts, totals.astype(_DOUBLE).reshape(n_sums, len(parts), channels))


@lru_cache(maxsize=256)
def ones(n: int) -> np.ndarray:
    """fp32, kept, to be read only."""
    return np.ones(n, np.float32)


def repeated(vector: np.ndarray, times: int) -> np.ndarray:
    """A vector so many times, to be read only. Python repeats bytes seven times as fast as numpy copies short rows."""
    return np.frombuffer(vector.tobytes() * times, vector.dtype) if vector.size else vector


def _as_lines(vectors: Sequence[np.ndarray], times: int) -> list[np.ndarray]:
    return [repeated(np.asarray(vector, _SINGLE), times) for vector in vectors]


def add_up(block: np.ndarray, sums: np.ndarray) -> None:
    """sums = the sum of the rows of a block.  block: (rows, width) fp32.  sums: (width,) fp32."""
    np.matmul(ones(len(block)), block, out=sums)


def add_up_products(left: np.ndarray, right: np.ndarray, sums: np.ndarray) -> None:
    """sums = the sum of the rows of left * right, multiplied and added in one pass.  left, right: (rows, width) fp32."""
    if not (EINSUM_ROUNDS_PRODUCTS and normalization_loops.products(left, right, sums)):
        np.einsum("rc,rc->c", left, right, out=sums)


def column_sums(matrix: np.ndarray) -> np.ndarray:
    """Sum of each column.  matrix: (pixels, channels) fp32 contiguous.  Returns: (channels,) fp32 or float64."""
    if 0 < matrix.size <= SERIAL_ELEMENTS:
        if len(matrix) <= FEW_LINES:
            return np.matmul(ones(len(matrix)), matrix)
        times, shape, *_ = _lines(*matrix.shape, 1)
        lines = matrix.reshape(shape)
        if len(lines) <= SUMMED_LINES:
            sums = np.matmul(ones(len(lines)), lines)
            return sums if times == 1 else np.matmul(ones(times), sums.reshape(times, -1))
    return block_sums([matrix], [], 1, lambda block, totals: add_up(block, totals[0]))[0]
