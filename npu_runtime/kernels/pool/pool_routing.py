"""The gradient of a maximum to the inputs that were chosen: rows of windows first, then their columns.

The first largest input in row-major order is the first largest of its row, in the first row that holds the window's largest.
So both passes are over one axis, on whole lines, and look at half of the inputs where windows lie two apart.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from npu_runtime.kernels.half_storage import widen
from npu_runtime.kernels.native import pool_loops, window_loops
from npu_runtime.kernels.threads.parallel import parallel_ranges, scratch
from npu_runtime.kernels.threads.tiling import filled
from npu_runtime.kernels.windows.stride_phases import (
    Tap,
    copy_pixels,
    join_columns,
    phase_taps,
    repeat_columns,
    split_columns,
    split_rows,
)
from npu_runtime.kernels.windows.windows import Axis

Slices = tuple[slice, slice, slice]
ALL = slice(None)
NO_TAP = -1
"""The index that stands for no input of a window."""
LEAST_POSITIVE = float(np.finfo(np.float32).tiny)
BAND_ELEMENTS = 1 << 19
"""Inputs that one step works on. Of fewer, Python's share is too large; more do not stay in the cache."""
LOOP_ELEMENTS = 1 << 17
"""Inputs that a compiled loop takes on one thread: it needs some 100 us for them, twice as long as waking another one takes."""

ROUTED_ELEMENTS = 1 << 17
"""Elements between the two passes of a compiled loop, which stay in the L2 cache."""


@dataclass(frozen=True)
class Band:
    """Some rows of windows of some images: `inputs` are theirs, of which the first n_shared a band before has written to.

    rows: the axis as it is inside the band, where it begins at output and input 0.
    """

    images: slice
    outputs: slice
    inputs: slice
    n_shared: int
    rows: Axis

    @staticmethod
    def of(images: slice, rows: Axis, first: int, last: int) -> Band:
        """The band of output rows [first, last); those of an image take each of its rows together, read or not."""

        def begin_of(output: int) -> int:
            return min(rows.extent, max(0, output * rows.stride - rows.before)) if output else 0

        def end_of(output: int) -> int:
            reached = max(rows.reach(0, output)[1], output * rows.stride - rows.before)
            return rows.extent if output == rows.out else min(rows.extent, max(0, reached))

        start = begin_of(first)
        stop = max(start, end_of(last))
        shared = max(0, end_of(first) - start) if first else 0
        inside = replace(rows, extent=stop - start, before=start - first * rows.stride + rows.before, out=last - first)
        return Band(images, slice(first, last), slice(start, stop), shared, inside)


def bands(shape: Sequence[int], rows: Axis) -> list[list[Band]]:
    """Groups of bands; those of a group add to each other's rows.  shape: of the inputs."""
    n_images, _, n_columns, channels = shape
    elements = math.prod(shape)
    n_groups = 2 * -(-elements // (2 * BAND_ELEMENTS)) if 4 * elements > BAND_ELEMENTS else 1  # as many for each of two threads
    at_once = max(1, n_images // max(1, n_groups))
    height = rows.out if at_once > 1 else max(1, BAND_ELEMENTS // max(1, rows.stride * n_columns * channels))
    groups = []
    for image in range(0, n_images, at_once):
        images = slice(image, min(image + at_once, n_images))
        group = [Band.of(images, rows, row, min(row + height, rows.out)) for row in range(0, rows.out, height)]
        groups += [group] if rows.kernel > rows.stride else [[band] for band in group]
    return groups


def max_gradient(
    x: np.ndarray, y: np.ndarray, dy: np.ndarray, rows: Axis, cols: Axis, dx: np.ndarray, passed: np.ndarray | None = None
) -> None:
    """dx = the gradient of each window at its chosen input.  Channels last; dx: as x, of the type sums are formed in.

    passed: as dy, takes the gradients of the windows whose chosen input is positive; then only those count, as behind a Relu.
    """
    if not dy.size:
        dx.fill(0)
        return
    if _route_pairs(x, y, dy, rows, cols, dx, passed):
        return
    groups = bands(x.shape, rows)
    do_tile = all(a.kernel == a.stride and a.kernel * a.out == a.extent for a in (rows, cols))
    do_tile = do_tile and x.dtype == y.dtype and all(v.flags.c_contiguous for v in (x, y, dy, dx))
    if not do_tile and all(len(group) == 1 for group in groups) and _route_by_loop(x, dy, rows, cols, dx, passed):
        return

    def work(start: int, stop: int) -> None:
        for band in itertools.chain.from_iterable(groups[start:stop]):
            values, gradient = widen(x[band.images, band.inputs]), widen(dy[band.images, band.outputs])
            kept = None if passed is None else passed[band.images, band.outputs]
            target = dx[band.images, band.inputs]
            if values.dtype == np.float32:
                if do_tile and _route_tiles(values, widen(y[band.images, band.outputs]), gradient, band.rows, cols, target, kept):
                    continue
                if _route_by_axes(values, gradient, band, cols, target, kept):
                    continue
            _route_exactly(values, gradient, band, cols, target, kept)

    parallel_ranges(len(groups), work)


def _route_tiles(
    x: np.ndarray, y: np.ndarray, dy: np.ndarray, rows: Axis, cols: Axis, dx: np.ndarray, passed: np.ndarray | None
) -> bool:  # fmt: skip
    """`max_gradient` of a band in fp32 whose windows lie side by side and cover it: by whole rows, in hardly any passes.

    Each window's values are repeated to the length of its rows.  False where an input is no number or minus infinity.
    """
    if not np.minimum.reduce(x, axis=None) > -np.inf:
        return False
    sought, n_sought = y, y.size
    if passed is not None:  # what is not positive shall be found nowhere, as such windows are full of ties
        is_positive = scratch("pool positive", y.shape, np.bool_)
        np.greater(y, 0, out=is_positive)
        n_sought = np.count_nonzero(is_positive)
        dy = np.multiply(dy, is_positive, out=passed)
        sought = np.maximum(y, filled(LEAST_POSITIVE, y), out=scratch("pool sought", y.shape))
    in_rows = len(x), rows.out, rows.kernel, cols.extent * x.shape[3]
    is_it = scratch("pool equal", in_rows, np.bool_)
    np.equal(x.reshape(in_rows), repeat_columns(sought, cols.stride, "pool largest"), out=is_it)
    n_found = np.count_nonzero(is_it)
    if n_found < n_sought:
        return False
    if n_found > n_sought:
        _keep_first(is_it.reshape(len(x), rows.out, rows.kernel, cols.out, cols.kernel, x.shape[3]))
    gradient = repeat_columns(dy, cols.stride, "pool gradient")
    np.multiply(gradient.view(np.int32), is_it, out=dx.reshape(in_rows).view(np.int32))  # its bits, as it may be infinite
    return True


def _route_pairs(
    x: np.ndarray, y: np.ndarray, dy: np.ndarray, rows: Axis, cols: Axis, dx: np.ndarray, passed: np.ndarray | None
) -> bool:  # fmt: skip
    """`max_gradient` for windows of two by two side by side by compiled loops; False where there are none.

    False as well where a loop has met numbers that only the exact way settles.
    """
    arrays = (x, y, dy, dx, dy if passed is None else passed)
    if not (are_pairs(rows, cols) and pool_loops.gradient.takes(*arrays)):
        return False
    given = (*arrays, passed is not None, *(2 * axis.out < axis.extent for axis in (rows, cols)))
    n_odd = np.zeros(len(x), np.int64)
    parallel_ranges(len(x), lambda start, stop: pool_loops.gradient(*given, start, stop, n_odd), images_at_once(x))
    return not n_odd.any()


def images_at_once(x: np.ndarray) -> int:
    """The images that a compiled loop takes on one thread."""
    return max(1, LOOP_ELEMENTS * len(x) // max(1, x.size))


def _route_by_loop(
    x: np.ndarray, dy: np.ndarray, rows: Axis, cols: Axis, dx: np.ndarray, passed: np.ndarray | None
) -> bool:  # fmt: skip
    """`_route_by_axes` of whole images by a compiled loop, with the same bits; False where there is none.

    False as well where an input is no number.
    """
    kept = dy if passed is None else passed
    loops = (window_loops.route_to_rows, window_loops.route_to_columns)
    if not all(loop.takes(x, dy, dx, kept) for loop in loops):
        return False
    n_odd = np.zeros(len(x), np.int64)
    row, col = ((axis.kernel, axis.stride, axis.before) for axis in (rows, cols))
    line = cols.out * x.shape[3]
    at_once = max(1, ROUTED_ELEMENTS // max(1, rows.extent * line))

    def work(start: int, stop: int) -> None:
        for first in range(start, stop, at_once):
            last = min(first + at_once, stop)
            lines, spread = (scratch(f"pool {name}", (last - first, rows.extent, line)) for name in ("lines", "spread"))
            loops[0](x, dy, kept, passed is not None, row, col, _writes_first(rows), lines, spread, first, last, n_odd)
            loops[1](x, dx, col, _writes_first(cols), lines, spread, first, last)

    parallel_ranges(len(x), work, images_at_once(x))
    return not n_odd.any()


@lru_cache(maxsize=256)
def _writes_first(axis: Axis) -> np.ndarray:
    """Whether `_route` lets each tap write to its inputs, so that it does not add to zeros."""
    *earlier, last = [
        tap for tap in range(axis.kernel) if axis.tap(tap, 0, axis.out)[0].stop > axis.tap(tap, 0, axis.out)[0].start
    ]
    writes = np.zeros(axis.kernel, np.bool_)
    *before, final = phase_taps(axis, 0)
    writes[earlier] = [tap.is_alone for tap in before]
    writes[last] = final.is_alone and final.is_whole
    return writes


def are_pairs(rows: Axis, cols: Axis) -> bool:
    """Whether windows are two by two, side by side, and begin at the first pixel."""
    return all((axis.kernel, axis.stride, axis.before) == (2, 2, 0) and 2 * axis.out <= axis.extent for axis in (rows, cols))


def _keep_first(is_it: np.ndarray) -> None:
    """Clear all but the first tap that is set in a window.  is_it: (N, rows, taps, columns, taps, channels) bool."""
    taken = scratch("pool taken", (*is_it.shape[:2], is_it.shape[3], is_it.shape[5]), np.bool_)
    taken.fill(False)
    one = scratch("pool one tap", taken.shape, np.bool_)
    for row in range(is_it.shape[2]):
        for col in range(is_it.shape[4]):
            tap = is_it[:, :, row, :, col]
            copy_pixels(tap, one)
            np.greater(one, taken, out=one)  # set, and not taken
            np.logical_or(taken, one, out=taken)
            copy_pixels(one, tap)


def _route_by_axes(x: np.ndarray, dy: np.ndarray, band: Band, cols: Axis, dx: np.ndarray, passed: np.ndarray | None) -> bool:
    """`max_gradient` of a band in fp32; False and nothing done where a window holds a NaN."""
    shape = len(x), x.shape[1], cols.out, x.shape[3]
    down, across = phase_taps(band.rows, 1), phase_taps(cols, 2)
    columns = split_columns(x, cols.stride, "pool column")
    lines, largest = scratch("pool lines", shape), scratch("pool largest", dy.shape)
    _find_largest(columns, across, lines)
    lines_by_phase = split_rows(lines, band.rows.stride)
    _find_largest(lines_by_phase, down, largest)
    if not (down and across) or np.isnan(largest.min()):
        return False
    gradient = scratch("pool gradient", shape)
    left = dy if passed is None else np.multiply(dy, largest > 0, out=passed)
    _route(lines_by_phase, down, largest, left, split_rows(gradient, band.rows.stride))
    if cols.stride > 1 and all(tap.is_alone for tap in across):
        columns_gradient = columns  # copies, of which each is read once, and then written over
    else:
        columns_gradient = [scratch(f"pool column gradient {n}", part.shape) for n, part in enumerate(columns)]
    _route(columns, across, lines, gradient, columns_gradient)
    _write(columns_gradient, band.n_shared, dx)
    return True


def _write(columns: Sequence[np.ndarray], n_shared: int, dx: np.ndarray) -> None:
    """dx = the columns by phase, added to what is in its first n_shared rows."""
    if n_shared:
        before = dx[:, :n_shared]
        share = scratch("pool shared rows", before.shape)
        join_columns([part[:, :n_shared] for part in columns], share)
        np.add(before, share, out=before)
        columns, dx = [part[:, n_shared:] for part in columns], dx[:, n_shared:]
    join_columns(columns, dx)


def _find_largest(phases: Sequence[np.ndarray], taps: Sequence[Tap], out: np.ndarray) -> None:
    """out = the largest input of each window along an axis, NaN where there is one; -inf for no input."""
    taps = sorted(taps, key=lambda tap: not tap.is_whole)
    parts = [(out[tap.outputs], phases[tap.phase][tap.inputs]) for tap in taps]
    n_whole = sum(tap.is_whole for tap in taps[:2])
    if n_whole == 2:
        np.maximum(parts[0][1], parts[1][1], out=out)
    elif n_whole == 1:
        np.copyto(out, parts[0][1])
    else:
        out.fill(-np.inf)
    for target, values in parts[n_whole:]:
        np.maximum(target, values, out=target)


def _route(
    phases: Sequence[np.ndarray], taps: Sequence[Tap], largest: np.ndarray, gradient: np.ndarray, targets: Sequence[np.ndarray]
) -> None:
    """targets = each gradient at the first input of its window that equals `largest`; fp32 without NaN.

    phases, targets: the inputs and what they get, by phase of the stride; they may be the same where all taps are alone.
    """
    *earlier, last = taps
    is_direct = last.is_alone and last.is_whole
    left = targets[last.phase] if is_direct else scratch("pool left", gradient.shape)
    for phase in (
        set(range(len(targets))) - {tap.phase for tap in earlier if tap.is_alone} - ({last.phase} if is_direct else set())
    ):
        targets[phase].fill(0)
    if not earlier or not earlier[0].is_whole:
        np.copyto(left, gradient)
        gradient = left
    for tap in earlier:
        current, target = gradient[tap.outputs], targets[tap.phase][tap.inputs]
        share = target if tap.is_alone else scratch("pool share", current.shape)
        is_it = scratch("pool equal", current.shape, np.bool_)
        np.equal(phases[tap.phase][tap.inputs], largest[tap.outputs], out=is_it)
        np.multiply(current.view(np.int32), is_it, out=share.view(np.int32))  # its bits or none, as it may be infinite
        np.bitwise_xor(current.view(np.int32), share.view(np.int32), out=left[tap.outputs].view(np.int32))
        if not tap.is_alone:
            np.add(target, share, out=target)
        gradient = left
    if not is_direct:  # who has not found his input yet finds it here
        target = targets[last.phase][last.inputs]
        np.add(target, left[last.outputs], out=target)


def tap_slices(rows: Axis, cols: Axis) -> list[tuple[int, Slices, Slices]]:
    """(tap number, outputs, inputs) of every tap that reaches into the images, in TensorFlow's order."""
    found = []
    for row in range(rows.kernel):
        for col in range(cols.kernel):
            (out_rows, in_rows), (out_cols, in_cols) = rows.tap(row, 0, rows.out), cols.tap(col, 0, cols.out)
            if out_rows.stop > out_rows.start and out_cols.stop > out_cols.start:
                found.append((row * cols.kernel + col, (ALL, out_rows, out_cols), (ALL, in_rows, in_cols)))
    return found


def choose_taps(x: np.ndarray, rows: Axis, cols: Axis) -> tuple[np.ndarray, np.ndarray]:
    """(value, tap number) that each window settles on: its first input, replaced by any strictly greater one.

    x: (N, H, W, C).  Returns: (N, rows, columns, C) each; NO_TAP where a window holds no input.
    Source: TensorFlow core/kernels/maxpooling_op.cc, SpatialMaxPoolWithArgMaxHelper.
    """
    best = np.zeros((len(x), rows.out, cols.out, x.shape[3]), x.dtype)
    chosen = np.full(best.shape, NO_TAP, np.int16)
    for tap, outputs, inputs in tap_slices(rows, cols):
        value, current, number = x[inputs], best[outputs], chosen[outputs]
        take = (number == NO_TAP) | (value > current)
        np.copyto(current, value, where=take)
        np.copyto(number, np.int16(tap), where=take)
    return best, chosen


def _route_exactly(
    x: np.ndarray, dy: np.ndarray, band: Band, cols: Axis, dx: np.ndarray, passed: np.ndarray | None
) -> None:  # fmt: skip
    """`max_gradient` of a band to the inputs that `choose_taps` settles on, whatever the values."""
    value, chosen = choose_taps(x, band.rows, cols)
    if passed is not None:
        dy = np.multiply(dy, value > 0, out=passed)
    dx[:, band.n_shared :] = 0
    for tap, outputs, inputs in tap_slices(band.rows, cols):
        dx[inputs] += np.where(chosen[outputs] == tap, dy[outputs], dy.dtype.type(0))
