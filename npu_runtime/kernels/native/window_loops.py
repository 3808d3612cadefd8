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
    "void(f4[:,:,:,::1], f4[:,:,:,::1], f4[:,:,:,::1], b1, UniTuple(i8, 3), UniTuple(i8, 3), b1[::1], "
    "f4[:,:,::1], f4[:,:,::1], i8, i8, i8[::1])"
)
def route_to_rows(
    x: Images, dy: Images, passed: Images, is_relu: bool, row: Axis, col: Axis, sets: Any, lines: Any, spread: Any,
    start: int, stop: int, n_odd: Any,
) -> None:  # fmt: skip
    """spread = each gradient in the first row of its window that holds its largest input.

    passed: with is_relu, dy where the largest input is positive, else dy times 0, which is then what is routed.
    sets: of each tap, whether it writes to its inputs first, so that it does not add to zeros.
    lines, spread: (images, H, columns * C); lines takes the largest input of each window's part of a row.
    n_odd: of each image, int64, the inputs that are no number; where there is one, the result is not to be used.
    """
    height, width, depth = x.shape[1], x.shape[2], x.shape[3]
    one, none = np.float32(1), np.float32(0)
    most, left = np.empty(lines.shape[2], np.float32), np.empty(lines.shape[2], np.float32)
    for n in range(start, stop):
        odd = np.int32(0)
        for h in range(height):
            pixels = x[n, h].reshape(width * depth)
            for c in range(pixels.size):
                odd += np.int32(pixels[c] != pixels[c])
            lines[n - start, h, :] = -np.inf
            for j in range(dy.shape[2]):
                best = lines[n - start, h, j * depth : (j + 1) * depth]
                for w in range(max(0, j * col[1] - col[2]), min(width, j * col[1] - col[2] + col[0])):
                    seen = pixels[w * depth : (w + 1) * depth]
                    for c in range(depth):
                        best[c] = seen[c] if seen[c] > best[c] else best[c]
        n_odd[n] = odd
        spread[n - start] = none
        for i in range(dy.shape[1] - 1, -1, -1):  # so that an input gets the gradients of its taps in their order
            first = i * row[1] - row[2]
            most[:] = -np.inf
            for h in range(max(0, first), min(height, first + row[0])):
                seen = lines[n - start, h]
                for c in range(most.size):
                    most[c] = seen[c] if seen[c] > most[c] else most[c]
            given, kept = dy[n, i].reshape(most.size), passed[n, i].reshape(most.size)
            left[:] = given
            if is_relu:
                for c in range(most.size):
                    left[c] = given[c] * (one if most[c] > none else none)
                    kept[c] = left[c]
            for h in range(max(0, first), min(height, first + row[0])):
                seen, target, is_first = lines[n - start, h], spread[n - start, h], sets[h - first]
                for c in range(most.size):
                    is_it = seen[c] == most[c]
                    share = left[c] if is_it else none
                    left[c] = none if is_it else left[c]
                    target[c] = share if is_first else target[c] + share


@loop("void(f4[:,:,:,::1], f4[:,:,:,::1], UniTuple(i8, 3), b1[::1], f4[:,:,::1], f4[:,:,::1], i8, i8)")
def route_to_columns(
    x: Images, dx: Images, col: Axis, sets: Any, lines: Any, spread: Any, start: int, stop: int
) -> None:  # fmt: skip
    """dx = what `route_to_rows` has put into rows, at the first input there that is the window's largest; spread is used up."""
    depth, none = x.shape[3], np.float32(0)
    for n in range(start, stop):
        dx[n] = none
        for h in range(x.shape[1]):
            for j in range(lines.shape[2] // depth - 1, -1, -1):
                most, left = (
                    lines[n - start, h, j * depth : (j + 1) * depth],
                    spread[n - start, h, j * depth : (j + 1) * depth],
                )
                first = j * col[1] - col[2]
                for w in range(max(0, first), min(x.shape[2], first + col[0])):
                    seen, target, is_first = x[n, h, w], dx[n, h, w], sets[w - first]
                    for c in range(depth):
                        is_it = seen[c] == most[c]
                        share = left[c] if is_it else none
                        left[c] = none if is_it else left[c]
                        target[c] = share if is_first else target[c] + share
