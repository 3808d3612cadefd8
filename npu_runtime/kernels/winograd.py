"""3x3 convolution without stride by Winograd's F(2x2, 3x3): 16 products for four outputs of a tile where 36 are usual.

Source: A. Lavin, S. Gray, "Fast Algorithms for Convolutional Neural Networks", 2015, section 4.1. The transforms add and
subtract, so the result differs from direct sums by a few more rounding errors: about twice as many, all in fp32.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from npu_runtime.kernels.im2col import Block, each_block, framed
from npu_runtime.kernels.matmul import Epilogue
from npu_runtime.kernels.parallel import scratch
from npu_runtime.kernels.windows import Axis

FILTER_TRANSFORM = np.array([[1, 0, 0], [0.5, 0.5, 0.5], [0.5, -0.5, 0.5], [0, 0, 1]], np.float32)
BLOCK_TILES = 196
"""Of one block: more repays packing the filters for BLAS, less stays in cache."""
MIN_CHANNELS = 64
"""With fewer the transforms of inputs and outputs cost more than the products saved."""


def is_worth_it(x: np.ndarray, w: np.ndarray, rows: Axis, cols: Axis) -> bool:
    """Whether the convolution is of the kind, and large enough. Depends on shapes only."""
    kinds = {(axis.kernel, axis.stride, axis.dilation) for axis in (rows, cols)}
    tiles = len(x) * -(-rows.out // 2) * -(-cols.out // 2)
    repays_filters = 2 * tiles >= 3 * max(w.shape[2:])  # their transform is done once a call
    return kinds == {(3, 1, 1)} and x.dtype == np.float32 and min(w.shape[2:]) >= MIN_CHANNELS and repays_filters


def transform_filter(w: np.ndarray) -> np.ndarray:
    """w: (3, 3, C, K).  Returns: (16, C, K)."""
    by_row = np.matmul(FILTER_TRANSFORM, w.reshape(3, -1)).reshape(4, 3, -1)
    return np.matmul(FILTER_TRANSFORM, by_row).reshape(16, *w.shape[2:])


def _transform(neighbours: list[np.ndarray], out: np.ndarray) -> None:
    """The input transform along one axis.  out: (4, ...) for the four combinations of four neighbours."""
    first, second, third, fourth = neighbours
    np.subtract(first, third, out=out[0])
    np.add(second, third, out=out[1])
    np.subtract(third, second, out=out[2])
    np.subtract(second, fourth, out=out[3])


def transform_input(frame: np.ndarray, tile_rows: int, tile_cols: int) -> np.ndarray:
    """frame: (n, 2 * tile_rows + 2, 2 * tile_cols + 2, C).  Returns: (16, tiles, C) in scratch."""
    n, height, _, channels = frame.shape
    by_col = scratch("winograd columns", (4, n, height, tile_cols, channels))
    _transform([frame[:, :, i : i + 2 * tile_cols - 1 : 2] for i in range(4)], by_col)
    both = scratch("winograd input", (4, 4, n, tile_rows, tile_cols, channels))
    _transform([by_col[:, :, i : i + 2 * tile_rows - 1 : 2] for i in range(4)], both)
    return both.reshape(16, n * tile_rows * tile_cols, channels)


def transform_output(products: np.ndarray, out: np.ndarray) -> None:
    """products: (16, tiles, K), used up.  out: (n, 2 * tile rows, 2 * tile columns, K), any strides."""
    n, rows, cols, channels = out.shape
    m = products.reshape(4, 4, n, rows // 2, cols // 2, channels)
    np.add(m[0], m[1], out=m[0])
    np.add(m[0], m[2], out=m[0])
    np.subtract(m[1], m[2], out=m[1])
    np.subtract(m[1], m[3], out=m[1])
    for row in (0, 1):
        part = m[row]
        total = np.add(part[0], part[1], out=part[0])
        np.add(total, part[2], out=out[:, row::2, 0::2])
        difference = np.subtract(part[1], part[2], out=part[1])
        np.subtract(difference, part[3], out=out[:, row::2, 1::2])


def _blocks(n_images: int, rows: Axis, cols: Axis, tiles: int) -> list[Block]:
    """Whole images, or an even number of rows of one."""
    tile_rows, tile_cols = -(-rows.out // 2), -(-cols.out // 2)
    if tiles >= tile_rows * tile_cols:
        step = max(1, tiles // (tile_rows * tile_cols))
        return [Block(first, min(first + step, n_images), 0, rows.out) for first in range(0, n_images, step)]
    n_bands = -(-tile_rows // max(1, tiles // tile_cols))
    edges = [min(2 * (tile_rows * i // n_bands), rows.out) for i in range(n_bands + 1)]
    bands = list(zip(edges[:-1], [*edges[1:-1], rows.out], strict=True))
    return [Block(image, image + 1, top, bottom) for image in range(n_images) for top, bottom in bands]


def convolve(x: np.ndarray, w: np.ndarray, rows: Axis, cols: Axis, out: np.ndarray, epilogue: Epilogue | None = None) -> None:
    """out = x * w, as `im2col.convolve` but for 3x3 windows without stride or dilation, fp32."""
    filters = transform_filter(w)
    depth = w.shape[3]
    tile_cols = -(-cols.out // 2)
    even_cols = replace(cols, out=2 * tile_cols)

    @each_block(_blocks(len(x), rows, cols, BLOCK_TILES))
    def run(block: Block) -> None:
        tile_rows = -(-(block.bottom - block.top) // 2)
        even = replace(block, bottom=block.top + 2 * tile_rows)
        tiles = transform_input(framed(x, rows, even_cols, even), tile_rows, tile_cols)
        products = scratch("winograd products", (16, tiles.shape[1], depth))
        np.matmul(tiles, filters, out=products)
        target = block.of(out)
        fits = target.shape[1:3] == (2 * tile_rows, 2 * tile_cols)
        result = target if fits else scratch("result", (len(target), 2 * tile_rows, 2 * tile_cols, depth))
        transform_output(products, result)
        if not fits:
            target[...] = result[:, : target.shape[1], : target.shape[2]]
        if epilogue is not None:
            epilogue(target.reshape(-1, depth))
