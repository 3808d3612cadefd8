"""Convolution of small images by Winograd's minimal filtering along rows, and along columns over the taps inside the image.

As `line_winograd`, but the outputs of each column are products of their own: a window's pixels in one line are one run of memory,
the same columns of all lines are the rows of a matrix, and taps that would lie in the padding are left out of it, a third of a
5x5 filter's over 7x7 pixels. A stride along rows makes as many images of every stride-th line, whose filters have every
stride-th row and whose products are added up; a stride along columns leaves columns out.

The filters of each point lie in panels, so small that BLAS packs neither them nor the windows (see `gemm_unpacked`).
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from npu_runtime.kernels.conv.im2col import MOST_PARTS, Block, framed, sum_by_parts
from npu_runtime.kernels.conv.winograd_1d import (
    KERNELS,
    LARGE_SIZE,
    SIZE,
    finish_lines,
    gradients_of,
    n_tiles,
    one_axis,
    strided,
    tile_outputs,
)
from npu_runtime.kernels.linalg.epilogue import Epilogue
from npu_runtime.kernels.linalg.gemm_unpacked import LONGEST, ROWS, SMALL_PRODUCT, WIDTH, multiply_panels, rows_of_pieces
from npu_runtime.kernels.linalg.matmul import multiply
from npu_runtime.kernels.threads.parallel import fair, parallel_ranges, scratch
from npu_runtime.kernels.threads.transposing import transpose_into
from npu_runtime.kernels.windows.windows import Axis, spans

BLOCK_BYTES = 8 << 20
"""Bytes of the transformed lines and products of one block."""
FEWEST_LINES = 96
"""Lines from which on there are two blocks: with fewer, each thread takes some points of all lines."""
FEWEST_LANES = 16
"""Columns of the narrowest panel: one vector."""
PART_BYTES = 4 << 20
"""Bytes of the sums of a filter's gradient that threads form side by side, each of its own chunks; larger ones they form
together."""
SUMMED = {SIZE: 512, LARGE_SIZE: 320}
"""Elements that one product sums up, by points: the rounding of a sum grows with its length, and more points make more of it."""
START_NS = 40_000
"""Nanoseconds that the calls of numpy for one block take beside their work."""
RATE = 215
"""Floating-point operations a nanosecond of panels without padding."""


@dataclass(frozen=True)
class Bands:
    """Rows in bands, each of which reads `size` lines of every phase of the stride.

    rows: of one phase, without stride.  inputs: what bands read, as the windows of an axis.
    """

    size: int
    stride: int
    rows: Axis
    inputs: Axis

    @property
    def count(self) -> int:
        return self.inputs.out

    @property
    def step(self) -> int:
        """Outputs of a band."""
        return tile_outputs(self.rows, self.size)


@lru_cache(maxsize=4096)
def bands_of(rows: Axis) -> Bands:
    plain = replace(rows, kernel=-(-rows.kernel // rows.stride), stride=1)
    size = LARGE_SIZE if plain.kernel > 4 else SIZE
    read = max(0, min(rows.extent, rows.reach(0, rows.out)[1]))
    step = rows.stride * tile_outputs(plain, size)
    inputs = Axis(read, rows.stride * size, step, 1, rows.before, n_tiles(plain, size))
    return Bands(size, rows.stride, plain, inputs)


def is_possible(x: np.ndarray, w: np.ndarray, rows: Axis, cols: Axis) -> bool:
    """Whether rows have two to five taps for each phase of their stride, filters fill panels, and sums are not too long."""
    if x.dtype != np.float32 or rows.dilation * cols.dilation > 1 or not (rows.out and cols.out):
        return False
    if -(-rows.kernel // rows.stride) not in KERNELS:  # asked first: a tile of longer filters has no outputs
        return False
    filters = w.shape[3]
    fits = filters % WIDTH == 0 if filters > WIDTH else filters % FEWEST_LANES == 0
    return fits and bands_of(rows).count * cols.out <= LONGEST


def are_packed(cols: Axis, depth: int) -> bool:
    """Whether BLAS packs even the smallest products of a column's windows."""
    return cols.kernel * depth * WIDTH * ROWS > SMALL_PRODUCT


def n_inside(cols: Axis) -> int:
    """Taps of all outputs that lie inside the image."""
    return sum((span.last - span.first) * (span.high - span.low) for span in spans(cols))


def cost_ns(x: np.ndarray, w: np.ndarray, rows: Axis, cols: Axis) -> float:
    """Time on one thread, infinite where it is not possible or BLAS packs all products. Depends on shapes only."""
    if are_packed(cols, w.shape[2]) or not is_possible(x, w, rows, cols):
        return math.inf
    return cost_of(x, w, bands_of(rows), cols, n_inside(cols))


def cost_of(x: np.ndarray, w: np.ndarray, bands: Bands, cols: Axis, n_taps: int) -> float:
    """Time on one thread for so many taps of each line that a band reads of each phase."""
    depth, filters = w.shape[2:]
    lines = len(x) * bands.count * bands.size
    flops = 2 * lines * bands.stride * n_taps * depth * filters
    moved = 0.3 * lines * (bands.stride * cols.extent * depth + cols.out * filters) + 0.2 * bands.size * w.size
    starts = len(blocks_of(len(x), bands, cols, depth, filters)) + 2 * _n_chunks(len(x), bands, cols)
    return flops * (filters + 16) / (RATE * filters) + moved + START_NS * starts


def blocks_of(n_images: int, bands: Bands, cols: Axis, depth: int, filters: int) -> list[tuple[int, int]]:
    """(first image, last image) of blocks, an even number of them or one."""
    n_bytes = 4 * bands.count * bands.size * (bands.stride * cols.extent * depth + cols.out * filters)
    least = 2 if n_images * bands.count >= FEWEST_LINES else 1
    count = min(fair(max(least, round(n_images * n_bytes / BLOCK_BYTES)), n_images), n_images)
    return list(itertools.pairwise(n_images * index // count for index in range(count + 1)))


def convolve(x: np.ndarray, w: np.ndarray, rows: Axis, cols: Axis, out: np.ndarray, epilogue: Epilogue | None = None) -> None:
    """out = x * w, as `im2col.convolve` where it is possible.

    Every block is finished by its thread; of a single one each thread takes some points.
    """
    depth, filters = w.shape[2:]
    bands = bands_of(rows)
    by_point = transform_filters(w, bands)
    todo = blocks_of(len(x), bands, cols, depth, filters)

    def work(start: int, stop: int) -> None:
        for first, last in todo[start:stop]:
            points = transform_bands(x[first:last], bands)
            products = scratch("column products", (bands.size, points.shape[2], cols.out, filters))
            multiply_columns(points, by_point, cols, products, is_alone=len(todo) == 1)
            finish_lines(products.reshape(bands.size, -1, filters), out[first:last], cols.out, bands.step)
            if epilogue is not None:
                epilogue(out[first:last].reshape(-1, filters))

    parallel_ranges(len(todo), work)


def transform_filters(w: np.ndarray, bands: Bands) -> np.ndarray:
    """The matrices of each point in panels.  w: (kernel rows, kernel columns, C, K), perhaps a view with C and K exchanged.

    Returns: (size, stride, panels, kernel columns, C, columns of a panel) in scratch.
    """
    panels = _lay_out(w)
    points = scratch("column filters", (bands.size, bands.stride, *panels.shape[1:]))
    for phase in range(bands.stride):
        taps = panels[phase :: bands.stride]
        _transform_taps(taps, bands, slice(0, len(taps)), points[:, phase])
    return points


def transform_shifted(w: np.ndarray, bands: Bands, first: int) -> np.ndarray:
    """The same for the taps of some rows only, the first of which is row `first` of the bands'.

    Returns: (size, 1, panels, kernel columns, C, columns of a panel).
    """
    panels = _lay_out(w)
    points = np.empty((bands.size, 1, *panels.shape[1:]), np.float32)
    _transform_taps(panels, bands, slice(first, first + len(panels)), points)
    return points


def _lay_out(w: np.ndarray) -> np.ndarray:
    """Returns: (kernel rows, panels, kernel columns, C, columns of a panel) contiguous."""
    view = w.reshape(*w.shape[:3], -1, min(WIDTH, w.shape[3])).transpose(0, 3, 1, 2, 4)
    panels = np.empty(view.shape, np.float32)
    transpose_into(panels, view)
    return panels


def _transform_taps(panels: np.ndarray, bands: Bands, rows: slice, out: np.ndarray) -> None:
    """out = some rows of filters, (rows, ...), at each point, (size, ...)."""
    matrix = one_axis("taps", bands.rows.kernel, bands.size)[:, rows]
    multiply(matrix, panels.reshape(len(panels), -1), out.reshape(bands.size, -1))


def _frame(x: np.ndarray, bands: Axis) -> np.ndarray:
    """The lines that all bands read, zeros around the image.  x: (n, H, W, C).  Returns: (n, lines, W, C) contiguous."""
    whole = Axis(x.shape[2], x.shape[2], 1, 1, 0, 1)
    return framed(x, bands, whole, Block(0, len(x), 0, bands.out), must_copy=True)


def transform_bands(x: np.ndarray, bands: Bands) -> np.ndarray:
    """The lines that each band reads, transformed.  Returns: (size, stride, n * bands, W, C) in scratch."""
    frame = _frame(x, bands.inputs)
    n_images, n_lines, width, channels = frame.shape
    run, step, count = width * channels, bands.inputs.stride, bands.count
    made = scratch("column points", (bands.size, bands.stride, n_images * count, width, channels))
    shape = (n_images, bands.stride, count, bands.size, run)
    lines = strided(frame, 0, shape, (n_lines * run, run, step * run, bands.stride * run, 1))
    phase = n_images * count * run
    target = strided(made, 0, shape, (count * run, phase, run, bands.stride * phase, 1))
    np.matmul(one_axis("inputs", bands.size, bands.size), lines, out=target)
    return made


def multiply_columns(points: np.ndarray, by_point: np.ndarray, cols: Axis, products: np.ndarray, is_alone: bool) -> None:
    """products = sums over the taps inside the image and the phases of the stride.

    points: as `transform_bands` returns.  by_point: as `transform_filters`.  products: (size, n * bands, columns, K), rows
    contiguous.  is_alone: there is no other block, so each thread takes some points.
    """

    longest = SUMMED[len(points)]

    def work(start: int, stop: int) -> None:
        _multiply_columns(points[start:stop], by_point[start:stop], cols, products[start:stop], longest)

    parallel_ranges(len(points), work, 1 if is_alone else len(points))


def _multiply_columns(points: np.ndarray, by_point: np.ndarray, cols: Axis, products: np.ndarray, longest: int) -> None:
    """The same for some points.  longest: elements that one product sums up."""
    size, stride, n_lines, width, depth = points.shape
    point, line = stride * n_lines * width * depth, width * depth
    for span in spans(cols):
        target = products[:, :, span.first : span.last].swapaxes(1, 2)
        taps = (span.high - span.low) * depth
        if not taps:
            target[...] = 0
            continue
        first = (span.first * cols.stride - cols.before + span.low) * depth
        for number, (phase, part) in enumerate(itertools.product(range(stride), _parts(taps, longest))):
            shape = (size, span.last - span.first, n_lines, part.stop - part.start)
            start = phase * n_lines * line + first + part.start
            seen = strided(points, start, shape, (point, cols.stride * depth, line, 1))
            panels = by_point[:, phase, :, span.low : span.high].reshape(size, by_point.shape[2], taps, by_point.shape[5])
            made = scratch("column sums", target.shape) if number else target
            _multiply(seen, panels[:, :, part], made)
            if number:
                np.add(target, made, out=target)


@lru_cache(maxsize=1024)
def _parts(extent: int, longest: int) -> tuple[slice, ...]:
    """About equal parts of what is summed up."""
    count = -(-extent // longest)
    return tuple(slice(extent * index // count, extent * (index + 1) // count) for index in range(count))


def _multiply(a: np.ndarray, panels: np.ndarray, out: np.ndarray) -> None:
    """out = a @ panels, in pieces that BLAS does not pack.

    a: (size, columns, m, k).  panels: (size, count, k, width).  out: (size, columns, m, count * width), any strides.
    """
    count, inner, width = panels.shape[1:]
    size, columns, m, _ = out.shape
    by_panel = out.reshape(size, columns, m, count, width).transpose(0, 3, 1, 2, 4)
    rows = rows_of_pieces(m, inner, width)
    whole = m // rows * rows
    pieces = by_panel[:, :, :, :whole].reshape(size, count, columns, -1, rows, width)
    left = a[:, None, :, :whole].reshape(size, 1, columns, -1, rows, inner)
    np.matmul(left, panels[:, :, None, None], out=pieces)
    if whole < m:
        rest = max(min(whole, m - 2), 0)  # of one row BLAS makes another product
        np.matmul(a[:, None, :, rest:], panels[:, :, None], out=by_panel[:, :, :, rest:])


def filter_gradient(x: np.ndarray, dy: np.ndarray, rows: Axis, cols: Axis, out: np.ndarray) -> None:
    """out = sum over positions of window times gradient, as `im2col.filter_gradient` where it is possible.

    A filter's gradient is a convolution of the image by the gradient whose outputs are the taps, summed over all bands.
    """
    bands = bands_of(rows)
    n_chunks = _n_chunks(len(x), bands, cols)
    cuts = [len(x) * index // n_chunks for index in range(n_chunks + 1)]
    chunks = [Block(first, last, 0, rows.out) for first, last in itertools.pairwise(cuts)]
    shape = (bands.size, bands.stride, *out.shape[1:])
    n_parts = min(n_chunks, MOST_PARTS, PART_BYTES // (4 * math.prod(shape)))

    def add(target: np.ndarray, chunk: Block, is_first: bool) -> None:
        images = slice(chunk.first, chunk.last)
        _add_products(x[images], dy[images], bands, cols, target, is_first)

    if n_parts > 1:
        sums = sum_by_parts(chunks, scratch("column parts", (n_parts, *shape)), add)
    else:
        sums = scratch("column parts", shape)
        for index, chunk in enumerate(chunks):
            add(sums, chunk, index == 0)
    for phase in range(bands.stride):
        taps = out[phase :: bands.stride]
        matrix = one_axis("outputs", bands.rows.kernel, bands.size)[: len(taps)]
        multiply(matrix, sums[:, phase].reshape(bands.size, -1), taps.reshape(len(taps), -1))


def _n_chunks(n_images: int, bands: Bands, cols: Axis) -> int:
    """Number of chunks of images; one product sums up the outputs of a chunk."""
    return min(fair(-(-n_images * bands.count * cols.out // LONGEST), n_images), n_images)


def _add_products(x: np.ndarray, dy: np.ndarray, bands: Bands, cols: Axis, sums: np.ndarray, is_first: bool) -> None:
    """sums (+)= what some images give.  sums: (size, stride, kernel columns, C, K)."""
    outputs, width = gradients_of(bands.rows, bands.size), min(WIDTH, dy.shape[3])
    m, n_kept = len(x) * bands.count, -(-cols.extent // cols.stride)
    inputs = scratch("column points", (bands.size, bands.stride, cols.stride, 1, n_kept, m, x.shape[3]))
    gradients = scratch("column gradients", (bands.size, 1, 1, dy.shape[3] // width, cols.out, m, width))

    def transform(start: int, stop: int) -> None:
        _by_column(_frame(x[start:stop], bands.inputs), bands.inputs, "inputs", inputs, start * bands.count)
        _by_column(_frame(dy[start:stop], outputs), outputs, "taps", gradients, start * bands.count)

    parallel_ranges(len(x), transform, -(-len(x) // 2))
    todo = list(itertools.product(range(bands.size), range(bands.stride), range(cols.kernel)))

    def work(start: int, stop: int) -> None:
        for point, phase, tap in todo[start:stop]:
            to, of = cols.tap(tap, 0, cols.out)
            place, first = of.start % cols.stride, of.start // cols.stride
            count = to.stop - to.start
            seen = inputs[point, phase, place, 0, first : first + count].reshape(count * m, x.shape[3])
            panels = gradients[point, 0, 0, :, to].reshape(gradients.shape[3], len(seen), width)
            _add(sums[point, phase, tap], seen.T, panels, is_first, SUMMED[bands.size])

    parallel_ranges(len(todo), work, cols.kernel)


def _add(target: np.ndarray, a: np.ndarray, panels: np.ndarray, is_first: bool, longest: int) -> None:
    """target (+)= a @ the panels side by side.  a: (C, n).  panels: (count, n, width).  longest: elements summed up at once."""
    if is_first and not panels.size:
        target[...] = 0
    for part in _parts(a.shape[1], longest):
        made = target if is_first else scratch("column product", target.shape)
        multiply_panels(a[:, part], panels[:, part], made)
        if not is_first:
            np.add(target, made, out=target)
        is_first = False


def _by_column(frame: np.ndarray, bands: Axis, kind: str, out: np.ndarray, start: int) -> None:
    """The lines that each band reads, transformed, columns outside of lines.

    frame: (n, lines, W, C) contiguous.  out: (size, stride, column stride, panels, columns, lines, C / panels), filled from line
    `start` on.
    """
    n_images, n_lines, width, channels = frame.shape
    size, stride, apart, count, n_columns, m, part = out.shape
    run, n_read = width * channels, bands.kernel // stride
    column, phase = m * part, apart * count * n_columns * m * part
    for place in range(min(apart, width)):
        shape = (count, -(-(width - place) // apart), n_images, stride, bands.out)
        of = (part, apart * channels, n_lines * run, run, bands.stride * run, stride * run, 1)
        to = (n_columns * column, column, bands.out * part, phase, part, stride * phase, 1)
        lines = strided(frame, place * channels, (*shape, n_read, part), of)
        target = strided(out, place * count * n_columns * column + start * part, (*shape, size, part), to)
        np.matmul(one_axis(kind, n_read, size), lines, out=target)
