"""Gradient by the image of a convolution with a stride, for all phases of the stride at once.

Every stride-th line of the image is a convolution of the gradient without stride, by every stride-th row of the filter (see
`windows.phases`). All of them read the same lines of the gradient, which `column_winograd` transforms once; a phase with fewer
taps than the others has zeros for the rest.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

import numpy as np

from npu_runtime.kernels.conv.column_winograd import (
    are_packed,
    bands_of,
    blocks_of,
    cost_of,
    is_possible,
    multiply_columns,
    n_inside,
    transform_bands,
    transform_shifted,
)
from npu_runtime.kernels.conv.winograd_1d import finish_lines
from npu_runtime.kernels.threads.parallel import parallel_ranges, scratch
from npu_runtime.kernels.windows.windows import Axis, phases


@lru_cache(maxsize=4096)
def reading(axis: Axis) -> Axis:
    """The convolution without stride over the gradient whose windows hold those of all phases of an axis."""
    plain = [phase.axis for phase in phases(axis)]
    before = max(one.before for one in plain)
    kernel = max(one.kernel + before - one.before for one in plain)
    return Axis(axis.out, kernel, 1, 1, before, max(one.out for one in plain))


def cost_ns(dy: np.ndarray, w: np.ndarray, rows: Axis, cols: Axis) -> float:
    """Time on one thread, infinite where it is not possible or no faster way. Depends on shapes only.

    w: (kernel rows, kernel columns, C, K).
    """
    turned = w.swapaxes(2, 3)
    if not can_take(dy, w, rows, cols) or are_packed(reading(cols), dy.shape[3]):
        return math.inf
    taps = len(phases(rows)) * sum(n_inside(phase.axis) for phase in phases(cols))
    return cost_of(dy, turned, bands_of(reading(rows)), _as_written(cols), taps)


def can_take(dy: np.ndarray, w: np.ndarray, rows: Axis, cols: Axis) -> bool:
    """Whether there is a stride, every phase of it has taps, and `column_winograd` can take what all phases read."""
    if rows.stride * cols.stride == 1 or rows.dilation * cols.dilation > 1 or not (rows.out and cols.out):
        return False
    has_taps = all(phase.axis.kernel for axis in (rows, cols) for phase in phases(axis))
    return has_taps and is_possible(dy, w.swapaxes(2, 3), reading(rows), _as_written(cols))


def _as_written(cols: Axis) -> Axis:
    """An axis that reads as many columns as the gradient has and writes as many as the image."""
    return replace(cols, extent=cols.out, out=cols.extent)


def input_gradient(
    dy: np.ndarray, w: np.ndarray, rows: Axis, cols: Axis, dx: np.ndarray, look: Callable[[np.ndarray], object]
) -> None:
    """dx = what each input contributed, as `conv_gradients.input_gradient` where it is possible; one group.

    look: called with every part of dx that is finished.
    """
    bands = bands_of(reading(rows))
    by_phase = _filters(w, rows, cols)
    todo = blocks_of(len(dy), bands, _as_written(cols), dy.shape[3], dx.shape[3])

    def work(start: int, stop: int) -> None:
        for first, last in todo[start:stop]:
            points = transform_bands(dy[first:last], bands)
            shape = (bands.size, points.shape[2], *dx.shape[2:])
            for row, filters in zip(phases(rows), by_phase, strict=True):
                products = scratch("column products", shape)
                for col, by_point in zip(phases(cols), filters, strict=True):
                    target = products[:, :, col.start :: cols.stride]
                    multiply_columns(points, by_point, col.axis, target, is_alone=len(todo) == 1)
                made = scratch("column phase", (last - first, bands.rows.out, *dx.shape[2:]))
                finish_lines(products.reshape(bands.size, -1, dx.shape[3]), made, dx.shape[2], bands.step)
                dx[first:last, row.start :: rows.stride] = made[:, : row.axis.out]
            look(dx[first:last])

    parallel_ranges(len(todo), work)


def _filters(w: np.ndarray, rows: Axis, cols: Axis) -> list[list[np.ndarray]]:
    """The filters of each phase of the rows and of the columns, transformed."""
    shared = reading(rows)
    bands, pairs = bands_of(shared), list(itertools.product(phases(rows), phases(cols)))
    made: list[np.ndarray | None] = [None] * len(pairs)

    def work(start: int, stop: int) -> None:
        for index in range(start, stop):
            row, col = pairs[index]
            turned = w[row.taps, col.taps].swapaxes(2, 3)
            made[index] = transform_shifted(turned, bands, shared.before - row.axis.before)

    parallel_ranges(len(pairs), work)
    by_pair = [one for one in made if one is not None]
    count = len(phases(cols))
    return [by_pair[first : first + count] for first in range(0, len(by_pair), count)]
