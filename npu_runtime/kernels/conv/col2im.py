"""The gradient by an image of few channels: every output's gradient times the whole filter, added where its taps had read.

A convolution of the gradient would lay out windows of many channels for results of one or two. Here one product gives what
each output sends to each tap, tap by tap in planes that are as large as the outputs, and each plane is added to the image.
"""

from __future__ import annotations

import numpy as np

from npu_runtime.kernels.threads.parallel import parallel_ranges, scratch
from npu_runtime.kernels.windows.windows import Axis

BY_WINDOWS_NS = 0.15
"""Nanoseconds that the other ways take for each output, tap and filter, at the least."""
CHUNK_BYTES = 1 << 20
"""Bytes of the planes of one chunk of images, which stay in cache until they are added."""


MOST_BYTES = 32 << 20
"""Bytes of the planes of one image up to which a thread may hold them: scratch is kept for good, and one image is never cut."""


def is_small(w: np.ndarray, rows: Axis, cols: Axis) -> bool:
    """Whether the planes of an image are no more than `MOST_BYTES`.  w: (kernel rows, kernel columns, C, K)."""
    return 4 * w.size // max(w.shape[3], 1) * rows.out * cols.out <= MOST_BYTES


def is_worth_it(dy: np.ndarray, w: np.ndarray) -> bool:
    """Whether the image has few channels, and the gradient many for each of them. Depends on shapes only.

    A number of a plane is multiplied at 190 flops a ns and added in 0.8 ns, and each line of a plane begins in 15 ns.
    """
    channels, filters = w.shape[2:]
    return dy.dtype == np.float32 and channels * (0.8 + filters / 95 + 15 / dy.shape[2]) < BY_WINDOWS_NS * filters


def input_gradient(dy: np.ndarray, w: np.ndarray, rows: Axis, cols: Axis, dx: np.ndarray) -> None:
    """dx = what each input contributed.

    dy: (N, rows, columns, K) contiguous.  w: (kernel rows, kernel columns, C, K).  dx: (N, H, W, C).
    """
    filters = w.shape[3]
    taps = w.reshape(-1, filters)
    chunk = max(1, CHUNK_BYTES // (4 * len(taps) * rows.out * cols.out))

    def work(start: int, stop: int) -> None:
        for first in range(start, stop, chunk):
            last = min(first + chunk, stop)
            gradients = dy[first:last].reshape(-1, filters)
            sent = scratch("scattered taps", (len(taps), len(gradients)))
            np.matmul(taps, gradients.T, out=sent)
            planes = sent.reshape(*w.shape[:3], last - first, rows.out, cols.out)
            _add_planes(planes, rows, cols, dx[first:last])

    parallel_ranges(len(dy), work, chunk)


def _add_planes(planes: np.ndarray, rows: Axis, cols: Axis, dx: np.ndarray) -> None:
    """dx = the sum of all planes, each where its tap reads.  planes: (kernel rows, kernel columns, C, n, rows, columns)."""
    image = scratch("scattered image", (planes.shape[2], *dx.shape[:3]))
    image.fill(0)
    for row in range(rows.kernel):
        out_rows, in_rows = rows.tap(row, 0, rows.out)
        for col in range(cols.kernel):
            out_cols, in_cols = cols.tap(col, 0, cols.out)
            target = image[:, :, in_rows, in_cols]
            np.add(target, planes[row, col, :, :, out_rows, out_cols], out=target)
    np.copyto(dx, image.transpose(1, 2, 3, 0))
