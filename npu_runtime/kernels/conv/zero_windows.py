"""Windows of an image that hold nothing but zeros: their sums must be zero exactly, as a direct sum is.

Winograd's outputs are sums of more than their window, in which what does not belong cancels up to rounding. Behind a bias of zero
the sign of that rounding would tell whether a ReLU passes a gradient: the blank margins of handwritten digits are such windows,
and so are the places where a ReLU let nothing through.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from npu_runtime.kernels.threads.parallel import parallel_ranges, scratch
from npu_runtime.kernels.windows.windows import Axis

_PIXELS = 1 << 16
"""Pixels of the piece of an image that one thread looks at."""
FIRST_CHANNELS = 4
"""Channels that are looked at first. Behind a ReLU half of a channel's elements are zero, so a sixteenth of the pixels is left
to look at as a whole."""


def blank_windows(x: np.ndarray, rows: Axis, cols: Axis) -> np.ndarray | None:
    """The outputs whose windows are zero in all elements, as (N, rows, columns) bool; None where there are none.

    x: (N, H, W, C).  What lies outside of the image is zero.
    """
    if not _may_be_blank(x, rows, cols):
        return None
    windows = _all_seen(_all_seen(_blank_pixels(x), rows, 1), cols, 2)
    return windows if windows.any() else None


def _may_be_blank(x: np.ndarray, rows: Axis, cols: Axis) -> bool:
    """Whether one of the pixels is blank that every window has one of.  Looks at a few channels first: most images have none."""
    grid = [(down, along) for down in _grid(rows) for along in _grid(cols)]
    found = [True] if not grid else []

    def look(start: int, stop: int) -> None:
        for down, along in grid:
            if not found and _has_blank(x[start:stop, down, along]):
                found.append(True)

    parallel_ranges(len(x), look, _images(x))
    return bool(found)


def _has_blank(pixels: np.ndarray) -> bool:
    """Whether one of them is zero in all channels.  pixels: (..., C), any strides."""
    are_zero = pixels[..., 0] == 0
    for channel in range(1, min(FIRST_CHANNELS, pixels.shape[-1])):
        if not are_zero.any():
            return False
        are_zero &= pixels[..., channel] == 0
    return not pixels[are_zero].any(axis=-1).all()


@lru_cache(maxsize=4096)
def _grid(axis: Axis) -> tuple[slice, ...]:
    """The fewest positions of which every window has one. Empty where taps are dilated or a window has none in the image."""
    if axis.dilation > 1:
        return ()
    chosen: list[int] = []
    for output in range(axis.out):
        start, stop = (min(max(edge, 0), axis.extent) for edge in axis.reach(output, output + 1))
        if start == stop:
            return ()
        if not chosen or chosen[-1] < start:
            chosen.append(stop - 1)
    step = chosen[1] - chosen[0] if len(chosen) > 1 else 1
    n_regular = sum(position == chosen[0] + index * step for index, position in enumerate(chosen))
    regular = slice(chosen[0], chosen[n_regular - 1] + 1, step)
    return (regular, *(slice(position, position + 1) for position in chosen[n_regular:]))


def _images(x: np.ndarray) -> int:
    """Images of a piece."""
    return max(1, _PIXELS // (x.shape[1] * x.shape[2]))


def _blank_pixels(x: np.ndarray) -> np.ndarray:
    """The pixels whose channels are all zero.  x: (N, H, W, C).  Returns: (N, H, W) bool."""
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
