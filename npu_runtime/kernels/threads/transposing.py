"""Copying a transposed view at memory speed: few axes, blocks that fit the L1 cache, worker threads."""

from __future__ import annotations

import numpy as np

from npu_runtime.kernels.threads.parallel import parallel_ranges, scratch

SMALL = 1 << 15
"""Elements up to which an array is turned around by one call; also those of one piece of work."""
SMALL_LINES = 196608
"""Elements that one thread copies faster than two, where whole lines stay as they are."""
NARROW, IN_CACHE = 16, 1 << 18
"""Matrices of so few rows or columns, or of fewer elements, are left to numpy's own copy: their lines stay in the second cache,
without a call for each block. Up to 256x256 it is 1.5 to 20 times as fast on an EPYC; blocks win from 512x512 and 48x65536."""
BLOCK_ROWS, BLOCK_COLUMNS = 64, 128
"""Rows and columns of the target in one block: its 32 KB stay in the L1 cache until every cache line is used up."""


def transpose_into(out: np.ndarray, view: np.ndarray) -> None:
    """Copy `view`, a permutation of the axes of some array, into `out`, a C-contiguous array of its shape."""
    if out.size <= SMALL or not out.flags.c_contiguous:
        np.copyto(out, view)
        return
    shape, strides = _merged(view)
    source = np.lib.stride_tricks.as_strided(view, shape, strides, writeable=False)
    target = out.reshape(shape)
    inner = int(np.argmin(strides))  # the axis along which the source is contiguous
    if inner == len(shape) - 1:
        _copy_outer(target, source, SMALL_LINES)
    elif min(shape[inner], shape[-1]) <= NARROW or shape[inner] * shape[-1] < IN_CACHE:
        _copy_outer(target, source, SMALL)
    else:
        _copy_blocks(target, source, inner)


def _merged(view: np.ndarray) -> tuple[list[int], list[int]]:
    """Extents and strides with neighbouring axes made one where the memory allows it."""
    shape: list[int] = []
    strides: list[int] = []
    for n, stride in zip(view.shape, view.strides, strict=True):
        if n == 1:
            continue
        if shape and strides[-1] == n * stride:
            shape[-1], strides[-1] = shape[-1] * n, stride
        else:
            shape.append(n)
            strides.append(stride)
    return shape or [1], strides or [view.itemsize]


def _copy_outer(target: np.ndarray, source: np.ndarray, piece: int) -> None:
    """Pieces of at least so many elements, along the first axis."""
    grain = max(1, piece * target.shape[0] // target.size)
    parallel_ranges(target.shape[0], lambda start, stop: np.copyto(target[start:stop], source[start:stop]), grain)


def _copy_blocks(target: np.ndarray, source: np.ndarray, inner: int) -> None:
    """Blocks over the source's contiguous axis and the target's: both are read and written in whole cache lines."""
    last = target.ndim - 1
    # Axes in the order: the others, the source's contiguous axis, the target's contiguous axis.
    order = [a for a in range(target.ndim) if a not in (inner, last)] + [inner, last]
    to, of = target.transpose(order), source.transpose(order)
    n_inner, n_last = to.shape[-2:]
    outer = to.shape[:-2]
    n_outer = int(np.prod(outer, dtype=np.int64))
    first = (0,) * len(outer)

    def work(start: int, stop: int) -> None:
        for flat in range(start, stop):
            place = np.unravel_index(flat, outer) if outer else ()
            _transpose_matrix(to[place], of[place])

    def rows(start: int, stop: int) -> None:
        _transpose_matrix(to[first][start:stop], of[first][start:stop])

    if n_outer == 1:
        parallel_ranges(n_inner, rows, max(BLOCK_ROWS, SMALL // n_last))
    else:
        parallel_ranges(n_outer, work, max(1, SMALL // (n_inner * n_last)))


def _transpose_matrix(target: np.ndarray, source: np.ndarray) -> None:
    """Block by block; a block whose lines lie far apart in the source is gathered first, or they evict each other."""
    n_rows, n_columns = target.shape
    is_dense = source.strides[1] == n_rows * source.itemsize and n_rows <= BLOCK_ROWS
    for row in range(0, n_rows, BLOCK_ROWS):
        for column in range(0, n_columns, BLOCK_COLUMNS):
            block = source[row : row + BLOCK_ROWS, column : column + BLOCK_COLUMNS]
            if not is_dense:
                gathered = scratch("transpose", (block.shape[1], block.shape[0]), source.dtype)
                np.copyto(gathered, block.T)
                block = gathered.T
            target[row : row + BLOCK_ROWS, column : column + BLOCK_COLUMNS] = block
