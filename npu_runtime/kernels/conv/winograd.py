"""Convolution without stride by Winograd's minimal filtering: tiles of 6x6 inputs, 36 products where a 3x3 filter takes 144.

All three steps are matrix products (see `winograd_1d`): inputs and outputs are transformed by lines, which are as long as
the image is wide, and then by pixels, which are as long as there are channels; in between there is one matrix a point over the
channels.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from npu_runtime.kernels.conv.im2col import Block, framed, sum_by_parts
from npu_runtime.kernels.conv.winograd_1d import (
    KERNELS,
    SIZE,
    both_axes,
    cut,
    finish_lines,
    gradients_of,
    n_tiles,
    one_axis,
    strided,
    tile_outputs,
    tiles_of,
    transform_lines,
)
from npu_runtime.kernels.linalg.epilogue import Epilogue
from npu_runtime.kernels.linalg.gemm_unpacked import SMALL_PRODUCT, are_panels_faster, cut_panels, multiply_each, multiply_panels
from npu_runtime.kernels.linalg.matmul import multiply
from npu_runtime.kernels.threads.parallel import fair, parallel_ranges, scratch
from npu_runtime.kernels.windows.windows import Axis

AREA = SIZE * SIZE
BLOCK_BYTES = 8 << 20
"""Bytes of the transformed inputs and products of one block: more repays packing the filters, less stays in cache."""
FEWEST_STACKED = 64
"""The fewest tiles of a product that BLAS does not pack. With fewer, packing pays."""
FEWEST_SUMMED = 64
"""The fewest tiles of a product of a filter's gradient that BLAS does not pack: it is written and added to others."""
MOST_PARTS = 4
"""The most sums of a filter's gradient that are formed side by side then."""
MIN_TILES = 128
"""Tiles of a block that repays packing all filters for it alone."""
PACKED = 30_000
"""Elements of a point's filters from which on BLAS packs them."""
START_NS = 100_000
"""Nanoseconds that the calls of numpy for one block take beside their work, and packing the filters."""
FEWEST_BY_PANELS = 192
"""Tiles from which on filters are laid out in panels for their products."""
PRODUCT_BYTES = 1 << 20
"""Bytes of the products of some points that are added to their sums."""
CHUNK_TILES = 512
"""Tiles of blocks that are multiplied together: enough to repay packing the filters, or adding to the sums of all products."""


def is_possible(x: np.ndarray, rows: Axis, cols: Axis) -> bool:
    return x.dtype == np.float32 and all(a.kernel in KERNELS and a.stride == a.dilation == 1 and a.out for a in (rows, cols))


def cost_ns(x: np.ndarray, w: np.ndarray, rows: Axis, cols: Axis) -> float:
    """Time on one thread, infinite where it is not possible. Depends on shapes only.

    A tile: copied and transformed at 13 ns an input channel and 9 an output, multiplied at 190 flops a ns where BLAS packs
    nothing. Products of few channels at a time are slow: as if there were eight more.
    """
    if not is_possible(x, rows, cols):
        return math.inf
    depth, filters = w.shape[2:]
    tiles = len(x) * n_tiles(rows) * n_tiles(cols)
    n_blocks = -(-tiles * AREA * 4 * (depth + filters) // BLOCK_BYTES)
    rate = 190 if depth * filters < PACKED else 140
    a_tile = 13 * (depth + 8) + 9 * (filters + 8) + 2 * AREA * depth * filters / rate
    return tiles * a_tile + START_NS * n_blocks + 0.4 * AREA * depth * filters


def _transform(x: np.ndarray, rows: Axis, cols: Axis, images: tuple[int, int], kind: str, out: np.ndarray) -> None:
    """out = tiles of some images, transformed along both axes: whole lines first, then the pixels of each.

    rows, cols: the tiles of `tiles_of` or `gradients_of`.  out: (AREA, tiles * C), rows contiguous.
    """
    frame = framed(x, rows, cols, Block(*images, 0, rows.out), must_copy=True)
    n_lines, width, channels = len(frame) * rows.out, frame.shape[2], frame.shape[3]
    half = scratch("winograd lines", (SIZE, n_lines * width, channels))
    transform_lines(frame, rows, kind, half, 0)
    run = width * channels
    shape = SIZE, n_lines, cols.out
    pixels = strided(half, 0, (*shape, cols.kernel, channels), (n_lines * run, run, cols.stride * channels, channels, 1))
    np.matmul(one_axis(kind, cols.kernel), pixels, out=_by_tile(out, n_lines, cols.out, channels))


def _by_tile(points: np.ndarray, n_lines: int, n_columns: int, channels: int) -> np.ndarray:
    """(AREA, tiles * C), rows contiguous, as (SIZE of rows, lines of tiles, tiles, SIZE of columns, C), not copied."""
    point, item = points.strides
    strides = SIZE * point, n_columns * channels * item, channels * item, point, item
    return np.lib.stride_tricks.as_strided(points, (SIZE, n_lines, n_columns, SIZE, channels), strides)


def _bands(block: Block, step: int) -> int:
    return -(-(block.bottom - block.top) // step)


def _part(tiles: Axis, block: Block) -> Axis:
    """The tiles of a block's rows."""
    first = block.top // tiles.stride
    return cut(tiles, first, first + _bands(block, tiles.stride))


def transform_inputs(x: np.ndarray, rows: Axis, cols: Axis, block: Block, out: np.ndarray) -> None:
    """out = the tiles that give the outputs of a block, transformed.  out: (AREA, tiles * C), rows contiguous."""
    _transform(x, _part(tiles_of(rows), block), tiles_of(cols), (block.first, block.last), "inputs", out)


def transform_gradient(dy: np.ndarray, rows: Axis, cols: Axis, block: Block, out: np.ndarray) -> None:
    """out = the gradients of a block's outputs, transformed as taps.  out: (AREA, tiles * K), rows contiguous."""
    _transform(dy, _part(gradients_of(rows), block), gradients_of(cols), (block.first, block.last), "taps", out)


@lru_cache(maxsize=4096)
def _blocks(n_images: int, rows: Axis, cols: Axis, tiles: int) -> tuple[Block, ...]:
    """Whole images, or whole bands of tiles of one, of up to `tiles` tiles; at least two where there is enough."""
    step, bands = tile_outputs(rows), n_tiles(rows)
    per_image = bands * n_tiles(cols)
    images = min(tiles // per_image, -(-n_images // 2))
    if images >= 1:
        count = fair(-(-n_images // images), n_images)
        return tuple(Block(n_images * i // count, n_images * (i + 1) // count, 0, rows.out) for i in range(count))
    pieces = -(-bands // max(1, tiles // n_tiles(cols)))
    edges = [min(step * (bands * i // pieces), rows.out) for i in range(pieces + 1)]
    pairs = list(itertools.pairwise(edges))
    return tuple(Block(image, image + 1, top, bottom) for image in range(n_images) for top, bottom in pairs)


def _small_tiles(w: np.ndarray) -> int:
    """The most tiles of a product by the filters of one point that BLAS does not pack.  w: (..., C, K)."""
    return SMALL_PRODUCT // (w.shape[-2] * w.shape[-1])


def transform_filters(w: np.ndarray, tiles: int) -> np.ndarray:
    """The matrix of each point.  w: (kernel rows, kernel columns, C, K), perhaps a view with C and K exchanged.

    tiles: how many each is multiplied by.  Returns: in scratch (AREA, panels, C, columns of a panel) where products by panels are
    faster; else (AREA, C, K), perhaps with C and K exchanged as in w; not for small products, which take twice as long so.
    """
    if tiles >= FEWEST_BY_PANELS and are_panels_faster(w.shape[2], w.shape[3]):
        panels = cut_panels(w)
        points = scratch("winograd filters", (AREA, *panels.shape[2:]))
        multiply(both_axes("taps", *w.shape[:2]), panels.reshape(w.shape[0] * w.shape[1], -1), points.reshape(AREA, -1))
        return points
    is_turned = w.strides[2] < w.strides[3] and not _small_tiles(w) >= FEWEST_STACKED
    taps = np.ascontiguousarray(w.swapaxes(2, 3) if is_turned else w)
    points = scratch("winograd filters", (AREA, *taps.shape[2:]))
    multiply(both_axes("taps", *w.shape[:2]), taps.reshape(w.shape[0] * w.shape[1], -1), points.reshape(AREA, -1))
    return points.swapaxes(1, 2) if is_turned else points


def convolve(x: np.ndarray, w: np.ndarray, rows: Axis, cols: Axis, out: np.ndarray, epilogue: Epilogue | None = None) -> None:
    """out = x * w, as `im2col.convolve` but for kernels of 2 to 5 taps without stride or dilation, fp32.

    Few channels: every block is finished by its thread, in cache. Many: a chunk of blocks takes each step together, as the
    filters of a point are larger than what a block multiplies by them.
    """
    depth, filters = w.shape[2:]
    by_point = transform_filters(w, len(x) * n_tiles(rows) * n_tiles(cols))
    tiles, most = BLOCK_BYTES // (AREA * 4 * (depth + filters)), _small_tiles(w)
    is_small = most >= FEWEST_STACKED
    todo = _blocks(len(x), rows, cols, max(min(tiles, most) if is_small else tiles, 16))
    step = 1 if is_small or tiles >= MIN_TILES else fair(-(-CHUNK_TILES // max(tiles, 16)), len(todo))

    def work(start: int, stop: int) -> None:
        for first in range(start, stop, step):
            _convolve_chunk(x, by_point, rows, cols, todo[first : min(first + step, stop)], out, epilogue)

    if step == 1:
        parallel_ranges(len(todo), work)
    else:
        work(0, len(todo))


def _convolve_chunk(
    x: np.ndarray, by_point: np.ndarray, rows: Axis, cols: Axis, todo: Sequence[Block], out: np.ndarray, epilogue: Epilogue | None
) -> None:
    """The outputs of some blocks.  by_point: the filters, as `transform_filters` makes them."""
    depth, filters = x.shape[3], out.shape[3]
    ends = _tile_ends(rows, cols, todo)
    inputs = scratch("winograd inputs", (AREA, ends[-1] * depth))
    products = scratch("winograd products", (AREA, ends[-1], filters))
    lines = products.reshape(AREA, -1)

    @_each(len(todo))
    def transform(index: int) -> None:
        transform_inputs(x, rows, cols, todo[index], inputs[:, ends[index] * depth : ends[index + 1] * depth])

    by_tile = inputs.reshape(AREA, -1, depth)

    def multiply_points(start: int, stop: int) -> None:
        if by_point.ndim == 3:
            np.matmul(by_tile[start:stop], by_point[start:stop], out=products[start:stop])
            return
        for point in range(start, stop):
            multiply_panels(by_tile[point], by_point[point], products[point])

    parallel_ranges(AREA, multiply_points, AREA // 4)

    @_each(len(todo))
    def finish(index: int) -> None:
        transform_outputs(lines[:, ends[index] * filters : ends[index + 1] * filters], rows, cols, todo[index].of(out))
        if epilogue is not None:
            epilogue(todo[index].of(out).reshape(-1, filters))


def transform_outputs(products: np.ndarray, rows: Axis, cols: Axis, target: np.ndarray) -> None:
    """target = the outputs of a block.  products: (AREA, tiles * K), rows contiguous.  target: (n, H, W, K), any strides."""
    steps, filters = (tile_outputs(rows), tile_outputs(cols)), target.shape[3]
    n_columns = n_tiles(cols)
    n_lines = len(target) * -(-target.shape[1] // steps[0])
    width = n_columns * steps[1]
    half = scratch("winograd lines", (SIZE, n_lines * width, filters))
    run = width * filters
    shape = SIZE, n_lines, n_columns, steps[1], filters
    pixels = strided(half, 0, shape, (n_lines * run, run, steps[1] * filters, filters, 1))
    np.matmul(one_axis("outputs", steps[1]), _by_tile(products, n_lines, n_columns, filters), out=pixels)
    finish_lines(half, target, width, steps[0])


def _tile_ends(rows: Axis, cols: Axis, todo: Sequence[Block]) -> list[int]:
    """The end of the tiles of each block when all stand in a row; 0 first."""
    counts = [(b.last - b.first) * _bands(b, tile_outputs(rows)) * n_tiles(cols) for b in todo]
    return [0, *itertools.accumulate(counts)]


def _each(count: int) -> Callable[[Callable[[int], None]], None]:
    """A decorator that runs body(0) ... body(count - 1) over the worker threads."""

    def run(body: Callable[[int], None]) -> None:
        def work(start: int, stop: int) -> None:
            for index in range(start, stop):
                body(index)

        parallel_ranges(count, work)

    return run


def filter_gradient(x: np.ndarray, dy: np.ndarray, rows: Axis, cols: Axis, out: np.ndarray) -> None:
    """out = sum over positions of window times gradient, as `im2col.filter_gradient`, for the same kinds as `convolve`.

    A filter's gradient is a convolution of the image by the gradient whose outputs are the taps, summed over all tiles.
    x: (N, H, W, C).  dy: (N, rows, columns, K).  out: (kernel rows, kernel columns, C, K) contiguous.
    """
    depth, filters = out.shape[2:]
    tiles, most = BLOCK_BYTES // (AREA * 4 * (depth + filters)), _small_tiles(out)
    if most >= FEWEST_SUMMED:
        todo = _blocks(len(x), rows, cols, min(tiles, most))

        def add(target: np.ndarray, block: Block, is_first: bool) -> None:
            _add_products(*_transformed(x, dy, rows, cols, [block]), target, is_first)

        parts = scratch("winograd parts", (min(MOST_PARTS, len(todo)), AREA, depth, filters))
        sums = sum_by_parts(todo, parts, add)
    else:
        sums = scratch("winograd sums", (AREA, depth, filters))
        todo = _blocks(len(x), rows, cols, max(16, tiles))
        step = fair(-(-CHUNK_TILES // max(16, tiles)), len(todo))
        for first in range(0, len(todo), step):
            inputs, gradients = _transformed(x, dy, rows, cols, todo[first : first + step])
            _add_products(inputs, gradients, sums, is_first=first == 0)
    results = out.reshape(-1, depth * filters)
    multiply(both_axes("outputs", rows.kernel, cols.kernel), sums.reshape(AREA, -1), results)


def _transformed(x: np.ndarray, dy: np.ndarray, rows: Axis, cols: Axis, todo: Sequence[Block]) -> tuple[np.ndarray, np.ndarray]:
    """The tiles of some blocks and their gradients.  Returns: (AREA, tiles, C) and (AREA, tiles, K) in scratch."""
    depth, filters = x.shape[3], dy.shape[3]
    ends = _tile_ends(rows, cols, todo)
    inputs = scratch("winograd inputs", (AREA, ends[-1] * depth))
    gradients = scratch("winograd products", (AREA, ends[-1] * filters))

    @_each(len(todo))
    def transform(index: int) -> None:
        first, last = ends[index : index + 2]
        transform_inputs(x, rows, cols, todo[index], inputs[:, first * depth : last * depth])
        transform_gradient(dy, rows, cols, todo[index], gradients[:, first * filters : last * filters])

    return inputs.reshape(AREA, -1, depth), gradients.reshape(AREA, -1, filters)


def _add_products(inputs: np.ndarray, gradients: np.ndarray, sums: np.ndarray, is_first: bool) -> None:
    """sums (+)= inputs' @ gradients for each of the AREA points.  sums: (AREA, C, K)."""
    at_once = max(1, min(AREA // 4, PRODUCT_BYTES // (4 * sums[0].size)))

    def add(start: int, stop: int) -> None:
        for first in range(start, stop, at_once):
            points = slice(first, min(first + at_once, stop))
            target = sums[points]
            product = target if is_first else scratch("winograd product", target.shape)
            multiply_each(inputs[points].swapaxes(1, 2), gradients[points], product)
            if not is_first:
                np.add(target, product, out=target)

    parallel_ranges(AREA, add, AREA // 4)
