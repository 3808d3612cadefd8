"""Grey-scale dilation of images by a structuring function, and its gradients."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.pooling import lowest
from npu_runtime.kernels.precision import store, widen
from npu_runtime.kernels.shapes import same_as
from npu_runtime.kernels.windows import Axis, Layout, check_rank

Array = np.ndarray


def _layout(strides: Sequence[int], rates: Sequence[int], padding: str) -> Layout:
    return Layout.of(strides, padding, "NHWC", dilations=rates)


def _shape(images: Spec, filter: Spec, /, *, strides: Sequence[int], rates: Sequence[int], padding: str) -> Shape:
    if images.shape is None or filter.shape is None:
        return None
    return _layout(strides, rates, padding).out_shape(images.shape, filter.shape[:2], images.shape[3])


def _flops(inputs: Sequence[Spec], outputs: Sequence[Spec], attrs: dict[str, Any]) -> float:
    """Source: TensorFlow flops_registry, _dilation2d_flops: a sum and a comparison a tap."""
    return 2.0 * math.prod(inputs[1].known_shape()[:2]) * math.prod(outputs[0].known_shape())


@kernel("Dilation2D", unit="vector", shape=_shape, dtypes=dt.NUMBERS, estimate=_flops)
def dilation_2d(images: Array, filter: Array, /, *, strides: Sequence[int], rates: Sequence[int], padding: str) -> Array:
    """The largest sum of a pixel and the filter's value over each window; padding counts as no pixel.

    images: (N, H, W, C).  filter: (h, w, C).  Returns: (N, H', W', C).  Source: TensorFlow op `Dilation2D`.
    """
    return _winners(images, filter, _layout(strides, rates, padding))[0]


def _winners(images: Array, filter: Array, layout: Layout) -> tuple[Array, Array, tuple[Axis, Axis]]:
    """(largest sums, which tap they are from, axes)."""
    check_rank("input", images.shape)
    check_rank("filter", filter.shape, 3)
    rows, cols = layout.axes(images.shape[1:3], filter.shape[:2])
    best = np.full((len(images), rows.out, cols.out, images.shape[3]), lowest(images.dtype), images.dtype)
    taps = np.zeros(best.shape, np.int32)
    for tap in range(rows.kernel * cols.kernel):
        (out_rows, in_rows), (out_cols, in_cols) = _places(tap, rows, cols)
        sums = images[:, in_rows, in_cols] + filter[tap // cols.kernel, tap % cols.kernel]
        winners, found = best[:, out_rows, out_cols], taps[:, out_rows, out_cols]
        is_larger = sums > winners
        np.copyto(winners, sums, where=is_larger)
        np.copyto(found, np.int32(tap), where=is_larger)
    return best, taps, (rows, cols)


def _places(tap: int, rows: Axis, cols: Axis) -> tuple[tuple[slice, slice], tuple[slice, slice]]:
    return rows.tap(tap // cols.kernel, 0, rows.out), cols.tap(tap % cols.kernel, 0, cols.out)


@kernel("Dilation2DBackpropInput", unit="vector", shape=same_as(0), dtypes=dt.NUMBERS)
def dilation_2d_backprop_input(
    images: Array, filter: Array, out_backprop: Array, /, *, strides: Sequence[int], rates: Sequence[int], padding: str
) -> Array:
    """Each window's gradient to the pixel that won it.  Returns: as images.  Source: TensorFlow op `Dilation2DBackpropInput`."""
    _, taps, (rows, cols) = _winners(images, filter, _layout(strides, rates, padding))
    gradient = widen(out_backprop)
    made = np.zeros(images.shape, gradient.dtype)
    for tap in range(rows.kernel * cols.kernel):
        (out_rows, in_rows), (out_cols, in_cols) = _places(tap, rows, cols)
        part, won = gradient[:, out_rows, out_cols], taps[:, out_rows, out_cols] == tap
        made[:, in_rows, in_cols] += np.where(won, part, part.dtype.type(0))
    return store(made, images.dtype, None)


@kernel("Dilation2DBackpropFilter", unit="vector", shape=same_as(1), dtypes=dt.NUMBERS)
def dilation_2d_backprop_filter(
    images: Array, filter: Array, out_backprop: Array, /, *, strides: Sequence[int], rates: Sequence[int], padding: str
) -> Array:
    """Each window's gradient to the filter's value that won it.  Source: TensorFlow op `Dilation2DBackpropFilter`."""
    _, taps, (_, cols) = _winners(images, filter, _layout(strides, rates, padding))
    gradient = widen(out_backprop)
    made = np.zeros(filter.shape, gradient.dtype)
    for tap in range(math.prod(filter.shape[:2])):
        chosen = np.where(taps == tap, gradient, gradient.dtype.type(0))
        made[tap // cols.kernel, tap % cols.kernel] = chosen.sum(axis=(0, 1, 2), dtype=gradient.dtype)
    return store(made, filter.dtype, None)
