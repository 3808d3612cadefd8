"""Whether an image has places where all channels are zero: their windows must give zero exactly, as a direct sum does.

Winograd's outputs are sums of more than their window, in which what does not belong cancels up to rounding. Behind a bias of zero
the sign of that rounding would tell whether a ReLU passes a gradient: the blank margins of handwritten digits are such windows.
"""

from __future__ import annotations

import numpy as np

from npu_runtime.kernels.parallel import parallel_ranges
from npu_runtime.kernels.windows import Axis

MOST_CANDIDATES = 4096
"""Blank pixels whose neighbours are looked at; with more there are surely blank places."""
_PIXELS = 1 << 16
"""Of a piece."""


def has_blank_windows(x: np.ndarray, rows: Axis, cols: Axis) -> bool:
    """Whether a window may be zero in all its elements; never False when one is.

    x: (N, H, W, C).  The part of a blank window that lies in the image holds one of the pixels of a grid, and pixels beside and
    above or below that one, if it has any, that are blank too.
    """
    down, along = _least_inside(rows), _least_inside(cols)
    found: list[np.ndarray] = []

    def look(start: int, stop: int) -> None:
        pixels = x[start:stop, down - 1 :: down, along - 1 :: along]
        if not (pixels[..., 0] == 0).any():
            return
        image, row, col = np.nonzero(_is_blank(pixels))
        if len(image):
            found.append(np.stack([image + start, row * down + down - 1, col * along + along - 1]))

    parallel_ranges(len(x), look, max(1, _PIXELS // (x.shape[1] * x.shape[2])))
    if not found:
        return False
    places = np.concatenate(found, axis=1)
    return places.shape[1] > MOST_CANDIDATES or bool(
        _has_blank_neighbours(x, places[0], places[1], places[2], down > 1, along > 1).any()
    )


def _least_inside(axis: Axis) -> int:
    """How many positions of an image a window covers at least."""
    after = max(0, axis.reach(0, axis.out)[1] - axis.extent)
    return min(axis.extent, max(1, axis.kernel - max(axis.before, after)))


def _is_blank(pixels: np.ndarray) -> np.ndarray:
    """(...) bool of (..., C); a sum of zero that is none is as good, and rare."""
    return np.einsum("...c->...", pixels) == 0.0


def _has_blank_neighbours(
    x: np.ndarray, image: np.ndarray, row: np.ndarray, col: np.ndarray, is_high: bool, is_wide: bool
) -> np.ndarray:
    """Which pixels have a blank one above or below, where windows are high, and one beside; outside of an image all is blank."""

    def blank(down: int, along: int) -> np.ndarray:
        i, j = row + down, col + along
        is_outside = (i < 0) | (j < 0) | (i >= x.shape[1]) | (j >= x.shape[2])
        return is_outside | _is_blank(x[image, np.clip(i, 0, x.shape[1] - 1), np.clip(j, 0, x.shape[2] - 1)])

    beside = blank(0, -1) | blank(0, 1) if is_wide else np.ones(len(row), bool)
    return beside & (blank(-1, 0) | blank(1, 0)) if is_high else beside
