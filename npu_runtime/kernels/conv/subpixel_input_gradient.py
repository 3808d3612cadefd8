"""Gradient by the image of a convolution with a stride, as a sub-pixel convolution: one product gives all phases of the stride.

In the padded image, pixels q * stride to (q + 1) * stride - 1 are read by the same outputs: those from q - n + 1 to q, where n is
the kernel's extent over the stride, rounded up. So the windows of n outputs, laid out once, times a filter that has the taps of
every phase side by side, give all of these pixels at once. A phase with fewer taps than the others has zeros for the rest.
Source of the name: Shi et al. 2016, "Real-time single image and video super-resolution using an efficient sub-pixel CNN".
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from npu_runtime.kernels.conv.im2col import Block, blocks, each_block, lay_out
from npu_runtime.kernels.linalg.serial_products import multiply_stacked
from npu_runtime.kernels.threads.parallel import scratch
from npu_runtime.kernels.windows.windows import Axis

COPY_NS, PIECE_NS = 0.4, 3.0
"""Nanoseconds to write a pixel's channel into the image, and of each run of neighbours that numpy copies, measured."""


@lru_cache(maxsize=4096)
def reading(axis: Axis) -> Axis:
    """The convolution without stride over the gradient whose output q gives a run of `stride` pixels, padding included."""
    first, last = axis.before // axis.stride, (axis.before + axis.extent - 1) // axis.stride
    n_taps = -(-axis.kernel // axis.stride)
    return Axis(axis.out, n_taps, 1, 1, n_taps - 1 - first, last - first + 1)


def can_take(rows: Axis, cols: Axis) -> bool:
    """Whether there is a stride, and all that the windows read lies in or around the gradient."""
    is_plain = rows.dilation * cols.dilation == 1 and min(rows.before, cols.before) >= 0 and rows.out > 0 and cols.out > 0
    return is_plain and rows.stride * cols.stride > 1


def cost_ns(dy: np.ndarray, w: np.ndarray, rows: Axis, cols: Axis) -> float:
    """Time on one thread, infinite where it is not possible. Depends on shapes only.  w: (kernel rows, kernel columns, C, K)."""
    if not can_take(rows, cols):
        return math.inf
    row, col = reading(rows), reading(cols)
    n_windows, taps, made = len(dy) * row.out * col.out, row.kernel * col.kernel * dy.shape[3], _n_made(w, rows, cols)
    copied = made * COPY_NS + rows.stride * PIECE_NS
    return n_windows * (taps * (0.25 + 2 * made / 180) + copied)


def has_zeros(rows: Axis, cols: Axis) -> bool:
    """Whether some phase has fewer taps than others, so that zeros are multiplied with what is no number, perhaps."""
    return rows.kernel % rows.stride > 0 or cols.kernel % cols.stride > 0


def input_gradient(dy: np.ndarray, w: np.ndarray, rows: Axis, cols: Axis, dx: np.ndarray) -> None:
    """dx = what each input contributed.

    dy: (N, rows, columns, K) contiguous.  w: (kernel rows, kernel columns, C, K).  dx: (N, H, W, C) contiguous.
    """
    row, col = reading(rows), reading(cols)
    by_phase = _filter(w, rows, cols)

    @each_block(blocks(len(dy), row, col, by_phase.shape[0] * dy.itemsize))
    def run(block: Block) -> None:
        windows = lay_out(dy, row, col, block)
        made = scratch("sub-pixels", (len(windows), by_phase.shape[1]), dy.dtype)
        multiply_stacked(windows, by_phase, made)
        shape = (block.last - block.first, block.bottom - block.top, col.out, rows.stride, cols.stride, w.shape[2])
        _interleave(made.reshape(shape), block.top, rows, cols, dx[block.first : block.last])


def _n_made(w: np.ndarray, rows: Axis, cols: Axis) -> int:
    """Values that one window gives."""
    return rows.stride * cols.stride * int(w.shape[2])


def _filter(w: np.ndarray, rows: Axis, cols: Axis) -> np.ndarray:
    """The taps of all phases side by side.  Returns: (taps of a window * K, phases * C)."""
    row, col = reading(rows), reading(cols)
    made = np.zeros((row.kernel, col.kernel, w.shape[3], rows.stride, cols.stride, w.shape[2]), w.dtype)
    for (y, down), (x, across) in itertools.product(_taps(rows), _taps(cols)):
        part = w[y :: rows.stride, x :: cols.stride]
        made[down, across, :, y, x] = part.swapaxes(2, 3)
    return made.reshape(-1, _n_made(w, rows, cols))


def _taps(axis: Axis) -> Iterator[tuple[int, slice]]:
    """Each phase with the places of its taps in a window, the last place for the first tap."""
    n_places = reading(axis).kernel
    for phase in range(min(axis.stride, axis.kernel)):
        n_taps = len(range(phase, axis.kernel, axis.stride))
        stop = n_places - 1 - n_taps
        yield phase, slice(n_places - 1, stop if stop >= 0 else None, -1)


def _interleave(made: np.ndarray, top: int, rows: Axis, cols: Axis, dx: np.ndarray) -> None:
    """Every pixel to its place.  made: (n, windows down, windows across, phases down, phases across, C).  top: its first row."""
    first = (rows.before // rows.stride + top) * rows.stride - rows.before
    for phase in range(rows.stride):
        start = first + phase
        skipped = 1 if start < 0 else 0
        lines = dx[:, start + skipped * rows.stride : first + made.shape[1] * rows.stride : rows.stride]
        _write_lines(made[:, skipped : skipped + lines.shape[1], :, phase], cols, lines)


def _write_lines(made: np.ndarray, cols: Axis, lines: np.ndarray) -> None:
    """made: (n, lines, windows, phases, C).  lines: (n, lines, W, C): the windows' pixels without those outside of the image."""
    n, height, width, depth = lines.shape
    outside = cols.before % cols.stride
    begun = (cols.stride - outside) if outside else 0
    whole = (width - begun) // cols.stride if width > begun else 0
    first = 1 if begun else 0
    if begun:
        lines[:, :, :begun] = made[:, :, 0, outside : outside + width]
    target = lines[:, :, begun : begun + whole * cols.stride]
    target.reshape(n, height, whole, cols.stride, depth)[...] = made[:, :, first : first + whole]
    rest = begun + whole * cols.stride
    if rest < width:
        lines[:, :, rest:] = made[:, :, first + whole, : width - rest]
