"""Maxima of windows of two by two pixels that lie side by side, and their gradients, in one pass over fp32.

Inputs are (N, H, W, C), results (N, rows, columns, C) of windows that begin at the first pixel; a row or column of inputs that is
left over is in none. Images [start, stop) are worked on.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from npu_runtime.kernels.native.compiled import loop

Images = Any
"""An (N, H, W, C) array of fp32, contiguous."""
LOWEST = np.float32(np.finfo(np.float32).min)


@loop("void(f4[:,:,:,::1], f4[:,:,:,::1], i8, i8, f4)")
def largest(x: Images, out: Images, start: int, stop: int, one: np.float32) -> None:
    """out = the largest number of each window, no less than the lowest finite one; of equal ones the last of the last column.

    one: 1, by which results are multiplied, so that a denormal becomes zero where they are flushed; written as a number here it
    would be left out.
    """
    for n in range(start, stop):
        for i in range(out.shape[1]):
            for j in range(out.shape[2]):
                top, top_right = x[n, 2 * i, 2 * j], x[n, 2 * i, 2 * j + 1]
                bottom, bottom_right = x[n, 2 * i + 1, 2 * j], x[n, 2 * i + 1, 2 * j + 1]
                best = out[n, i, j]
                for c in range(best.size):
                    most = top[c] if top[c] >= LOWEST else LOWEST
                    most = bottom[c] if bottom[c] >= most else most
                    most = top_right[c] if top_right[c] >= most else most
                    most = bottom_right[c] if bottom_right[c] >= most else most
                    best[c] = most * one


@loop("void(f4[:,:,:,::1], f4[:,:,:,::1], f4[:,:,:,::1], f4[:,:,:,::1], f4[:,:,:,::1], b1, b1, b1, i8, i8, i8[::1])")
def gradient(
    x: Images, y: Images, dy: Images, dx: Images, passed: Images, is_relu: bool, has_row: bool, has_column: bool,
    start: int, stop: int, n_odd: Any,
) -> None:  # fmt: skip
    """dx = each gradient at the first input of its window that equals y, else 0.

    passed: with is_relu, dy where y is positive, else dy times 0, which is then what is routed; where nothing is left over, 0 and
    never -0 is written then where y is not positive.
    has_row, has_column: whether inputs are left over below or to the right. Then numpy's way adds to zeros what goes to the first
    row or column of windows, and -0 becomes 0 there; what is added here is -0 where nothing shall change.
    n_odd: of each image, int64, the inputs that are no number, and the windows that hold none that equals y; where there is one,
    dx is not to be used.
    """
    one, none = np.float32(1), np.float32(0)
    first_row, first_column = none if has_row else -none, none if has_column else -none
    must_be_positive = is_relu and not (has_row or has_column)
    for n in range(start, stop):
        odd = np.int32(0)
        dx[n, 2 * y.shape[1] :] = none
        dx[n, :, 2 * y.shape[2] :] = none
        for i in range(2 * y.shape[1]):
            line = x[n, i].reshape(x.shape[2] * x.shape[3])
            for c in range(line.size):
                odd += np.int32(line[c] != line[c])
        for i in range(y.shape[1]):
            for j in range(y.shape[2]):
                top, top_right = x[n, 2 * i, 2 * j], x[n, 2 * i, 2 * j + 1]
                bottom, bottom_right = x[n, 2 * i + 1, 2 * j], x[n, 2 * i + 1, 2 * j + 1]
                to_top, to_top_right = dx[n, 2 * i, 2 * j], dx[n, 2 * i, 2 * j + 1]
                to_bottom, to_bottom_right = dx[n, 2 * i + 1, 2 * j], dx[n, 2 * i + 1, 2 * j + 1]
                sought, given, kept = y[n, i, j], dy[n, i, j], passed[n, i, j]
                for c in range(sought.size):
                    is_positive = sought[c] > none
                    may_pass = is_positive | (not must_be_positive)
                    share = given[c]
                    if is_relu:
                        share = share * (one if is_positive else none)
                        kept[c] = share
                    is_top = may_pass & (top[c] == sought[c])
                    is_top_right = may_pass & (top_right[c] == sought[c]) & (not is_top)
                    is_above = is_top | is_top_right
                    is_bottom = may_pass & (bottom[c] == sought[c]) & (not is_above)
                    is_last = may_pass & (bottom_right[c] == sought[c]) & (not (is_above | is_bottom))
                    to_top[c] = share + first_row + first_column if is_top else none
                    to_top_right[c] = share + first_row if is_top_right else none
                    to_bottom[c] = share + first_column if is_bottom else none
                    to_bottom_right[c] = share if is_last else none
                    odd += np.int32(may_pass & (not (is_above | is_bottom | is_last)))
        n_odd[n] = odd
