"""Winograd's minimal filtering along one axis: the constant matrices, and the transforms of whole lines.

Along an axis, outputs and taps of one tile add up to seven: four outputs of three taps, two of five. Both are evaluated as
polynomials at six points, multiplied there, and the products interpolated. Source: A. Lavin, S. Gray, "Fast Algorithms for
Convolutional Neural Networks", 2015, section 4.

Numbers: with the points 0, +-3/4, +-3/2 and infinity along both axes the error of a sum is five to seven times that of a direct
sum in fp32 of the same channels, along one axis three times; with 0, +-1/2, +-1, +-2 and infinity along one axis six times. With
the usual 0, +-1, +-2 it is twice that. Measured against float64 on normal values.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from npu_runtime.kernels.threads.parallel import scratch
from npu_runtime.kernels.windows.windows import Axis

SIZE = 6
"""Inputs of a tile along one axis, and products."""
LARGE_SIZE = 8
"""Inputs of a larger tile, along one axis only: along both the error of a sum would be twenty times that of a direct sum."""
POINTS = {SIZE: (0.0, 0.75, -0.75, 1.5, -1.5), LARGE_SIZE: (0.0, 0.5, -0.5, 1.0, -1.0, 2.0, -2.0)}
"""Points at which polynomials are evaluated, besides infinity, by size: numbers whose sums and differences have few binary
digits, near 1."""
KERNELS = range(2, 6)


def _others(size: int, index: int) -> list[float]:
    return [p for i, p in enumerate(POINTS[size]) if i != index]


def _scales(size: int) -> np.ndarray:
    """Powers of two that bring the rows of the input transform near one; the taps' transform takes them back."""
    rows = [np.poly(_others(size, i)) for i in range(size - 1)] + [np.poly(POINTS[size])]
    return np.exp2(np.round(np.log2([np.abs(row).sum() for row in rows])))


def _inputs(size: int) -> np.ndarray:
    """The transform of `size` inputs.  Returns: (products, inputs) float64."""
    rows = [np.append(np.poly(_others(size, i))[::-1], 0.0) for i in range(size - 1)] + [np.poly(POINTS[size])[::-1]]
    return np.stack(rows) / _scales(size)[:, None]


def _taps(count: int, size: int) -> np.ndarray:
    """The transform of `count` taps.  Returns: (products, count) float64."""
    rows = [np.power(p, np.arange(count)) / np.prod(np.subtract(p, _others(size, i))) for i, p in enumerate(POINTS[size])]
    return np.stack([*rows, np.eye(count)[-1]]) * _scales(size)[:, None]


def _outputs(count: int, size: int) -> np.ndarray:
    """The matrix from products to `count` outputs.  Returns: (count, products) float64."""
    return np.stack([*[np.power(p, np.arange(count)) for p in POINTS[size]], np.eye(count)[-1]], axis=1)


@lru_cache(maxsize=64)
def both_axes(kind: str, rows: int, cols: int) -> np.ndarray:
    """The matrix of a transform over both axes at once, fp32.  kind: "taps" or "outputs"; rows, cols: how many."""
    make = _taps if kind == "taps" else _outputs
    return np.kron(make(rows, SIZE), make(cols, SIZE)).astype(np.float32)


@lru_cache(maxsize=64)
def one_axis(kind: str, count: int, size: int = SIZE) -> np.ndarray:
    """The matrix of a transform along one axis, fp32.  kind: "inputs", "taps" or "outputs"; count: how many."""
    made = _inputs(size) if kind == "inputs" else (_taps if kind == "taps" else _outputs)(count, size)
    return made.astype(np.float32)


def tile_outputs(axis: Axis, size: int = SIZE) -> int:
    """Outputs of one tile along an axis."""
    return size + 1 - axis.kernel


def n_tiles(axis: Axis, size: int = SIZE) -> int:
    return -(-axis.out // tile_outputs(axis, size))


def strided(x: np.ndarray, start: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> np.ndarray:
    """Elements of a contiguous fp32 array, not copied; start and strides count elements. A tenth of what as_strided takes."""
    return np.ndarray(shape, np.float32, x, 4 * start, tuple(4 * n for n in strides))


@lru_cache(maxsize=4096)
def tiles_of(axis: Axis, size: int = SIZE) -> Axis:
    """The tiles along an axis as outputs of another one: each reads `size` inputs."""
    read = min(axis.extent, axis.out - axis.before + axis.kernel - 1)
    return Axis(read, size, tile_outputs(axis, size), 1, axis.before, n_tiles(axis, size))


@lru_cache(maxsize=4096)
def gradients_of(axis: Axis, size: int = SIZE) -> Axis:
    """The same for the gradient of the outputs: each tile reads its own."""
    step = tile_outputs(axis, size)
    return Axis(axis.out, step, step, 1, 0, n_tiles(axis, size))


@lru_cache(maxsize=4096)
def cut(tiles: Axis, first: int, last: int) -> Axis:
    """Tiles [first, last) of an axis."""
    return replace(tiles, before=tiles.before - first * tiles.stride, out=last - first)


def transform_lines(frame: np.ndarray, bands: Axis, kind: str, out: np.ndarray, start: int) -> None:
    """The lines that each band reads, times a matrix, one point after the other.

    frame: (n, lines, width, C) contiguous, all that the bands read.  out: (size, pixels, C) contiguous, filled from pixel
    `start` of each point on.
    """
    n_images, n_lines, width, channels = frame.shape
    run, shape = width * channels, (n_images, bands.out)
    lines = strided(frame, 0, (*shape, bands.kernel, run), (n_lines * run, bands.stride * run, run, 1))
    point = out.shape[1] * channels
    target = strided(out, start * channels, (*shape, len(out), run), (bands.out * run, run, point, 1))
    np.matmul(one_axis(kind, bands.kernel, len(out)), lines, out=target)


def finish_lines(products: np.ndarray, target: np.ndarray, width: int, step: int) -> None:
    """target = the outputs of bands of `step` rows.

    products: (size, pixels, K) contiguous, the first ones of each line of `width`.  target: (n, H, W, K), any strides.
    """
    n_images, n_rows, columns, filters = target.shape
    is_direct = target.flags.c_contiguous
    result = target if is_direct else scratch("winograd outputs", target.shape)
    whole, rest = divmod(n_rows, step)
    run, point, line = columns * filters, products.shape[1] * filters, width * filters
    image = (whole + (rest > 0)) * line
    matrix = one_axis("outputs", step, len(products))
    for first, count, height in ((0, whole, step), (whole, 1, rest)):
        if count and height:
            made = strided(products, first * line, (n_images, count, len(products), run), (image, line, point, 1))
            to = strided(result, first * step * run, (n_images, count, height, run), (n_rows * run, step * run, run, 1))
            np.matmul(matrix[:height], made, out=to)
    if not is_direct:
        target[...] = result
