"""Grey-scale dilation of images by a structuring function, and its gradients."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.errors import InvalidArgument, Unimplemented
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.half_storage import store, widen
from npu_runtime.kernels.pool.pooling import bands, lowest
from npu_runtime.kernels.shapes import same_as
from npu_runtime.kernels.threads.parallel import parallel_ranges, scratch
from npu_runtime.kernels.variable_access import shape_text
from npu_runtime.kernels.windows.windows import Axis, Layout, check_rank

Array = np.ndarray
BAND_ELEMENTS = 1 << 16
"""Pixels of a channel that are read for the rows done at a time: they and their sums stay in a core's cache."""


def _layout(strides: Sequence[int], rates: Sequence[int], padding: str) -> Layout:
    """Raises: Unimplemented for strides or rates of batch or channels.  Source: TensorFlow core/kernels/dilation_ops.cc."""
    for name, values in (("Stride", strides), ("Rate", rates)):
        if values[0] != 1 or values[3] != 1:
            raise Unimplemented(f"{name} is only supported across spatial dimensions: {shape_text(values)}")
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
    rows, cols = _axes(images, filter, _layout(strides, rates, padding))
    best = np.empty((len(images), rows.out, cols.out, images.shape[3]), images.dtype)
    along_cols = np.repeat(filter[:, :, None], cols.out, axis=2)
    todo = bands(len(images), rows, max(images[0, :1].size if images.size else 0, cols.out * best.shape[3]), BAND_ELEMENTS)

    def work(start: int, stop: int) -> None:
        for image, first, end in todo[start:stop]:
            _largest_sums(images[image], along_cols, (rows, cols), first, best[image, first:end])

    parallel_ranges(len(todo), work)
    return best


def _largest_sums(image: Array, filter: Array, axes: tuple[Axis, Axis], first: int, best: Array) -> None:
    """Rows of outputs from `first`.  filter: (h, w, W', C), as often as outputs, so that lines are added as a whole."""
    rows, cols = axes
    best[...] = lowest(best.dtype)
    for row, col in np.ndindex(rows.kernel, cols.kernel):
        out_rows, in_rows = rows.tap(row, first, first + len(best))
        out_cols, in_cols = cols.tap(col, 0, cols.out)
        winners, pixels = best[out_rows, out_cols], image[in_rows, in_cols]
        sums = np.add(pixels, filter[row, col, : pixels.shape[1]], out=scratch("dilation.sums", pixels.shape, best.dtype))
        np.fmax(winners, sums, out=winners)


def _axes(images: Array, filter: Array, layout: Layout) -> tuple[Axis, Axis]:
    check_rank("input", images.shape)
    check_rank("filter", filter.shape, 3)
    if images.shape[3] != filter.shape[2]:
        shapes = f"{shape_text(images.shape)} and {shape_text(filter.shape)}"
        raise InvalidArgument(f"input and filter must have the same depth: {shapes}")
    rows, cols = layout.axes(images.shape[1:3], filter.shape[:2])
    return rows, cols


def _winners(images: Array, filter: Array, layout: Layout) -> tuple[Array, Array, tuple[Axis, Axis]]:
    """(largest sums, which tap they are from, axes)."""
    rows, cols = _axes(images, filter, layout)
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


def _check_gradient(gradient: Array, taps: Array) -> None:
    if gradient.shape != taps.shape:
        given = f"{shape_text(gradient.shape)}, not {shape_text(taps.shape)}"
        raise InvalidArgument(f"out_backprop has incompatible size: {given}")


def _places(tap: int, rows: Axis, cols: Axis) -> tuple[tuple[slice, slice], tuple[slice, slice]]:
    return rows.tap(tap // cols.kernel, 0, rows.out), cols.tap(tap % cols.kernel, 0, cols.out)


@kernel("Dilation2DBackpropInput", unit="vector", shape=same_as(0), dtypes=dt.NUMBERS)
def dilation_2d_backprop_input(
    images: Array, filter: Array, out_backprop: Array, /, *, strides: Sequence[int], rates: Sequence[int], padding: str
) -> Array:
    """Each window's gradient to the pixel that won it.  Returns: as images.  Source: TensorFlow op `Dilation2DBackpropInput`."""
    _, taps, (rows, cols) = _winners(images, filter, _layout(strides, rates, padding))
    _check_gradient(out_backprop, taps)
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
    _check_gradient(out_backprop, taps)
    gradient = widen(out_backprop)
    made = np.zeros(filter.shape, gradient.dtype)
    for tap in range(math.prod(filter.shape[:2])):
        chosen = np.where(taps == tap, gradient, gradient.dtype.type(0))
        made[tap // cols.kernel, tap % cols.kernel] = chosen.sum(axis=(0, 1, 2), dtype=gradient.dtype)
    return store(made, filter.dtype, None)
