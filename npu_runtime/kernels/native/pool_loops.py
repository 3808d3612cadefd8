"""Maxima of windows of two by two pixels that lie side by side, and their gradients, in one pass over fp32.

A pair of lines of inputs has the shape (2, columns, C); (pairs, 2, columns, C) are all of them, results (pairs, columns / 2, C).
Pairs [start, stop) are worked on.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from npu_runtime.kernels.native.compiled import loop

Pairs = Any
"""A (pairs, 2, columns, C) array of fp32."""
Results = Any
"""A (pairs, columns / 2, C) array of fp32."""
LOWEST = np.float32(np.finfo(np.float32).min)


@loop("void(f4[:,:,:,::1], f4[:,:,::1], i8, i8, f4)")
def largest(x: Pairs, out: Results, start: int, stop: int, one: np.float32) -> None:
    """out = the largest number of each window, no less than the lowest finite one; of equal ones the last of the last column.

    one: 1, by which results are multiplied, so that a denormal becomes zero where they are flushed; written as a number here it
    would be left out.
    """
    for n in range(start, stop):
        for j in range(out.shape[1]):
            top, top_right = x[n, 0, 2 * j], x[n, 0, 2 * j + 1]
            bottom, bottom_right = x[n, 1, 2 * j], x[n, 1, 2 * j + 1]
            best = out[n, j]
            for c in range(best.size):
                most = top[c] if top[c] >= LOWEST else LOWEST
                most = bottom[c] if bottom[c] >= most else most
                most = top_right[c] if top_right[c] >= most else most
                most = bottom_right[c] if bottom_right[c] >= most else most
                best[c] = most * one


@loop("void(f4[:,:,:,::1], f4[:,:,::1], f4[:,:,::1], f4[:,:,:,::1], i8, i8, i8[::1])")
def gradient(x: Pairs, y: Results, dy: Results, dx: Pairs, start: int, stop: int, n_odd: Any) -> None:
    """dx = each gradient at the first input of its window that equals y, else 0.

    n_odd: (1,) int64, counts windows that hold no such input, and those whose sum is no number; then dx is not to be used.
    """
    none = np.float32(0)
    for n in range(start, stop):
        odd = 0
        for j in range(y.shape[1]):
            top, top_right = x[n, 0, 2 * j], x[n, 0, 2 * j + 1]
            bottom, bottom_right = x[n, 1, 2 * j], x[n, 1, 2 * j + 1]
            to_top, to_top_right = dx[n, 0, 2 * j], dx[n, 0, 2 * j + 1]
            to_bottom, to_bottom_right = dx[n, 1, 2 * j], dx[n, 1, 2 * j + 1]
            sought, given = y[n, j], dy[n, j]
            for c in range(sought.size):
                is_top = top[c] == sought[c]
                is_top_right = (top_right[c] == sought[c]) & (not is_top)
                is_above = is_top | is_top_right
                is_bottom = (bottom[c] == sought[c]) & (not is_above)
                is_found = is_above | is_bottom
                is_last = (bottom_right[c] == sought[c]) & (not is_found)
                to_top[c] = given[c] if is_top else none
                to_top_right[c] = given[c] if is_top_right else none
                to_bottom[c] = given[c] if is_bottom else none
                to_bottom_right[c] = given[c] if is_last else none
                total = (top[c] + top_right[c]) + (bottom[c] + bottom_right[c])
                odd += (total != total) | (not (is_found | is_last))
        n_odd[0] += odd


@loop("void(f4[:,:,:,::1], f4[:,:,::1], f4[:,:,::1], f4[:,:,:,::1], f4[:,:,::1], i8, i8, i8[::1])")
def relu_gradient(x: Pairs, y: Results, dy: Results, dx: Pairs, passed: Results, start: int, stop: int, n_odd: Any) -> None:
    """passed = dy where y is positive, else dy times 0; dx = that at the first input of its window that equals a positive y.

    dx is 0 elsewhere.  n_odd: (1,) int64, counts windows whose sum is no number; then dx is not to be used.
    """
    one, none = np.float32(1), np.float32(0)
    for n in range(start, stop):
        odd = 0
        for j in range(y.shape[1]):
            top, top_right = x[n, 0, 2 * j], x[n, 0, 2 * j + 1]
            bottom, bottom_right = x[n, 1, 2 * j], x[n, 1, 2 * j + 1]
            to_top, to_top_right = dx[n, 0, 2 * j], dx[n, 0, 2 * j + 1]
            to_bottom, to_bottom_right = dx[n, 1, 2 * j], dx[n, 1, 2 * j + 1]
            sought, given, kept = y[n, j], dy[n, j], passed[n, j]
            for c in range(sought.size):
                is_positive = sought[c] > none
                share = given[c] * (one if is_positive else none)
                kept[c] = share
                is_top = is_positive & (top[c] == sought[c])
                is_top_right = is_positive & (top_right[c] == sought[c]) & (not is_top)
                is_above = is_top | is_top_right
                is_bottom = is_positive & (bottom[c] == sought[c]) & (not is_above)
                is_last = is_positive & (bottom_right[c] == sought[c]) & (not (is_above | is_bottom))
                to_top[c] = share if is_top else none
                to_top_right[c] = share if is_top_right else none
                to_bottom[c] = share if is_bottom else none
                to_bottom_right[c] = share if is_last else none
                total = (top[c] + top_right[c]) + (bottom[c] + bottom_right[c])
                odd += total != total
        n_odd[0] += odd
