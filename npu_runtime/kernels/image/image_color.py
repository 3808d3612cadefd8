"""Colours of images: hue, saturation and contrast.

Source: TensorFlow's core/kernels/image/adjust_hue_op.cc, adjust_saturation_op.cc, adjust_contrast_op.h, colorspace_op.h.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from npu_runtime import dtypes as dt
from npu_runtime.cost.work import per_element
from npu_runtime.errors import FailedPrecondition, InvalidArgument
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.half_storage import compute_dtype, store
from npu_runtime.kernels.shapes import same_as
from npu_runtime.kernels.threads.parallel import parallel_ranges
from npu_runtime.kernels.threads.per_channel import repeated
from npu_runtime.kernels.variable_access import shape_text

Array = np.ndarray
FLOAT32 = frozenset({"float32"})
ZERO, ONE, TWO, THREE, SIX = (np.float32(n) for n in (0, 1, 2, 3, 6))
LINE_ELEMENTS = 1 << 10
"""Elements that are added up side by side to the sum of an image's channels."""
BLOCK_ELEMENTS = 1 << 15
"""Elements done at a time, so that all steps find them in a core's cache."""
BLOCK_PIXELS = 1 << 14
"""Pixels of the piece of an image that one thread works on at a time."""
FAR = np.float32(3e38)
Colours = tuple[Array, Array, Array]


def _check_adjusted(images: Array, **scalars: Array) -> None:
    if images.ndim < 3:
        raise InvalidArgument(f"input must be at least 3-D, got shape{shape_text(images.shape)}")
    for name, given in scalars.items():
        if given.ndim:
            raise InvalidArgument(f"{name} must be scalar: {shape_text(given.shape)}")
    if images.shape[-1] != 3:
        raise InvalidArgument(f"input must have 3 channels but instead has {images.shape[-1]} channels.")


def _check_converted(images: Array) -> None:
    if not images.ndim:
        raise InvalidArgument(f"input must be at least 1D{shape_text(images.shape)}")
    if images.shape[-1] != 3:
        raise FailedPrecondition(
            f"input must have 3 channels but input only has {images.shape[-1]} channels. Shape: {shape_text(images.shape)}"
        )


@kernel("AdjustContrastv2", unit="vector", shape=same_as(0), dtypes=FLOAT32, estimate=per_element(4))
def adjust_contrast(images: Array, contrast_factor: Array, /, *, out: Array | None = None) -> Array:
    """(x - mean) * factor + mean, the mean of each channel of each image.

    images: (..., H, W, C) fp32.  contrast_factor: () fp32.  Source: TensorFlow op `AdjustContrastv2`.
    """
    if images.ndim < 3:
        raise InvalidArgument(f"input must be at least 3-D, got shape{shape_text(images.shape)}")
    if contrast_factor.ndim:
        raise InvalidArgument(f"contrast_factor must be scalar: {shape_text(contrast_factor.shape)}")
    made = np.empty(images.shape, images.dtype) if out is None or not out.flags.c_contiguous else out
    if images.size:
        channels, n_elements = images.shape[-1], images.shape[-3] * images.shape[-2] * images.shape[-1]
        before, after = images.reshape(-1, n_elements), made.reshape(-1, n_elements)
        means = np.empty((len(before), channels), np.float32)

        def average(start: int, stop: int) -> None:
            for image in range(start, stop):
                means[image] = _sums(before[image], channels) / np.float32(n_elements // channels)

        def stretch(start: int, stop: int) -> None:
            for block in range(start, stop):
                image, first = block // n_blocks, block % n_blocks * step
                part, mean = before[image, first : first + step], repeated(means[image], step // channels)
                _stretch(part, mean[: part.size], contrast_factor, after[image, first : first + step])

        step = max(1, BLOCK_ELEMENTS // channels) * channels
        n_blocks = -(-n_elements // step)
        parallel_ranges(len(before), average, max(1, BLOCK_ELEMENTS // n_elements))
        parallel_ranges(len(before) * n_blocks, stretch, max(1, BLOCK_ELEMENTS // n_elements))
    return store(made, images.dtype, out)


def _sums(image: Array, channels: int) -> Array:
    """(C,) of pixels one behind the other, (H * W * C,): lines of many pixels first, for long inner loops."""
    line = max(1, LINE_ELEMENTS // channels) * channels
    n_whole = image.size // line * line
    of_line = image[:n_whole].reshape(-1, line).sum(axis=0)
    return of_line.reshape(-1, channels).sum(axis=0) + image[n_whole:].reshape(-1, channels).sum(axis=0)


def _stretch(x: Array, mean: Array, factor: Array, out: Array) -> None:
    np.subtract(x, mean, out=out)
    out *= factor
    out += mean


@kernel("RGBToHSV", unit="vector", shape=same_as(0), dtypes=dt.FLOATS, estimate=per_element(10))
def rgb_to_hsv(images: Array, /, *, out: Array | None = None) -> Array:
    """Hue in [0, 1), saturation and value of red, green and blue: (..., 3) -> (..., 3).  Source: TensorFlow op `RGBToHSV`."""
    _check_converted(images)
    return _recolour(images, _to_hsv, out)


def _recolour(images: Array, change: Callable[[Array, Array, Array], Colours], out: Array | None) -> Array:
    """The three channels changed together, a block of pixels at a time; 16-bit floats computed in fp32."""
    made = np.empty(images.shape, images.dtype) if out is None or not out.flags.c_contiguous else out
    before, after = images.reshape(-1, 3), made.reshape(-1, 3)

    def work(start: int, stop: int) -> None:
        channels = np.ascontiguousarray(before[start:stop].T, compute_dtype(images.dtype))
        with np.errstate(all="ignore"):
            for channel, values in enumerate(change(*channels)):
                after[start:stop, channel] = values

    parallel_ranges(len(before), work, BLOCK_PIXELS)
    return store(made, images.dtype, out)


def _to_hsv(r: Array, g: Array, b: Array) -> Colours:
    value = np.maximum(np.maximum(r, g), b)
    spread = value - np.minimum(np.minimum(r, g), b)
    saturation = np.where(value > 0, spread / value, ZERO)
    norm = ONE / (SIX * spread)
    second, third = norm * (b - r) + TWO / SIX, norm * (r - g) + np.float32(4) / SIX
    hue = _chosen(r == value, norm * (g - b), _chosen(g == value, second, third))
    hue = np.where(spread > 0, hue, ZERO)
    hue += hue < 0
    return hue, saturation, value


def _chosen(mask: Array, x: Array, y: Array) -> Array:
    """np.where of fp32 by their bits: where it branches at every element, masks of no pattern take it six times as long."""
    bits, others = x.view(np.int32), y.view(np.int32)
    differing = bits ^ others
    differing &= -mask.astype(np.int32)
    differing ^= others
    return differing.view(np.float32)


@kernel("HSVToRGB", unit="vector", shape=same_as(0), dtypes=dt.FLOATS, estimate=per_element(10))
def hsv_to_rgb(images: Array, /, *, out: Array | None = None) -> Array:
    """Red, green and blue of hue, saturation and value: (..., 3) -> (..., 3).  Source: TensorFlow op `HSVToRGB`."""
    _check_converted(images)
    return _recolour(images, _to_rgb, out)


def _to_rgb(hue: Array, saturation: Array, value: Array) -> Colours:
    place, rest = hue * SIX, ONE - saturation

    def colour(share: Array) -> Array:
        np.minimum(np.maximum(share, ZERO, out=share), ONE, out=share)
        share *= saturation
        share += rest
        share *= value
        return share

    four = np.float32(4)
    return colour(np.abs(place - THREE) - ONE), colour(TWO - np.abs(place - TWO)), colour(TWO - np.abs(place - four))


@kernel("AdjustHue", unit="vector", shape=same_as(0), dtypes=FLOAT32, estimate=per_element(10))
def adjust_hue(images: Array, delta: Array, /, *, out: Array | None = None) -> Array:
    """The hue turned by delta, a part of the whole circle: (..., H, W, 3) fp32.  Source: TensorFlow op `AdjustHue`."""
    _check_adjusted(images, delta=delta)
    turn = np.float32(delta) * SIX

    def change(r: Array, g: Array, b: Array) -> Colours:
        low, high = np.minimum(np.minimum(r, g), b), np.maximum(np.maximum(r, g), b)
        hue = _turned(_sextant(r, g, b, low, high), turn)
        sextant = _whole(hue)
        share = np.abs((sextant & 1) - (hue - sextant))
        return _by_sextant(sextant, high, low + share * (high - low), low)

    return _recolour(images, change, out)


def _turned(hue: Array, turn: np.float32) -> Array:
    """A hue of [0, 6) and a turn added up, in [0, 6) again; the remainder of a division takes ten times as long."""
    turned = hue + turn
    if not abs(turn) <= SIX:
        return np.mod(turned, SIX)
    turned += (turned < ZERO) * SIX
    turned -= (turned >= SIX) * SIX
    return turned


def _whole(hue: Array) -> Array:
    """The whole part, 0 to 5, of numbers of [0, 6]: int8."""
    return np.clip(hue.astype(np.int32), 0, 5).astype(np.int8)


def _sextant(r: Array, g: Array, b: Array, low: Array, high: Array) -> Array:
    """The hue as a number of [0, 6): its whole part says the order of the colours."""
    less, more = [(b < x).view(np.int8) for x in (r, g)], [(b > x).view(np.int8) for x in (r, g)]
    rising, falling = 2 - less[0] + more[1], 5 - more[0] - 5 * less[1]
    order = falling + (r < g).view(np.int8) * (rising - falling)
    middle = np.maximum(np.minimum(r, g), np.minimum(np.maximum(r, g), b))
    ratio = (middle - low) / (high - low)
    return np.where(high == low, ZERO, order + np.abs((order & 1) - ratio))


def _by_sextant(sextant: Array, high: Array, middle: Array, low: Array | np.float32) -> Colours:
    """Red, green and blue, each the highest, middle or lowest value: by how far the sextant is from the colour's two."""
    twice = 2 * sextant
    farther = np.abs(twice - 5) - 3, 3 - np.abs(twice - 3), 3 - np.abs(twice - 7)
    red, green, blue = (np.clip(middle + FAR * each, low, high) for each in farther)
    return red, green, blue


@kernel("AdjustSaturation", unit="vector", shape=same_as(0), dtypes=FLOAT32, estimate=per_element(20))
def adjust_saturation(images: Array, scale: Array, /, *, out: Array | None = None) -> Array:
    """The saturation times scale, at most 1: (..., H, W, 3) fp32.  Source: TensorFlow op `AdjustSaturation`."""
    _check_adjusted(images, scale=scale)
    factor = np.float32(scale)

    def change(r: Array, g: Array, b: Array) -> Colours:
        hue, saturation, value = _to_hsv(r, g, b)
        chroma = np.clip(saturation * factor, ZERO, ONE) * value
        place = hue * SIX
        rest = place - TWO * np.floor(place / TWO)
        least = value - chroma
        middle = chroma * (ONE - np.abs(rest - ONE))
        red, green, blue = _by_sextant(_whole(place), chroma, middle, ZERO)
        return red + least, green + least, blue + least

    return _recolour(images, change, out)
