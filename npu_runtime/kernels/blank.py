"""Which windows of an image hold nothing but zeros: their sums must be zero exactly, as a direct sum is.

Winograd's outputs are sums of more than their window, in which what does not belong cancels up to rounding. Behind a bias of zero
the sign of that rounding would tell whether a ReLU passes a gradient: the blank margins of handwritten digits are such windows,
and so are the places where a ReLU let nothing through.
"""

from __future__ import annotations

import numpy as np

from npu_runtime.kernels.parallel import parallel_ranges, scratch
from npu_runtime.kernels.windows import Axis

_PIXELS = 1 << 16
"""Of a piece."""


def blank_windows(x: np.ndarray, rows: Axis, cols: Axis) -> np.ndarray | None:
    """The outputs whose windows are zero in all elements, as (N, rows, columns) bool; None where there are none.

    x: (N, H, W, C).  What lies outside of the image is zero.
    """
    if not _may_be_blank(x, rows, cols):
        return None
    by_rows = _all_seen(_blank_pixels(x), rows, 1)
    if not by_rows.any():
        return None
    windows = _all_seen(by_rows, cols, 2)
    return windows if windows.any() else None


def _may_be_blank(x: np.ndarray, rows: Axis, cols: Axis) -> bool:
    """Whether one of the pixels is blank that every window has one of.  Looks at one channel first: most images have none."""
    down, along = _least_inside(rows), _least_inside(cols)
    found: list[bool] = []

    def look(start: int, stop: int) -> None:
        pixels = x[start:stop, down - 1 :: down, along - 1 :: along]
        if not found and (pixels[..., 0] == 0).any() and (np.einsum("...c->...", pixels) == 0).any():
            found.append(True)

    parallel_ranges(len(x), look, _images(x))
    return bool(found)


def _images(x: np.ndarray) -> int:
    """Images of a piece."""
    return max(1, _PIXELS // (x.shape[1] * x.shape[2]))


def _least_inside(axis: Axis) -> int:
    """How many positions of an image a window covers at least."""
    after = max(0, axis.reach(0, axis.out)[1] - axis.extent)
    return min(axis.extent, max(1, axis.kernel - max(axis.before, after)))


def _blank_pixels(x: np.ndarray) -> np.ndarray:
    """Where all channels are zero.  x: (N, H, W, C).  Returns: (N, H, W) bool."""
    blank = np.empty(x.shape[:3], bool)
    ones = np.ones(x.shape[3], x.dtype)

    def look(start: int, stop: int) -> None:
        sizes = scratch("blank sizes", (stop - start, *x.shape[1:]), x.dtype)
        np.equal(np.matmul(np.abs(x[start:stop], out=sizes), ones), 0, out=blank[start:stop])

    parallel_ranges(len(x), look, _images(x))
    return blank


def _all_seen(blank: np.ndarray, axis: Axis, place: int) -> np.ndarray:
    """Whether all that an output sees along an axis is blank.  blank: (N, H, W) bool.  place: of the axis in it."""
    seen = np.ones((*blank.shape[:place], axis.out, *blank.shape[place + 1 :]), bool)
    before = (slice(None),) * place
    for index in range(axis.kernel):
        outputs, inputs = axis.tap(index, 0, axis.out)
        to, of = (*before, outputs), (*before, inputs)
        np.logical_and(seen[to], blank[of], out=seen[to])
    return seen
