"""Maxima of any windows, and the gradient to the inputs that were chosen, in the order of numpy's passes and in fp32.

Inputs are (N, H, W, C), results (N, rows, columns, C). An axis is the kernel, the stride, and the padding before the image: a tap
of output o reads input o * stride - before + tap. Images [start, stop) are worked on.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from npu_runtime.kernels.native.compiled import loop

Images = Any
"""An (N, H, W, C) array of fp32, contiguous."""
Axis = tuple[int, int, int]
LOWEST = np.float32(np.finfo(np.float32).min)


@loop("void(f4[:,:,:,::1], f4[:,:,:,::1], UniTuple(i8, 3), UniTuple(i8, 3), i8[::1], i8[::1], i8, i8, f4)")
def largest(
    x: Images, out: Images, row: Axis, col: Axis, row_taps: Any, column_taps: Any, start: int, stop: int, one: np.float32
) -> None:  # fmt: skip
    """out = the largest number of each window, no less than the lowest finite one; of equal ones that of the last tap.

    row_taps, column_taps: the order that taps are looked at in, rows first.  one: 1; see `pool_loops.largest`.
    """
    _, row_step, above = row
    _, column_step, before = col
    depth = x.shape[3]
    line = np.empty(x.shape[2] * depth, np.float32)
    for n in range(start, stop):
        for i in range(out.shape[1]):
            line[:] = LOWEST
            for r in row_taps:
                h = i * row_step - above + r
                if 0 <= h < x.shape[1]:
                    seen = x[n, h].reshape(line.size)
                    for c in range(line.size):
                        line[c] = seen[c] if seen[c] >= line[c] else line[c]
            for j in range(out.shape[2]):
                best = out[n, i, j]
                best[:] = LOWEST
                for q in column_taps:
                    w = j * column_step - before + q
                    if 0 <= w < x.shape[2]:
                        seen = line[w * depth : (w + 1) * depth]
                        for c in range(depth):
                            best[c] = seen[c] if seen[c] >= best[c] else best[c]
                for c in range(depth):
                    best[c] = best[c] * one


@loop(
    "void(f4[:,:,:,::1], f4[:,:,:,::1], f4[:,:,:,::1], f4[:,:,:,::1], b1, UniTuple(i8, 3), UniTuple(i8, 3), b1[::1], b1[::1], "
    "i8, i8, i8[::1])"
)
def gradient(
    x: Images, dy: Images, dx: Images, passed: Images, is_relu: bool, row: Axis, col: Axis, row_sets: Any, column_sets: Any,
    start: int, stop: int, n_odd: Any,
) -> None:  # fmt: skip
    """dx = each gradient at the first largest input of its window: first to a row, in `spread`, then to a column of it.

    passed: with is_relu, dy where the largest input is positive, else dy times 0, which is then what is routed.
    row_sets, column_sets: of each tap, whether it writes to its inputs first, so that it does not add to zeros.
    n_odd: of each image, int64, the inputs that are no number; where there is one, dx is not to be used.
    """
    kernel_rows, row_step, above = row
    kernel_columns, column_step, before = col
    height, width, depth = x.shape[1], x.shape[2], x.shape[3]
    n_rows, n_columns = dy.shape[1], dy.shape[2]
    one, none = np.float32(1), np.float32(0)
    lines = np.empty((height, n_columns * depth), np.float32)
    spread = np.empty((height, n_columns * depth), np.float32)
    most, left = np.empty(n_columns * depth, np.float32), np.empty(n_columns * depth, np.float32)
    for n in range(start, stop):
        odd = np.int32(0)
        for h in range(height):
            pixels = x[n, h].reshape(width * depth)
            for c in range(pixels.size):
                odd += np.int32(pixels[c] != pixels[c])
            lines[h, :] = -np.inf
            for j in range(n_columns):
                best = lines[h, j * depth : (j + 1) * depth]
                for q in range(kernel_columns):
                    w = j * column_step - before + q
                    if 0 <= w < width:
                        seen = pixels[w * depth : (w + 1) * depth]
                        for c in range(depth):
                            best[c] = seen[c] if seen[c] > best[c] else best[c]
        n_odd[n] = odd
        spread[:] = none
        for i in range(n_rows - 1, -1, -1):  # so that an input gets the gradients of its taps in their order
            most[:] = -np.inf
            for r in range(kernel_rows):
                h = i * row_step - above + r
                if 0 <= h < height:
                    seen = lines[h]
                    for c in range(most.size):
                        most[c] = seen[c] if seen[c] > most[c] else most[c]
            given, kept = dy[n, i].reshape(most.size), passed[n, i].reshape(most.size)
            if is_relu:
                for c in range(most.size):
                    left[c] = given[c] * (one if most[c] > none else none)
                    kept[c] = left[c]
            else:
                left[:] = given
            for r in range(kernel_rows):
                h = i * row_step - above + r
                if 0 <= h < height:
                    seen, target, is_first = lines[h], spread[h], row_sets[r]
                    for c in range(most.size):
                        is_it = seen[c] == most[c]
                        share = left[c] if is_it else none
                        left[c] = none if is_it else left[c]
                        target[c] = share if is_first else target[c] + share
        dx[n] = none
        for h in range(height):
            for j in range(n_columns - 1, -1, -1):
                most_here, rest = lines[h, j * depth : (j + 1) * depth], spread[h, j * depth : (j + 1) * depth]
                for q in range(kernel_columns):
                    w = j * column_step - before + q
                    if 0 <= w < width:
                        seen, target, is_first = x[n, h, w], dx[n, h, w], column_sets[q]
                        for c in range(depth):
                            is_it = seen[c] == most_here[c]
                            share = rest[c] if is_it else none
                            rest[c] = none if is_it else rest[c]
                            target[c] = share if is_first else target[c] + share
