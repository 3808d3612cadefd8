"""Sums over the rows of a tall matrix: what bias and normalisation gradients come down to."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from npu_runtime.kernels.parallel import parallel_ranges

BLOCK_ELEMENTS = 32768
"""Elements of a block of rows: it stays in the L2 cache between the passes over it, and bounds the rounding error."""

RowSums = Callable[[int, int, np.ndarray], None]
"""(start, stop, sums): fills `sums`, (n_sums, channels), from rows [start, stop)."""


def block_rows(channels: int) -> int:
    return max(16, BLOCK_ELEMENTS // max(channels, 1))


def sum_rows(rows: int, channels: int, n_sums: int, body: RowSums) -> np.ndarray:
    """`n_sums` sums over rows at once, each block of rows by `body`, the blocks added in float64.

    Returns: (n_sums, channels) float64, the same on any number of threads.
    """
    block = block_rows(channels)
    partial = np.zeros((max(1, -(-rows // block)), n_sums, channels), np.float32)

    def work(start: int, stop: int) -> None:
        for index in range(start, stop):
            body(index * block, min((index + 1) * block, rows), partial[index])

    parallel_ranges(len(partial) if rows else 0, work, 2)
    return partial.sum(axis=0, dtype=np.float64)


def add_up(block: np.ndarray, sums: np.ndarray) -> None:
    """sums = the sum of the rows of a block, by BLAS.  block: (rows, channels) fp32.  sums: (channels,) fp32."""
    np.matmul(np.ones(len(block), np.float32), block, out=sums)


def column_sums(matrix: np.ndarray) -> np.ndarray:
    """Sum of each column.  matrix: (rows, channels) fp32 contiguous.  Returns: (channels,) float64."""
    rows, channels = matrix.shape
    return sum_rows(rows, channels, 1, lambda start, stop, sums: add_up(matrix[start:stop], sums[0]))[0]
