"""Colours of images: hue, saturation and contrast.

Source: TensorFlow's core/kernels/image/adjust_hue_op.cc, adjust_saturation_op.cc, adjust_contrast_op.h, colorspace_op.h.
"""

from __future__ import annotations

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.cost.work import per_element
from npu_runtime.errors import InvalidArgument
from npu_runtime.kernels.access import shape_text
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.precision import store, widen
from npu_runtime.kernels.shapes import same_as

Array = np.ndarray
FLOAT32 = frozenset({"float32"})
ONE, SIX = np.float32(1), np.float32(6)


def _check_colours(images: Array, least_rank: int = 3) -> None:
    if images.ndim < least_rank:
        raise InvalidArgument(f"input must be at least {least_rank}-D, got shape{shape_text(images.shape)}")
    if images.shape[-1] != 3:
        raise InvalidArgument(f"input must have 3 channels but instead has {images.shape[-1]} channels.")


@kernel("AdjustContrastv2", unit="vector", shape=same_as(0), dtypes=FLOAT32, estimate=per_element(4))
def adjust_contrast(images: Array, contrast_factor: Array, /, *, out: Array | None = None) -> Array:
    """(x - mean) * factor + mean, the mean of each channel of each image.

    images: (..., H, W, C) fp32.  contrast_factor: () fp32.  Source: TensorFlow op `AdjustContrastv2`.
    """
    if images.ndim < 3:
        raise InvalidArgument(f"input must be at least 3-D, got shape{shape_text(images.shape)}")
    if contrast_factor.ndim:
        raise InvalidArgument(f"contrast_factor must be scalar: {shape_text(contrast_factor.shape)}")
    made = np.empty_like(images) if out is None else out
    if images.size:
        mean = images.mean(axis=(-3, -2), keepdims=True, dtype=np.float32)
        np.subtract(images, mean, out=made)
        made *= contrast_factor
        made += mean
    return made


@kernel("RGBToHSV", unit="vector", shape=same_as(0), dtypes=dt.FLOATS, estimate=per_element(10))
def rgb_to_hsv(images: Array, /, *, out: Array | None = None) -> Array:
    """Hue in [0, 1), saturation and value of red, green and blue: (..., 3) -> (..., 3).  Source: TensorFlow op `RGBToHSV`."""
    _check_colours(images, 1)
    return store(np.stack(_to_hsv(widen(images)), axis=-1), images.dtype, out)


def _to_hsv(rgb: Array) -> tuple[Array, Array, Array]:
    r, g, b = rgb[..., 0], rgb[..., 1], rgb[..., 2]
    value = np.maximum(np.maximum(r, g), b)
    spread = value - np.minimum(np.minimum(r, g), b)
    with np.errstate(all="ignore"):
        saturation = np.where(value > 0, spread / value, np.float32(0))
        norm = ONE / (SIX * spread)
        second, third = norm * (b - r) + np.float32(2) / SIX, norm * (r - g) + np.float32(4) / SIX
        hue = np.where(r == value, norm * (g - b), np.where(g == value, second, third))
    hue = np.where(spread > 0, hue, np.float32(0))
    return np.where(hue < 0, hue + ONE, hue), saturation, value


@kernel("HSVToRGB", unit="vector", shape=same_as(0), dtypes=dt.FLOATS, estimate=per_element(10))
def hsv_to_rgb(images: Array, /, *, out: Array | None = None) -> Array:
    """Red, green and blue of hue, saturation and value: (..., 3) -> (..., 3).  Source: TensorFlow op `HSVToRGB`."""
    _check_colours(images, 1)
    wide = widen(images)
    hue, saturation, value = wide[..., 0] * SIX, wide[..., 1], wide[..., 2]
    shares = [np.abs(hue - np.float32(3)) - ONE, np.float32(2) - np.abs(hue - np.float32(2)),
              np.float32(2) - np.abs(hue - np.float32(4))]  # fmt: skip
    rest = ONE - saturation
    colours = [(rest + saturation * np.clip(share, np.float32(0), ONE)) * value for share in shares]
    return store(np.stack(colours, axis=-1), images.dtype, out)


@kernel("AdjustHue", unit="vector", shape=same_as(0), dtypes=FLOAT32, estimate=per_element(10))
def adjust_hue(images: Array, delta: Array, /, *, out: Array | None = None) -> Array:
    """The hue turned by delta, a part of the whole circle: (..., H, W, 3) fp32.  Source: TensorFlow op `AdjustHue`."""
    _check_colours(images)
    r, g, b = images[..., 0], images[..., 1], images[..., 2]
    low, high = np.minimum(np.minimum(r, g), b), np.maximum(np.maximum(r, g), b)
    hue = np.mod(_sextant(r, g, b, low, high) + np.float32(delta) * SIX, SIX)
    sextant = np.minimum(hue.astype(np.int32), 5)
    share = hue - sextant
    share = np.where(sextant % 2 == 1, ONE - share, share)
    middle = low + share * (high - low)
    made = _by_sextant(sextant, high, middle, low)
    return store(made, images.dtype, out)


def _sextant(r: Array, g: Array, b: Array, low: Array, high: Array) -> Array:
    """The hue as a number of [0, 6): its whole part says the order of the colours."""
    order = np.where(r < g, np.where(b < r, 1, np.where(b > g, 3, 2)), np.where(b < g, 0, np.where(b > r, 4, 5)))
    middle = np.maximum(np.minimum(r, g), np.minimum(np.maximum(r, g), b))
    with np.errstate(all="ignore"):
        ratio = (middle - low) / (high - low)
    hue = order + np.where(order % 2 == 0, ratio, ONE - ratio)
    return np.where(high == low, np.float32(0), hue).astype(np.float32)


def _by_sextant(sextant: Array, high: Array, middle: Array, low: Array) -> Array:
    """Red, green and blue, each the highest, middle or lowest value."""
    red = np.choose(sextant, [high, middle, low, low, middle, high])
    green = np.choose(sextant, [middle, high, high, middle, low, low])
    blue = np.choose(sextant, [low, low, middle, high, high, middle])
    return np.stack([red, green, blue], axis=-1)


@kernel("AdjustSaturation", unit="vector", shape=same_as(0), dtypes=FLOAT32, estimate=per_element(20))
def adjust_saturation(images: Array, scale: Array, /, *, out: Array | None = None) -> Array:
    """The saturation times scale, at most 1: (..., H, W, 3) fp32.  Source: TensorFlow op `AdjustSaturation`."""
    _check_colours(images)
    hue, saturation, value = _to_hsv(images)
    chroma = np.clip(saturation * np.float32(scale), np.float32(0), ONE) * value
    place = hue * SIX
    sextant = np.clip(place.astype(np.int32), 0, 5)
    middle = chroma * (ONE - np.abs(np.mod(place, np.float32(2)) - ONE))
    made = _by_sextant(sextant, chroma, middle, np.zeros_like(chroma)) + (value - chroma)[..., None]
    return store(made, images.dtype, out)
