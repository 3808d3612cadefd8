"""Images brought to another size by a matrix for rows and one for columns: by area, cubic, and with any filter.

Every output row is a weighted sum of input rows, so a resize is rows @ image @ columns, and its gradient the transposes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.cost.work import per_element, per_input_element
from npu_runtime.errors import InvalidArgument
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.image.resize import _checked_size, _original_shape, _resized_shape, refuse_centers, scale_of

Array = np.ndarray
TABLE = 1024
"""Steps between two pixels at which TensorFlow's cubic weights are tabulated."""
TINY = 1000 * np.finfo(np.float32).tiny


def _apply(rows: Array, cols: Array, images: Array) -> Array:
    """rows: (height, H).  cols: (width, W).  images: (N, H, W, C).  Returns: (N, height, width, C) fp32."""
    n, height, width, channels = images.shape
    wide = images.astype(np.float32, copy=False)
    lines = np.matmul(rows, wide.reshape(n, height, width * channels)).reshape(n * len(rows), width, channels)
    return np.matmul(cols, lines).reshape(n, len(rows), len(cols), channels)


def _area_weights(n_in: int, n_out: int, align_corners: bool) -> Array:
    """(n_out, n_in): the part of each input that each output covers. Source: TensorFlow core/kernels/image/resize_area_op.cc."""
    scale = scale_of(n_in, n_out, align_corners)
    if scale == 0:  # one line stretched over all of them
        return np.ones((n_out, n_in), np.float32)
    places = np.arange(n_out, dtype=np.float32)
    first, last = places * scale, (places + np.float32(1)) * scale
    reach = int(np.max(np.ceil(last) - np.floor(first)))
    inputs = np.floor(first).astype(np.int64)[:, None] + np.arange(reach)
    covered = np.minimum(inputs + 1, last[:, None]) - np.maximum(inputs, first[:, None])
    weights = np.zeros((n_out, n_in), np.float32)
    shares = np.where(inputs < np.ceil(last)[:, None], np.maximum(covered, 0), 0).astype(np.float32) / scale
    np.add.at(weights, (np.arange(n_out)[:, None], np.clip(inputs, 0, n_in - 1)), shares)
    return weights


@kernel("ResizeArea", unit="vector", shape=_resized_shape, dtypes=dt.NUMBERS, estimate=per_element(9))
def resize_area(images: Array, size: Array, /, *, align_corners: bool = False) -> Array:
    """Each pixel the mean of the area it covers.

    images: (N, H, W, C).  size: (2,) int32.  Returns: (N, height, width, C) fp32.  Source: TensorFlow op `ResizeArea`.
    """
    height, width = _checked_size(images, size)
    rows = _area_weights(images.shape[1], height, align_corners)
    return _apply(rows, _area_weights(images.shape[2], width, align_corners), images)


def _cubic_table(a: float) -> Array:
    """(TABLE + 1, 2): weights of the pixel x away and of the one 1 + x away, for x of 0 to 1."""
    x = np.arange(TABLE + 1, dtype=np.float64) / TABLE
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((a * (x + 1) - 5 * a) * (x + 1) + 8 * a) * (x + 1) - 4 * a
    return np.stack([near, far], axis=1).astype(np.float32)


def _cubic_weights(n_in: int, n_out: int, align_corners: bool, half_pixel_centers: bool) -> Array:
    """(n_out, n_in).  Source: TensorFlow core/kernels/image/resize_bicubic_op.cc, GetWeightsAndIndices."""
    table = _cubic_table(-0.5 if half_pixel_centers else -0.75)
    places = np.arange(n_out, dtype=np.float32)
    scale = scale_of(n_in, n_out, align_corners)
    half = np.float32(0.5)
    source = (places + half) * scale - half if half_pixel_centers else places * scale
    base = np.floor(source).astype(np.int64)
    offset = np.rint((source - base.astype(np.float32)) * np.float32(TABLE)).astype(np.int64)
    shares = np.stack([table[offset, 1], table[offset, 0], table[TABLE - offset, 0], table[TABLE - offset, 1]], axis=1)
    inputs = base[:, None] + np.arange(-1, 3)
    bounded = np.clip(inputs, 0, n_in - 1)
    if half_pixel_centers:  # what lies outside counts nothing, the rest is brought to the sum 1
        shares = np.where(bounded == inputs, shares, np.float32(0))
        total = shares.sum(axis=1, keepdims=True)
        shares = np.where(np.abs(total) >= TINY, shares / total, shares)
    weights = np.zeros((n_out, n_in), np.float32)
    np.add.at(weights, (np.arange(n_out)[:, None], bounded), shares)
    return weights


@kernel("ResizeBicubic", unit="vector", shape=_resized_shape, dtypes=dt.NUMBERS, estimate=per_element(30), refuse=refuse_centers)
def resize_bicubic(images: Array, size: Array, /, *, align_corners: bool = False, half_pixel_centers: bool = False) -> Array:
    """Pixels interpolated by cubics through four neighbours an axis.

    images: (N, H, W, C).  size: (2,) int32.  Returns: (N, height, width, C) fp32.  Source: TensorFlow op `ResizeBicubic`.
    """
    height, width = _checked_size(images, size)
    rows = _cubic_weights(images.shape[1], height, align_corners, half_pixel_centers)
    return _apply(rows, _cubic_weights(images.shape[2], width, align_corners, half_pixel_centers), images)


@kernel("ResizeBicubicGrad", unit="vector", shape=_original_shape, dtypes=frozenset({"float32"}), estimate=per_input_element(30),
        refuse=refuse_centers)  # fmt: skip
def resize_bicubic_grad(
    grads: Array, original_image: Array, /, *, align_corners: bool = False, half_pixel_centers: bool = False
) -> Array:
    """Each pixel's gradient shared by the sixteen it came from.

    grads: (N, height, width, C).  original_image: (N, H, W, C).  Returns: as it.  Source: TensorFlow op `ResizeBicubicGrad`.
    """
    rows = _cubic_weights(original_image.shape[1], grads.shape[1], align_corners, half_pixel_centers)
    cols = _cubic_weights(original_image.shape[2], grads.shape[2], align_corners, half_pixel_centers)
    return _apply(rows.T, cols.T, grads)


def _lanczos(radius: float) -> Callable[[Array], Array]:
    return lambda x: np.where(x < radius, np.sinc(x) * np.sinc(x / radius), 0.0)


def _cubic(x: Array) -> Array:
    return np.where(x < 1, (1.5 * x - 2.5) * x * x + 1, np.where(x < 2, ((-0.5 * x + 2.5) * x - 4) * x + 2, 0.0))


def _mitchell(x: Array) -> Array:
    outer = ((-7 * x / 18 + 2) * x - 10.0 / 3) * x + 16.0 / 9
    return np.where(x < 1, (7 * x / 6 - 2) * x * x + 8.0 / 9, np.where(x < 2, outer, 0.0))


FILTERS: dict[str, tuple[float, Callable[[Array], Array]]] = {
    "lanczos1": (1.0, _lanczos(1.0)),
    "lanczos3": (3.0, _lanczos(3.0)),
    "lanczos5": (5.0, _lanczos(5.0)),
    "gaussian": (1.5, lambda x: np.where(x < 1.5, np.exp(-x * x / (2 * 0.5 * 0.5)), 0.0)),
    "box": (1.0, lambda x: np.where(x < 0.5, 1.0, np.where(x == 0.5, 0.5, 0.0))),
    "triangle": (1.0, lambda x: np.maximum(1 - x, 0.0)),
    "keyscubic": (2.0, _cubic),
    "mitchellcubic": (2.0, _mitchell),
}
"""Radius and weight by distance.  Source: TensorFlow core/kernels/image/sampling_kernels.h."""


def _filter_weights(kind: str, n_in: int, n_out: int, scale: np.float32, translation: np.float32, antialias: bool) -> Array:
    """(n_out, n_in).  Source: TensorFlow core/kernels/image/scale_and_translate_op.cc, ComputeSpansCore."""
    radius, weight = FILTERS[kind]
    inverse = np.float32(1) / scale
    widening = max(inverse, np.float32(1)) if antialias else np.float32(1)
    sample = (np.arange(n_out, dtype=np.float32) + np.float32(0.5)) * inverse - inverse * translation
    is_inside = (sample >= 0) & (sample <= n_in)
    inputs = np.arange(n_in)
    reach = np.float32(radius) * widening
    first, last = np.ceil(sample - reach - np.float32(0.5)), np.floor(sample + reach - np.float32(0.5))
    first, last = np.clip(first, 0, n_in - 1)[:, None], np.clip(last, 0, n_in - 1)[:, None]
    distance = np.abs(inputs + np.float32(0.5) - sample[:, None]) / widening
    shares = np.where((inputs >= first) & (inputs <= last) & is_inside[:, None], weight(distance.astype(np.float64)), 0.0)
    total = shares.sum(axis=1, keepdims=True)
    return np.where(np.abs(total) >= TINY, shares / np.where(total == 0, 1, total), 0).astype(np.float32)


def _both_weights(spatial: tuple[int, ...], size: tuple[int, ...], scale: Array, translation: Array, kind: str,
                  antialias: bool) -> list[Array]:  # fmt: skip
    if not (scale > 0).all():
        raise InvalidArgument("Scale must be greater than zero.")
    return [
        _filter_weights(kind, n_in, n_out, s, t, antialias)
        for n_in, n_out, s, t in zip(spatial, size, scale, translation, strict=True)
    ]


def _refuse_filter(specs: Any, attrs: dict[str, Any]) -> str | None:
    """A filter that TensorFlow does not know either."""
    kind = attrs.get("kernel_type", "lanczos3")
    return None if kind in FILTERS else f"kernel_type {kind}"


def _scaled_shape(images: Spec, size: Spec, scale: Spec, translation: Spec, /, **attrs: Any) -> Shape:
    return _resized_shape(images, size)


@kernel(
    "ScaleAndTranslate", unit="vector", shape=_scaled_shape, dtypes=dt.NUMBERS, estimate=per_element(30), refuse=_refuse_filter
)
def scale_and_translate(
    images: Array, size: Array, scale: Array, translation: Array, /, *, kernel_type: str = "lanczos3", antialias: bool = True
) -> Array:
    """Scaled and moved images, by a filter.

    images: (N, H, W, C).  size: (2,) int32.  scale, translation: (2,) fp32.  Returns: (N, height, width, C) fp32.
    Source: TensorFlow op `ScaleAndTranslate`.
    """
    height, width = _checked_size(images, size)
    rows, cols = _both_weights(images.shape[1:3], (height, width), scale, translation, kernel_type, antialias)
    return _apply(rows, cols, images)


def _translated_grad_shape(grads: Spec, original_image: Spec, *others: Spec, **attrs: Any) -> Shape:
    return original_image.shape


@kernel("ScaleAndTranslateGrad", unit="vector", shape=_translated_grad_shape, dtypes=frozenset({"float32"}),
        estimate=per_input_element(30), refuse=_refuse_filter)  # fmt: skip
def scale_and_translate_grad(
    grads: Array, original_image: Array, scale: Array, translation: Array, /, *, kernel_type: str = "lanczos3",
    antialias: bool = True,
) -> Array:  # fmt: skip
    """Each pixel's gradient shared by those it came from.  Source: TensorFlow op `ScaleAndTranslateGrad`."""
    spatial = original_image.shape[1:3]
    rows, cols = _both_weights(spatial, grads.shape[1:3], scale, translation, kernel_type, antialias)
    return _apply(rows.T, cols.T, grads)
