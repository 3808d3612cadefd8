"""Channel by channel over all pixels: sums, and element-wise work with one value a channel.

Pixels stand side by side in long lines, so that numpy's inner loop does not end after each pixel's few channels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from npu_runtime.kernels.parallel import parallel_ranges, scratch

BLOCK_ELEMENTS = 131072
"""Elements of a block: it stays in the L2 cache between the passes over it, and bounds the rounding error of a sum."""
LINE_ELEMENTS = 16384
"""Of a line in element-wise work: numpy takes a fifth longer where a repeated operand is shorter than its buffers' 8192."""
SUMMED_ELEMENTS = 2048
"""Of a line that is added to sums, which stay in the nearest cache."""


@lru_cache(maxsize=1024)
def pixels_a_line(pixels: int, channels: int, elements: int) -> int:
    """How many pixels to put side by side for lines of about so many elements: a divisor of `pixels`."""
    most = max(1, elements // max(channels, 1))
    return next((n for n in range(min(most, pixels), 1, -1) if pixels % n == 0), 1)


def _in_lines(matrices: Sequence[np.ndarray], elements: int) -> tuple[int, list[np.ndarray]]:
    pixels, channels = matrices[0].shape
    times = pixels_a_line(pixels, channels, elements)
    return times, [m.reshape(pixels // times, channels * times) for m in matrices]


def each_block(matrices: Sequence[np.ndarray], vectors: Sequence[np.ndarray], body: Callable[..., object]) -> None:
    """body(*blocks, *vectors) for every block of lines over the worker threads.

    matrices: (pixels, channels) each, contiguous.  vectors: (channels,) each, repeated to the length of a line.
    """
    if matrices[0].size == 0:
        return
    times, lines = _in_lines(matrices, LINE_ELEMENTS)
    repeated = [np.tile(v, times) for v in vectors]
    grain = max(1, BLOCK_ELEMENTS // lines[0].shape[1])
    parallel_ranges(len(lines[0]), lambda start, stop: body(*[m[start:stop] for m in lines], *repeated), grain)


def block_sums(
    matrices: Sequence[np.ndarray], vectors: Sequence[np.ndarray], n_sums: int, body: Callable[..., object]
) -> np.ndarray:
    """Sums over the pixels of (pixels, channels) matrices, block by block.

    vectors: as for `each_block`.  body(*blocks, *vectors, totals) fills totals, (n_sums, times * channels) fp32.
    Returns: (n_sums, channels) float64, the sums of all blocks; the same on any number of threads.
    """
    channels = matrices[0].shape[1]
    times, lines = _in_lines(matrices, SUMMED_ELEMENTS)
    height = max(4, BLOCK_ELEMENTS // max(channels * times, 1))
    edges = np.append(np.arange(0, len(lines[0]), height), len(lines[0])) if matrices[0].size else np.zeros(1, np.int64)
    sums = np.zeros((len(edges) - 1, n_sums, channels))
    repeated = [np.tile(v, times) for v in vectors]
    ones = np.ones(times)

    def work(start: int, stop: int) -> None:
        for index in range(start, stop):
            totals = scratch("column totals", (n_sums, times * channels))
            body(*[m[edges[index] : edges[index + 1]] for m in lines], *repeated, totals)
            np.matmul(ones, totals.reshape(n_sums, times, channels).astype(np.float64), out=sums[index])

    parallel_ranges(len(sums), work)
    return sums.sum(axis=0)


def add_up(block: np.ndarray, sums: np.ndarray) -> None:
    """sums = the sum of the rows of a block.  block: (rows, width) fp32.  sums: (width,) fp32."""
    np.einsum("rc->c", block, out=sums)


def add_up_products(left: np.ndarray, right: np.ndarray, sums: np.ndarray) -> None:
    """sums = the sum of the rows of left * right, multiplied and added in one pass.  left, right: (rows, width) fp32."""
    np.einsum("rc,rc->c", left, right, out=sums)


def column_sums(matrix: np.ndarray) -> np.ndarray:
    """Sum of each column.  matrix: (pixels, channels) fp32 contiguous.  Returns: (channels,) float64."""
    return block_sums([matrix], [], 1, lambda block, totals: add_up(block, totals[0]))[0]
