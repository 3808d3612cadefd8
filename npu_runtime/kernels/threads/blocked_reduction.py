"""Reducing one run of axes of a large array: in blocks, so that fp32 sums stay accurate, over the worker threads."""

from __future__ import annotations

import numpy as np

from npu_runtime.kernels.threads.parallel import Body, parallel_ranges
from npu_runtime.kernels.threads.per_channel import column_sums

BLOCK = 128
"""Values that are combined one after the other; partial results are reduced again. This keeps a sum's error near that of a
pairwise one."""
WIDE = 512
"""Elements of the rows that numpy adds as a whole. Shorter ones are joined to rows of about this length first."""
WIDEST = 4096
"""Elements of the same for the extremes of many rows: numpy's maximum takes twice the time for rows of 512."""
SHORT = 32
"""Elements of rows for which numpy spends more time on the call than on the elements."""
PIECE = 1 << 15
"""Elements of a long row that are added up in fp32 before the sums of the pieces are."""
GRAIN = 1 << 18
"""Elements of one piece of work. Fewer take no longer than waking a worker and waiting for it."""


def fold(ufunc: np.ufunc, x: np.ndarray, out: np.ndarray) -> None:
    """out[b, a] = the ufunc over x[b, :, a].

    x: (before, reduced, after).  out: (before, after), same dtype.  Reducing no element gives the ufunc's identity,
    which it must have then.
    """
    n_before, n_reduced, n_after = x.shape
    if n_reduced <= 1 or not out.size or not x.flags.c_contiguous:
        ufunc.reduce(x, axis=1, out=out, dtype=x.dtype)
    elif n_after == 1:
        _fold_rows(ufunc, x.reshape(n_before, n_reduced), out.reshape(n_before))
    elif n_before == 1 and ufunc is np.add and x.dtype == np.float32:
        np.copyto(out[0], column_sums(x[0]), casting="unsafe")
    elif ufunc in (np.maximum, np.minimum) and n_after < WIDEST and n_reduced >= 32 * (WIDEST // n_after):
        _fold_joined(ufunc, x, out, WIDEST // n_after)
    elif n_after < WIDE and n_reduced >= 4 * (WIDE // n_after):
        _fold_joined(ufunc, x, out, WIDE // n_after)
    else:
        _fold_blocks(ufunc, x, out)


def _each(n: int, size: int, body: Body) -> None:
    parallel_ranges(n, body, max(1, GRAIN * n // size))


def _fold_rows(ufunc: np.ufunc, x: np.ndarray, out: np.ndarray) -> None:
    """Over the last axis; one long row is cut so that every thread has work."""
    n_rows, n = x.shape
    if n_rows > 1 or n < 2 * PIECE:
        _each(n_rows, x.size, lambda start, stop: _each_row(ufunc, x[start:stop], out[start:stop]))
        return
    n_pieces = n // PIECE
    pieces = x[0, : n_pieces * PIECE].reshape(n_pieces, PIECE)
    partial = np.empty(n_pieces + 1, x.dtype)
    _fold_rows(ufunc, pieces, partial[:-1])
    ufunc.reduce(x[0, n_pieces * PIECE :], out=partial[-1:].reshape(()), dtype=x.dtype)
    ufunc.reduce(partial, out=out.reshape(()), dtype=x.dtype)


def _each_row(ufunc: np.ufunc, x: np.ndarray, out: np.ndarray) -> None:
    """fp32 sums by BLAS, whose many partial sums are as accurate as numpy's pairwise ones; short rows as columns."""
    n_rows, n = x.shape
    if ufunc is np.add and x.dtype == np.float32:
        np.dot(x, np.ones(n, np.float32), out=out)
    elif n <= SHORT and n_rows > SHORT:
        ufunc.reduce(np.ascontiguousarray(x.T), axis=0, out=out, dtype=x.dtype)
    else:
        ufunc.reduce(x, axis=1, out=out, dtype=x.dtype)


def _fold_joined(ufunc: np.ufunc, x: np.ndarray, out: np.ndarray, n_joined: int) -> None:
    """Rows too short for numpy's inner loop: n_joined of them make one row, the result is reduced over them again."""
    n_before, n_reduced, n_after = x.shape
    n_rows = n_reduced // n_joined
    head = x[:, : n_rows * n_joined].reshape(n_before, n_rows, n_joined * n_after)
    partial = np.empty((n_before, n_joined * n_after), x.dtype)
    _fold_blocks(ufunc, head, partial)
    _combine(ufunc, partial.reshape(n_before, n_joined, n_after), x[:, n_rows * n_joined :], out)


def _fold_blocks(ufunc: np.ufunc, x: np.ndarray, out: np.ndarray) -> None:
    """Blocks of rows one by one, side by side over the threads, then the results of the blocks; too few rows at once."""
    n_before, n_reduced, n_after = x.shape
    n_blocks = n_reduced // BLOCK
    if n_blocks < 2:
        _each(n_before, x.size, lambda start, stop: ufunc.reduce(x[start:stop], axis=1, out=out[start:stop], dtype=x.dtype))
        return
    blocks = x[:, : n_blocks * BLOCK].reshape(n_before, n_blocks, BLOCK, n_after)
    partial = np.empty((n_before, n_blocks, n_after), x.dtype)

    def over_blocks(start: int, stop: int) -> None:
        ufunc.reduce(blocks[:, start:stop], axis=2, out=partial[:, start:stop], dtype=x.dtype)

    def over_batch(start: int, stop: int) -> None:
        ufunc.reduce(blocks[start:stop], axis=2, out=partial[start:stop], dtype=x.dtype)

    _each(n_blocks, x.size, over_blocks) if n_blocks > n_before else _each(n_before, x.size, over_batch)
    _combine(ufunc, partial, x[:, n_blocks * BLOCK :], out)


def _combine(ufunc: np.ufunc, partial: np.ndarray, tail: np.ndarray, out: np.ndarray) -> None:
    """The partial results over axis 1, and the rows that filled no block."""
    fold(ufunc, partial, out)
    if tail.shape[1]:
        ufunc(out, ufunc.reduce(tail, axis=1, dtype=out.dtype), out=out)
