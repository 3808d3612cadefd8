"""Convolution without stride by Winograd's minimal filtering: tiles of 6x6 inputs, 36 products where a 3x3 filter takes 144.

Along an axis, outputs and taps of one tile add up to seven: four outputs of three taps, two of five. Both are evaluated as
polynomials at six points, multiplied there, and the products interpolated. All three steps are matrix products: of the
constant matrix for both axes (its Kronecker square) with all tiles side by side, and of one matrix a point over the
channels. Source: A. Lavin, S. Gray, "Fast Algorithms for Convolutional Neural Networks", 2015, section 4.

Numbers: with the points 0, +-3/4, +-3/2 and infinity the error of a sum is about three times that of a direct sum in fp32
(six times for the filter's gradient); with the usual 0, +-1, +-2 it is twice that. Measured against float64 on normal values.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from npu_runtime.kernels.im2col import Block, framed
from npu_runtime.kernels.matmul import Epilogue, multiply
from npu_runtime.kernels.parallel import parallel_ranges, scratch
from npu_runtime.kernels.windows import Axis

POINTS = (0.0, 0.75, -0.75, 1.5, -1.5)
"""Where polynomials are evaluated, besides infinity; sums and differences of few binary digits, near 1 in size."""
SIZE = len(POINTS) + 1
"""Inputs of a tile along one axis, and products."""
AREA = SIZE * SIZE
KERNELS = range(2, 6)
BLOCK_BYTES = 2 << 20
"""Of the transformed inputs and products of one block: more repays packing the filters, less stays in cache."""
MIN_TILES = 64
"""Of a block that repays packing all filters for it alone."""
CHUNK_TILES = 512
"""Of blocks that are multiplied together: enough to repay packing the filters, or adding to the sums of all products."""


def _others(index: int) -> list[float]:
    return [p for i, p in enumerate(POINTS) if i != index]


def _scales() -> np.ndarray:
    """Powers of two that bring the rows of the input transform near one; the taps' transform takes them back."""
    rows = [np.poly(_others(i)) for i in range(len(POINTS))] + [np.poly(POINTS)]
    return np.exp2(np.round(np.log2([np.abs(row).sum() for row in rows])))


def _inputs() -> np.ndarray:
    """The transform of SIZE inputs.  Returns: (products, SIZE) float64."""
    rows = [np.append(np.poly(_others(i))[::-1], 0.0) for i in range(len(POINTS))] + [np.poly(POINTS)[::-1]]
    return np.stack(rows) / _scales()[:, None]


def _taps(count: int) -> np.ndarray:
    """The transform of `count` taps.  Returns: (products, count) float64."""
    rows = [np.power(p, np.arange(count)) / np.prod(np.subtract(p, _others(i))) for i, p in enumerate(POINTS)]
    return np.stack([*rows, np.eye(count)[-1]]) * _scales()[:, None]


def _outputs(count: int) -> np.ndarray:
    """From products to `count` outputs.  Returns: (count, products) float64."""
    return np.stack([*[np.power(p, np.arange(count)) for p in POINTS], np.eye(count)[-1]], axis=1)


@lru_cache(maxsize=64)
def both_axes(kind: str, rows: int, cols: int) -> np.ndarray:
    """The matrix of a transform over both axes at once, fp32.  kind: "inputs", "taps" or "outputs"; rows, cols: how many."""
    if kind == "inputs":
        return np.kron(_inputs(), _inputs()).astype(np.float32)
    make = _taps if kind == "taps" else _outputs
    return np.kron(make(rows), make(cols)).astype(np.float32)


def tile_outputs(axis: Axis) -> int:
    """Outputs of one tile along an axis."""
    return SIZE + 1 - axis.kernel


def n_tiles(axis: Axis) -> int:
    return -(-axis.out // tile_outputs(axis))


def is_possible(x: np.ndarray, rows: Axis, cols: Axis) -> bool:
    return x.dtype == np.float32 and all(a.kernel in KERNELS and a.stride == a.dilation == 1 and a.out for a in (rows, cols))


def is_worth_it(x: np.ndarray, w: np.ndarray, rows: Axis, cols: Axis) -> bool:
    """Whether the convolution takes less time than by windows. Depends on shapes only."""
    return cost_ns(x, w, rows, cols) < cost_by_windows_ns(x, w, rows, cols)


def cost_ns(x: np.ndarray, w: np.ndarray, rows: Axis, cols: Axis) -> float:
    """Of one thread, infinite where it is not possible.

    A tile: gathered and transformed at 34 ns an input channel and 22 an output, multiplied at 200 flops a ns.
    """
    if not is_possible(x, rows, cols):
        return math.inf
    depth, filters = w.shape[2:]
    tiles = len(x) * n_tiles(rows) * n_tiles(cols)
    return tiles * (_per_channel(depth, 34) + _per_channel(filters, 22) + 2 * AREA * depth * filters / 200) + (
        depth * filters * AREA * 0.8  # the filters' transform
    )


def cost_by_windows_ns(x: np.ndarray, w: np.ndarray, rows: Axis, cols: Axis) -> float:
    """Of one thread: 0.25 ns to copy each input that an output reads, then multiplied at 180 flops a ns."""
    depth, filters = w.shape[2:]
    return len(x) * rows.out * cols.out * rows.kernel * cols.kernel * depth * (0.25 + 2 * filters / 180)


def _per_channel(channels: int, ns: float) -> float:
    """Copies of few channels at a time are slow: as if there were twelve more."""
    return ns * (channels + 12)


def _tiles(frame: np.ndarray, sizes: tuple[int, int], steps: tuple[int, int], counts: tuple[int, int]) -> np.ndarray:
    """Tiles of a framed block, not copied.  frame: (n, H, W, C).  Returns: (rows, columns, n, tile rows, tile columns, C)."""
    image, row, col, channel = frame.strides
    return np.lib.stride_tricks.as_strided(
        frame,
        (*sizes, len(frame), *counts, frame.shape[3]),
        (row, col, image, row * steps[0], col * steps[1], channel),
        writeable=False,
    )


def _gathered(tiles: np.ndarray) -> np.ndarray:
    """(rows * columns, tiles * C) in scratch, good until the next call."""
    buffer = scratch("winograd tiles", tiles.shape)
    np.copyto(buffer, tiles)
    return buffer.reshape(tiles.shape[0] * tiles.shape[1], -1)


def _bands(block: Block, step: int) -> int:
    return -(-(block.bottom - block.top) // step)


def transform_inputs(x: np.ndarray, rows: Axis, cols: Axis, block: Block, out: np.ndarray) -> None:
    """out = the tiles that give the outputs of a block, transformed.  out: (AREA, tiles * C), rows contiguous."""
    steps = tile_outputs(rows), tile_outputs(cols)
    counts = _bands(block, steps[0]), n_tiles(cols)
    whole = replace(block, bottom=block.top + counts[0] * steps[0])
    frame = framed(x, rows, replace(cols, out=counts[1] * steps[1]), whole)
    tiles = _tiles(frame, (SIZE, SIZE), steps, counts)
    np.matmul(both_axes("inputs", SIZE, SIZE), _gathered(tiles), out=out)


def transform_gradient(dy: np.ndarray, rows: Axis, cols: Axis, block: Block, out: np.ndarray) -> None:
    """out = the gradients of a block's outputs, transformed as taps.  out: (AREA, tiles * K), rows contiguous."""
    steps = tile_outputs(rows), tile_outputs(cols)
    counts = _bands(block, steps[0]), n_tiles(cols)
    plain = [Axis(axis.out, 1, 1, 1, 0, n) for axis, n in ((rows, rows.out), (cols, counts[1] * steps[1]))]
    frame = framed(dy, plain[0], plain[1], replace(block, bottom=block.top + counts[0] * steps[0]))
    np.matmul(both_axes("taps", *steps), _gathered(_tiles(frame, steps, steps, counts)), out=out)


@lru_cache(maxsize=4096)
def _blocks(n_images: int, rows: Axis, cols: Axis, tiles: int) -> tuple[Block, ...]:
    """Whole images, or whole bands of tiles of one, of about `tiles` tiles; at least two where there is enough."""
    step, bands = tile_outputs(rows), n_tiles(rows)
    per_image = bands * n_tiles(cols)
    images = min(tiles // per_image, -(-n_images // 2))
    if images >= 1:
        return tuple(Block(first, min(first + images, n_images), 0, rows.out) for first in range(0, n_images, images))
    pieces = min(bands, -(-per_image // tiles))
    edges = [min(step * (bands * i // pieces), rows.out) for i in range(pieces + 1)]
    pairs = list(itertools.pairwise(edges))
    return tuple(Block(image, image + 1, top, bottom) for image in range(n_images) for top, bottom in pairs)


def transform_filters(w: np.ndarray) -> np.ndarray:
    """The matrix of each point.  w: (kernel rows, kernel columns, C, K), perhaps a view with C and K exchanged.

    Returns: (AREA, C, K), a view of scratch with C and K exchanged as in w.
    """
    is_turned = w.strides[2] < w.strides[3]
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
    by_point = transform_filters(w)
    tiles = BLOCK_BYTES // (AREA * 4 * (depth + filters))
    todo = _blocks(len(x), rows, cols, max(tiles, 16))
    step = 1 if tiles >= MIN_TILES else -(-CHUNK_TILES // max(tiles, 16))

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
    """The outputs of some blocks.  by_point: (AREA, C, K), the filters."""
    depth, filters = by_point.shape[1:]
    ends = _tile_ends(rows, cols, todo)
    inputs = scratch("winograd inputs", (AREA, ends[-1] * depth))
    products = scratch("winograd products", (AREA, ends[-1], filters))
    lines = products.reshape(AREA, -1)

    @_each(len(todo))
    def transform(index: int) -> None:
        transform_inputs(x, rows, cols, todo[index], inputs[:, ends[index] * depth : ends[index + 1] * depth])

    @_each(AREA)
    def multiply_point(point: int) -> None:
        np.matmul(inputs[point].reshape(-1, depth), by_point[point], out=products[point])

    @_each(len(todo))
    def finish(index: int) -> None:
        transform_outputs(lines[:, ends[index] * filters : ends[index + 1] * filters], rows, cols, todo[index].of(out))
        if epilogue is not None:
            epilogue(todo[index].of(out).reshape(-1, filters))


def transform_outputs(products: np.ndarray, rows: Axis, cols: Axis, target: np.ndarray) -> None:
    """target = the outputs of a block.  products: (AREA, tiles * K), rows contiguous.  target: (n, H, W, K), any strides."""
    steps = tile_outputs(rows), tile_outputs(cols)
    results = scratch("winograd tiles", (steps[0] * steps[1], products.shape[1]))
    np.matmul(both_axes("outputs", *steps), products, out=results)
    counts = len(target), -(-target.shape[1] // steps[0]), n_tiles(cols)
    _place(results.reshape(*steps, *counts, target.shape[3]), target)


def _tile_ends(rows: Axis, cols: Axis, todo: Sequence[Block]) -> list[int]:
    """Where the tiles of each block end when all stand in a row; 0 first."""
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


def _place(results: np.ndarray, target: np.ndarray) -> None:
    """Put tiles side by side, cut at the edges.

    results: (rows, columns of a tile, n, tile rows, tile columns, K).  target: (n, H, W, K), any strides.
    """
    n_rows, n_cols = results.shape[:2]
    for row, col in np.ndindex(n_rows, n_cols):
        part = target[:, row::n_rows, col::n_cols]
        np.copyto(part, results[row, col][:, : part.shape[1], : part.shape[2]])


def filter_gradient(x: np.ndarray, dy: np.ndarray, rows: Axis, cols: Axis, out: np.ndarray) -> None:
    """out = sum over positions of window times gradient, as `im2col.filter_gradient`, for the same kinds as `convolve`.

    A filter's gradient is a convolution of the image by the gradient whose outputs are the taps, summed over all tiles.
    x: (N, H, W, C).  dy: (N, rows, columns, K).  out: (kernel rows, kernel columns, C, K) contiguous.
    """
    depth, filters = out.shape[2:]
    sums = scratch("winograd sums", (AREA, depth, filters))
    tiles = max(16, BLOCK_BYTES // (AREA * 4 * (depth + filters)))
    todo = _blocks(len(x), rows, cols, tiles)
    step = -(-CHUNK_TILES // tiles)
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

    @_each(AREA)
    def add(point: int) -> None:
        target = sums[point]
        product = target if is_first else scratch("winograd product", target.shape)
        np.matmul(inputs[point].T, gradients[point], out=product)
        if not is_first:
            np.add(target, product, out=target)
