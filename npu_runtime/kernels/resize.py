"""Images brought to another size, bilinear or by the nearest pixel, and the gradients."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.cost.work import per_element, per_input_element
from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.access import shape_text
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.parallel import parallel_ranges
from npu_runtime.kernels.precision import compute_dtype, store, widen
from npu_runtime.kernels.shapes import constant_ints

Array = np.ndarray
HALF = np.float32(0.5)


def scale_of(n_in: int, n_out: int, align_corners: bool) -> np.float32:
    """Input pixels a step of the output.  Source: TensorFlow core/util/image_resizer_state.h, CalculateResizeScale."""
    if align_corners and n_out > 1:
        return np.float32(n_in - 1) / np.float32(n_out - 1)
    return np.float32(n_in) / np.float32(n_out)


class Between(NamedTuple):
    """Where the outputs of one axis lie: between inputs lower and upper, `lerp` of the way."""

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


def nearest(n_in: int, n_out: int, align_corners: bool, half_pixel_centers: bool) -> Array:
    """The input pixel of every output of one axis, never falling.

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
    height, width = (int(n) for n in size)
    if height <= 0 or width <= 0:
        raise InvalidArgument("output dimensions must be positive")
    return height, width


@kernel("ResizeBilinear", unit="vector", shape=_resized_shape, dtypes=dt.NUMBERS, estimate=per_element(9), refuse=refuse_centers)
def resize_bilinear(
    images: Array, size: Array, /, *, align_corners: bool = False, half_pixel_centers: bool = False, out: Array | None = None
) -> Array:
    """Pixels interpolated along columns, then along rows.

    images: (N, H, W, C).  size: (2,) int32, height and width.  Returns: (N, height, width, C) fp32.
    Raises: InvalidArgument for empty images or sizes.  Source: TensorFlow op `ResizeBilinear`.
    """
    height, width = _checked_size(images, size)
    made = np.empty((len(images), height, width, images.shape[3]), np.float32) if out is None else out
    rows = between(images.shape[1], height, align_corners, half_pixel_centers)
    cols = between(images.shape[2], width, align_corners, half_pixel_centers)

    def work(start: int, stop: int) -> None:
        for image in range(start, stop):
            wide = images[image].astype(np.float32, copy=False)
            _interpolate(_interpolate(wide, cols, 1), rows, 0, made[image])

    parallel_ranges(len(images), work)
    return made


def _interpolate(x: Array, places: Between, axis: int, out: Array | None = None) -> Array:
    """lower + (upper - lower) * lerp along one axis of (H, W, C)."""
    lower = np.take(x, places.lower, axis=axis)
    made = np.take(x, places.upper, axis=axis, out=out, mode="clip" if out is not None else "raise")
    made -= lower
    made *= places.lerp.reshape((-1, 1, 1) if axis == 0 else (1, -1, 1))
    made += lower
    return made


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
    along_rows = np.matmul(rows, grads.reshape(n, grads.shape[1], -1)).reshape(n * height, grads.shape[2], channels)
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
    picked = images[:, rows[:, None], cols]
    return store(picked, images.dtype, out)


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
    wide = widen(grads)
    rows = nearest(height, grads.shape[1], align_corners, half_pixel_centers)
    cols = nearest(width, grads.shape[2], align_corners, half_pixel_centers)
    made = _gather_runs(_gather_runs(wide, rows, height, 1), cols, width, 2)
    return store(made, grads.dtype, out)


def _gather_runs(x: Array, places: Array, n: int, axis: int) -> Array:
    """Sums along an axis of the slices that go to one place; places never fall."""
    shape = (*x.shape[:axis], n, *x.shape[axis + 1 :])
    made = np.zeros(shape, compute_dtype(x.dtype))
    if x.size:
        starts = np.flatnonzero(np.diff(places, prepend=-1))
        made[(slice(None),) * axis + (places[starts],)] = np.add.reduceat(x, starts, axis=axis, dtype=x.dtype)
    return made
