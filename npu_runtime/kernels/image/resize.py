"""Images brought to another size, bilinear or by the nearest pixel, and the gradients."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.cost.work import per_element, per_input_element
from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.half_storage import compute_dtype, store
from npu_runtime.kernels.shapes import constant_ints
from npu_runtime.kernels.threads.parallel import parallel_ranges, scratch
from npu_runtime.kernels.variable_access import shape_text

Array = np.ndarray
HALF = np.float32(0.5)
BAND_ELEMENTS = 1 << 18
"""Elements of the rows of the result done at a time: smaller bands take longer in calls of numpy than they gain in the caches."""


def scale_of(n_in: int, n_out: int, align_corners: bool) -> np.float32:
    """Input pixels a step of the output.  Source: TensorFlow core/util/image_resizer_state.h, CalculateResizeScale."""
    if align_corners and n_out > 1:
        return np.float32(n_in - 1) / np.float32(n_out - 1)
    return np.float32(n_in) / np.float32(n_out)


class Between(NamedTuple):
    """The places of the outputs of one axis: between inputs lower and upper, `lerp` of the way."""

    lower: Array
    upper: Array
    lerp: Array


def between(n_in: int, n_out: int, align_corners: bool, half_pixel_centers: bool) -> Between:
    """Source: TensorFlow core/kernels/image/resize_bilinear_op.cc, compute_interpolation_weights."""
    places = np.arange(n_out, dtype=np.float32)
    scale = scale_of(n_in, n_out, align_corners)
    source = (places + HALF) * scale - HALF if half_pixel_centers else places * scale
    floor = np.floor(source)
    lower = np.maximum(floor.astype(np.int64), 0)
    return Between(lower, np.minimum(np.ceil(source).astype(np.int64), n_in - 1), source - floor)


@lru_cache(1024)
def nearest(n_in: int, n_out: int, align_corners: bool, half_pixel_centers: bool) -> Array:
    """The input pixel of every output of one axis, never falling; nobody may write the array.

    Source: TensorFlow core/kernels/image/resize_nearest_neighbor_op.cc, compute_indices.
    """
    places = np.arange(n_out, dtype=np.float32)
    source = (places + HALF if half_pixel_centers else places) * scale_of(n_in, n_out, align_corners)
    rounded = np.floor(source.astype(np.float64) + 0.5 * align_corners)
    return np.clip(rounded.astype(np.int64), 0, n_in - 1)


def _resized_shape(images: Spec, size: Spec, /, **attrs: Any) -> Shape:
    batch, channels = (None, None) if images.shape is None else (images.shape[0], images.shape[3])
    height, width = constant_ints(size) or (None, None)
    return (batch, height, width, channels)


def refuse_centers(specs: Any, attrs: dict[str, Any]) -> str | None:
    """align_corners together with half_pixel_centers, for which TensorFlow raises."""
    both = attrs.get("align_corners") and attrs.get("half_pixel_centers")
    return "align_corners together with half_pixel_centers" if both else None


def _checked_size(images: Array, size: Array) -> tuple[int, int]:
    """Height and width. Raises: InvalidArgument for images or sizes that are none."""
    if images.ndim != 4:
        raise InvalidArgument(f"input must be 4-dimensional{shape_text(images.shape)}")
    if size.shape != (2,):
        raise InvalidArgument(f"shape_t must have two elements{shape_text(size.shape)}")
    if min(images.shape[1:3]) == 0:
        raise InvalidArgument("input image must be of non-zero size")
    if images.shape[3] == 0:
        raise InvalidArgument("image must have at least one channel")
    height, width = (int(n) for n in size)
    if height <= 0 or width <= 0:
        raise InvalidArgument("output dimensions must be positive")
    return height, width


@kernel("ResizeBilinear", unit="vector", shape=_resized_shape, dtypes=dt.NUMBERS, estimate=per_element(9), refuse=refuse_centers)
def resize_bilinear(
    images: Array, size: Array, /, *, align_corners: bool = False, half_pixel_centers: bool = False, out: Array | None = None
) -> Array:
    """Pixels interpolated along columns, then along rows; images that keep their size are copied.

    images: (N, H, W, C).  size: (2,) int32, height and width.  Returns: (N, height, width, C) fp32.
    Raises: InvalidArgument for empty images or sizes.  Source: TensorFlow op `ResizeBilinear`.
    """
    height, width = _checked_size(images, size)
    made = np.empty((len(images), height, width, images.shape[3]), np.float32) if out is None else out
    if made.shape == images.shape:
        made[...] = images
        return made
    rows = between(images.shape[1], height, align_corners, half_pixel_centers)
    cols = between(images.shape[2], width, align_corners, half_pixel_centers)
    used, (lower, upper) = _used(rows.lower, rows.upper)
    along_cols = np.repeat(cols.lerp[:, None], made.shape[3], axis=1)

    def work(image: int, start: int, stop: int) -> None:
        first, end = int(lower[start]), int(upper[stop - 1]) + 1
        narrow = images[image, used[first:end]].astype(np.float32, copy=False)
        wide = scratch("resize.wide", (end - first, *made.shape[2:]))
        _interpolate(narrow, Between(cols.lower, cols.upper, along_cols), 1, wide)
        places = Between(lower[start:stop] - first, upper[start:stop] - first, rows.lerp[start:stop, None, None])
        _interpolate(wide, places, 0, made[image, start:stop])

    _each_band(made, work)
    return made


def _used(*places: Array) -> tuple[Array, list[Array]]:
    """(the numbers among some that never fall, rising; where in them each is)."""
    used = np.unique(np.concatenate(places))
    return used, [np.searchsorted(used, each) for each in places]


def _each_band(images: Array, body: Callable[[int, int, int], None]) -> None:
    """Call body(image, first row, end row) for bands of (N, H, W, C), side by side."""
    n, height = images.shape[:2]
    if not images.size:
        return
    elements = images.size // n
    n_bands = min(height, -(-elements // BAND_ELEMENTS))

    def work(start: int, stop: int) -> None:
        for band in range(start, stop):
            image, part = divmod(band, n_bands)
            body(image, part * height // n_bands, (part + 1) * height // n_bands)

    parallel_ranges(n * n_bands, work, max(1, BAND_ELEMENTS // max(1, elements // n_bands)))


def _interpolate(x: Array, places: Between, axis: int, out: Array) -> None:
    """lower + (upper - lower) * lerp along one axis of (H, W, C); lerp: of a shape that goes with out's."""
    lower = scratch("resize.lower", out.shape)
    np.take(x, places.lower, axis=axis, out=lower, mode="clip")
    np.take(x, places.upper, axis=axis, out=out, mode="clip")
    out -= lower
    out *= places.lerp
    out += lower


def _original_shape(grads: Spec, original_image: Spec, /, **attrs: Any) -> Shape:
    return original_image.shape


@kernel("ResizeBilinearGrad", unit="vector", shape=_original_shape, dtypes=dt.FLOATS, estimate=per_input_element(12),
        refuse=refuse_centers)  # fmt: skip
def resize_bilinear_grad(
    grads: Array, original_image: Array, /, *, align_corners: bool = False, half_pixel_centers: bool = False,
    out: Array | None = None,
) -> Array:  # fmt: skip
    """Each pixel's gradient shared by the four it came from.

    grads: (N, height, width, C) fp32.  original_image: (N, H, W, C), only its shape and type count.  Returns: as it.
    Source: TensorFlow op `ResizeBilinearGrad`.
    """
    n, height, width, channels = original_image.shape
    rows = _weights(between(height, grads.shape[1], align_corners, half_pixel_centers), height)
    cols = _weights(between(width, grads.shape[2], align_corners, half_pixel_centers), width)
    lines = grads.reshape(n, grads.shape[1], grads.shape[2] * channels)
    along_rows = np.matmul(rows, lines).reshape(n * height, grads.shape[2], channels)
    return store(np.matmul(cols, along_rows).reshape(original_image.shape), original_image.dtype, out)


def _weights(places: Between, n_in: int) -> Array:
    """(n_in, outputs): the share of each input in each output."""
    shares = np.zeros((n_in, places.lerp.size), np.float32)
    outputs = np.arange(places.lerp.size)
    shares[places.lower, outputs] = 1 - places.lerp
    shares[places.upper, outputs] += places.lerp
    return shares


@kernel("ResizeNearestNeighbor", unit="memory", shape=_resized_shape, dtypes=dt.NUMBERS, refuse=refuse_centers)
def resize_nearest_neighbor(
    images: Array, size: Array, /, *, align_corners: bool = False, half_pixel_centers: bool = False, out: Array | None = None
) -> Array:
    """Every pixel a copy of the nearest.

    images: (N, H, W, C).  size: (2,) int32, height and width.  Returns: (N, height, width, C), same dtype.
    Raises: InvalidArgument for empty images or sizes.  Source: TensorFlow op `ResizeNearestNeighbor`.
    """
    height, width = _checked_size(images, size)
    rows = nearest(images.shape[1], height, align_corners, half_pixel_centers)
    cols = nearest(images.shape[2], width, align_corners, half_pixel_centers)
    made = np.empty((len(images), height, width, images.shape[3]), images.dtype) if out is None else out
    if made.size <= BAND_ELEMENTS:
        wide = scratch("resize.wide", (*images.shape[:2], *made.shape[2:]), made.dtype)
        return np.take(np.take(images, cols, axis=2, out=wide, mode="clip"), rows, axis=1, out=made, mode="clip")
    used, (local,) = _used(rows)

    def work(image: int, start: int, stop: int) -> None:
        first, end = int(local[start]), int(local[stop - 1]) + 1
        wide = scratch("resize.wide", (end - first, *made.shape[2:]), made.dtype)
        np.take(images[image, used[first:end]], cols, axis=1, out=wide, mode="clip")
        np.take(wide, local[start:stop] - first, axis=0, out=made[image, start:stop], mode="clip")

    _each_band(made, work)
    return made


def _nearest_grad_shape(grads: Spec, size: Spec, /, **attrs: Any) -> Shape:
    return _resized_shape(grads, size)


@kernel("ResizeNearestNeighborGrad", unit="vector", shape=_nearest_grad_shape, estimate=per_input_element(1),
        dtypes=dt.FLOATS | {"uint8", "int8", "int32"}, refuse=refuse_centers)  # fmt: skip
def resize_nearest_neighbor_grad(
    grads: Array, size: Array, /, *, align_corners: bool = False, half_pixel_centers: bool = False, out: Array | None = None
) -> Array:
    """Each pixel's gradient added to the one it copied.

    grads: (N, height, width, C).  size: (2,) int32, of the original.  Returns: (N, size[0], size[1], C), same dtype.
    Raises: InvalidArgument for a size that is none.  Source: TensorFlow op `ResizeNearestNeighborGrad`.
    """
    if grads.ndim != 4:
        raise InvalidArgument(f"input must be 4-dimensional{shape_text(grads.shape)}")
    height, width = (int(n) for n in size)
    if height <= 0 or width <= 0:
        raise InvalidArgument("shape_t's elements must be positive")
    made = np.empty((len(grads), height, width, grads.shape[3]), grads.dtype) if out is None else out
    rows = _starts(nearest(height, grads.shape[1], align_corners, half_pixel_centers), height)
    cols = _starts(nearest(width, grads.shape[2], align_corners, half_pixel_centers), width)
    wide = compute_dtype(grads.dtype)
    if grads.size <= BAND_ELEMENTS:
        along_rows = scratch("resize.rows", (*made.shape[:2], *grads.shape[2:]), wide)
        _add_runs(grads, rows, 1, along_rows)
        sums = made if wide == made.dtype else scratch("resize.sums", made.shape, wide)
        _add_runs(along_rows, cols, 2, sums)
        return store(sums, made.dtype, made)

    def work(image: int, start: int, stop: int) -> None:
        along_rows = scratch("resize.rows", (stop - start, *grads.shape[2:]), wide)
        _add_runs(grads[image], rows[start : stop + 1], 0, along_rows)
        target = made[image, start:stop]
        sums = target if wide == made.dtype else scratch("resize.sums", target.shape, wide)
        _add_runs(along_rows, cols, 1, sums)
        store(sums, made.dtype, target)

    _each_band(made, work)
    return made


def _starts(places: Array, n: int) -> Array:
    """(n + 1,): where the run of each of n places begins among places that never fall, and where the last ends."""
    return np.searchsorted(places, np.arange(n + 1))


def _add_runs(x: Array, starts: Array, axis: int, out: Array) -> None:
    """Sums along an axis of the slices from one start to the next, a slice of every run at a time."""
    x, out, lengths = np.moveaxis(x, axis, 0), np.moveaxis(out, axis, 0), np.diff(starts)
    longest = int(lengths.max())
    if longest and longest == lengths.min():
        np.copyto(out, x[starts[0] : starts[-1] : longest])
        for tap in range(1, longest):
            out += x[starts[0] + tap : starts[-1] : longest]
        return
    out[...] = 0
    for tap in range(longest):
        longer = np.flatnonzero(lengths > tap)
        out[longer] += x[starts[longer] + tap]
