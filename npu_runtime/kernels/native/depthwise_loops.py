"""Sums of products by channel over the taps of windows, in the order and with the roundings of numpy's einsum, in fp32.

Images are (N, H, W * C): pixels of a row side by side. `length` elements, those of some neighbouring pixels, are worked on as
one. Offsets along a row count elements.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from npu_runtime.kernels.native.compiled import loop

Rows = Any
"""An (N, H, W * C) array of fp32, contiguous."""


@loop("void(f4[:,:,::1], f4[:,:,::1], f4[:,:,::1], UniTuple(i8, 5), UniTuple(i8, 3), UniTuple(i8, 6))")
def tap_sums(x: Rows, w: Any, out: Rows, piece: Any, at: Any, steps: Any) -> None:
    """out = the sum over taps of what they see times w; three taps of a row, the commonest number, in one pass over the result.

    w: (row taps, column taps, length), the filter repeated for each of the pixels that are worked on as one.
    piece: images, rows and groups of pixels of the output, then the first image and the offset of its first input in a row.
    at: image, row and offset in `out` where the piece begins.
    steps: first input row, rows from one output to the next, elements from one group to the next; from one row tap to the next,
    from one column tap to the next; and elements from one group to the next in `out`.
    """
    n_images, n_rows, n_groups, image, left = piece
    top, row_step, group_step, row_tap, column_tap, out_step = steps
    length = w.shape[2]
    for n in range(n_images):
        for i in range(n_rows):
            for g in range(n_groups):
                begin = at[2] + g * out_step
                total = out[at[0] + n, at[1] + i, begin : begin + length]
                for c in range(length):
                    total[c] = np.float32(0)
                for r in range(w.shape[0]):
                    line = x[image + n, top + i * row_step + r * row_tap]
                    n_taps, first = w.shape[1], left + g * group_step
                    if n_taps == 3:
                        one, two, three = w[r, 0], w[r, 1], w[r, 2]
                        second, third = first + column_tap, first + 2 * column_tap
                        seen_one, seen_two = line[first : first + length], line[second : second + length]
                        seen_three = line[third : third + length]
                        for c in range(length):
                            total[c] = ((total[c] + seen_one[c] * one[c]) + seen_two[c] * two[c]) + seen_three[c] * three[c]
                        continue
                    for s in range(n_taps):
                        seen, taps = line[first : first + length], w[r, s]
                        for c in range(length):
                            total[c] += seen[c] * taps[c]
                        first += column_tap


@loop("void(f4[:,:,::1], f4[:,:,::1], f4[:,:,::1], UniTuple(i8, 5), UniTuple(i8, 2), UniTuple(i8, 5))")
def tap_products(x: Rows, dy: Rows, totals: Any, piece: Any, at: Any, steps: Any) -> None:
    """totals += the sum over outputs of what each tap sees times the output's gradient.

    totals: (row taps, column taps, length).  piece, steps: as for `tap_sums`, without the last step, which is `length` here.
    at: row and offset in `dy` where the piece begins; its images are those of x.
    """
    n_images, n_rows, n_groups, image, left = piece
    top, row_step, group_step, row_tap, column_tap = steps
    length = totals.shape[2]
    for n in range(image, image + n_images):
        for i in range(n_rows):
            for g in range(n_groups):
                begin = at[1] + g * length
                given = dy[n, at[0] + i, begin : begin + length]
                for r in range(totals.shape[0]):
                    line = x[n, top + i * row_step + r * row_tap]
                    for s in range(totals.shape[1]):
                        first = left + g * group_step + s * column_tap
                        seen, total = line[first : first + length], totals[r, s]
                        for c in range(length):
                            total[c] += seen[c] * given[c]
