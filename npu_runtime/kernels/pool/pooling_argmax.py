"""The largest element of every window together with its place, and the gradient that goes back to that place."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.cost.work import n_elements
from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.half_storage import store, widen
from npu_runtime.kernels.pool.pooling import pool_layout, pool_shape, refuse_depth_pool
from npu_runtime.kernels.shapes import same_as
from npu_runtime.kernels.threads.parallel import parallel_ranges
from npu_runtime.kernels.variable_access import shape_text
from npu_runtime.kernels.windows.windows import Axis, check_rank

Array = np.ndarray


def _two_shapes(images: Spec, /, *, ksize: Sequence[int], strides: Sequence[int], padding: str, **attrs: Any) -> list[Shape]:
    shape = pool_shape(images, ksize=ksize, strides=strides, padding=padding)
    return [shape, shape]


def _flops(inputs: Sequence[Spec], outputs: Sequence[Spec], attrs: dict[str, Any]) -> float:
    return float(math.prod(attrs["ksize"]) * n_elements(outputs[0]))


@kernel("MaxPoolWithArgmax", unit="vector", shape=_two_shapes, dtypes={"T": dt.NUMBERS, "Targmax": dt.INDICES}, estimate=_flops,
        refuse=refuse_depth_pool)  # fmt: skip
def max_pool_with_argmax(
    images: Array, /, *, ksize: Sequence[int], strides: Sequence[int], padding: str, Targmax: str = "int64",
    include_batch_in_index: bool = False,
) -> tuple[Array, Array]:  # fmt: skip
    """The largest element of each window and its flat place ((y * W + x) * C + c, the image's number in front if asked).

    images: (N, H, W, C).  Returns: two (N, H', W', C).  The first of equal elements wins.
    Raises: InvalidArgument for no images.
    Source: TensorFlow core/kernels/maxpooling_op.cc, SpatialMaxPoolWithArgMaxHelper.
    """
    check_rank("tensor_in", images.shape)
    if not images.size:
        raise InvalidArgument("tensor_in must not be empty")
    layout, extents = pool_layout(ksize, strides, padding, "NHWC")
    rows, cols = layout.axes(images.shape[1:3], extents)
    shape = (len(images), rows.out, cols.out, images.shape[3])
    best, places = np.zeros(shape, images.dtype), np.empty(shape, dt.to_numpy(Targmax))
    n_elements = math.prod(images.shape[1:])
    narrow = np.int32 if n_elements <= np.iinfo(np.int32).max else np.int64
    numbers = np.arange(n_elements, dtype=narrow).reshape(images.shape[1:])

    def work(start: int, stop: int) -> None:
        for image in range(start, stop):
            found = _winners(images[image], numbers, rows, cols, best[image])
            places[image] = found.astype(np.int64) + image * n_elements if include_batch_in_index else found

    parallel_ranges(len(images), work)
    return best, places


def _winners(image: Array, numbers: Array, rows: Axis, cols: Axis, best: Array) -> Array:
    """The numbers of the largest elements of an image's windows: (H', W', C), typed as `numbers`; the elements go to `best`."""
    found = np.full(best.shape, -1, numbers.dtype)
    for row_tap, col_tap in np.ndindex(rows.kernel, cols.kernel):
        out_rows, in_rows = rows.tap(row_tap, 0, rows.out)
        out_cols, in_cols = cols.tap(col_tap, 0, cols.out)
        values, winners, theirs = image[in_rows, in_cols], best[out_rows, out_cols], found[out_rows, out_cols]
        is_better = (winners < values) | (theirs < 0)
        np.copyto(winners, values, where=is_better)
        np.maximum(theirs, numbers[in_rows, in_cols] * is_better, out=theirs)
    return found


@kernel("MaxPoolGradWithArgmax", unit="vector", shape=same_as(0), dtypes={"T": dt.NUMBERS, "Targmax": dt.INDICES},
        refuse=refuse_depth_pool)  # fmt: skip
def max_pool_grad_with_argmax(
    images: Array, grad: Array, argmax: Array, /, *, ksize: Sequence[int], strides: Sequence[int], padding: str,
    include_batch_in_index: bool = False, out: Array | None = None,
) -> Array:  # fmt: skip
    """Each window's gradient added to the element it chose.

    images: (N, H, W, C), only its shape counts.  grad, argmax: (N, H', W', C).  Raises: InvalidArgument for a wrong place.
    Source: TensorFlow core/kernels/maxpooling_op.cc, LaunchMaxPoolingGradWithArgmax.
    """
    check_rank("tensor_in", images.shape)
    layout, extents = pool_layout(ksize, strides, padding, "NHWC")
    expected = layout.out_shape(images.shape, extents, images.shape[3])
    if grad.shape != expected:
        raise InvalidArgument(f"Expected grad shape to be {shape_text(expected or ())}, but got {shape_text(grad.shape)}")
    if grad.shape != argmax.shape:
        raise InvalidArgument(f"Expected argmax shape to be {list(grad.shape)}, got {list(argmax.shape)}")
    places = argmax.reshape(len(argmax), math.prod(argmax.shape[1:])).astype(np.int64)
    if not include_batch_in_index:
        places = places + np.arange(len(places))[:, None] * math.prod(images.shape[1:])
    places = places.reshape(-1)
    if places.size and not (places.min() >= 0 and places.max() < images.size):
        wrong = places[(places < 0) | (places >= images.size)][0]
        raise InvalidArgument(f"Output only has {images.size} elements, tried to write to index {wrong}")
    wide = widen(grad)
    sums = np.zeros(images.size, wide.dtype)
    np.add.at(sums, places, wide.reshape(-1))
    return store(sums.reshape(images.shape), images.dtype, out)
