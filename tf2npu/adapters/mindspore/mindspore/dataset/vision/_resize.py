"""Resizing as OpenCV does it: half-pixel centres, and for bytes weights of 11 bits in whole numbers."""

from __future__ import annotations

import functools

import numpy as np

from .utils import Inter

WEIGHT_BITS = 11
"""Bits behind the point of a weight for bytes, in OpenCV's resize."""
CUBIC_SHAPE = np.float32(-0.75)
"""The parameter of OpenCV's cubic kernel."""
COMPUTED = {np.dtype(kind) for kind in (np.uint8, np.int16, np.uint16, np.float32, np.float64)}


def resized(image: np.ndarray, height: int, width: int, interpolation: Inter, who: str) -> np.ndarray:
    """An image (height, width) or (height, width, channels) of another size and the same type."""
    if image.ndim not in (2, 3) or 0 in image.shape:
        raise RuntimeError(f"{who}: an image has the axes height, width and channels, and this has the shape {image.shape}")
    if image.dtype not in COMPUTED:
        raise RuntimeError(f"{who}: images of {image.dtype} cannot be resized; cast them to uint8 or float32 first")
    if image.shape[:2] == (height, width):
        return image.copy()
    if interpolation == Inter.NEAREST:
        return image[nearest(image.shape[0], height)][:, nearest(image.shape[1], width)]
    pixels = image[:, :, None] if image.ndim == 2 else image
    if interpolation == Inter.LINEAR:
        new = linear_bytes(pixels, height, width) if image.dtype == np.uint8 else weighted(pixels, height, width, linear)
    else:
        new = cubic_bytes(pixels, height, width) if image.dtype == np.uint8 else weighted(pixels, height, width, cubic)
    return new[:, :, 0] if image.ndim == 2 else new


@functools.lru_cache(maxsize=256)
def nearest(old: int, new: int) -> np.ndarray:
    return np.minimum((np.arange(new) * (1 / (new / old))).astype(int), old - 1)


def centres(old: int, new: int) -> tuple[np.ndarray, np.ndarray]:
    """The pixel before each new one, and the way from it, in single precision."""
    at = ((np.arange(new) + 0.5) * (1 / (new / old)) - 0.5).astype(np.float32)
    before = np.floor(at)
    return before.astype(int), at - before


@functools.lru_cache(maxsize=256)
def linear(old: int, new: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Places and weights of the two pixels that make each new one; at a border they are one pixel."""
    before, way = centres(old, new)
    return [(before + step).clip(0, old - 1) for step in (0, 1)], [1 - way, way]


@functools.lru_cache(maxsize=256)
def cubic(old: int, new: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Places and weights of the four pixels that make each new one."""
    before, way = centres(old, new)
    shape = CUBIC_SHAPE
    far = way + 1
    first = ((shape * far - 5 * shape) * far + 8 * shape) * far - 4 * shape
    second = ((shape + 2) * way - (shape + 3)) * way * way + 1
    rest = 1 - way
    third = ((shape + 2) * rest - (shape + 3)) * rest * rest + 1
    weights = [first, second, third, 1 - first - second - third]
    return [(before + step).clip(0, old - 1) for step in (-1, 0, 1, 2)], [weight.astype(np.float32) for weight in weights]


@functools.lru_cache(maxsize=256)
def whole(kernel, old: int, new: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The same with weights in whole numbers of 2**-11."""
    places, weights = kernel(old, new)
    return places, [np.rint(weight * np.float32(1 << WEIGHT_BITS)).astype(np.int32) for weight in weights]


def along(image: np.ndarray, taps, axis: int) -> np.ndarray:
    """The weighted sum of pixels along an axis."""
    shape = [1, 1, 1]
    shape[axis] = -1
    places, weights = taps
    total = image.take(places[0], axis) * weights[0].reshape(shape)
    for place, weight in zip(places[1:], weights[1:], strict=True):
        total += image.take(place, axis) * weight.reshape(shape)
    return total


def linear_bytes(image: np.ndarray, height: int, width: int) -> np.ndarray:
    """Bytes, with the roundings of OpenCV's vector code: 4 bits after the rows, 16 after each product of the columns."""
    (left, right), (before, behind) = whole(linear, image.shape[1], width)
    before = np.where(left == right, 1 << WEIGHT_BITS, before)  # borders of a line are exact, those between lines are not
    line = along(image.astype(np.int32), ([left, right], [before, np.where(left == right, 0, behind)]), 1) >> 4
    (top, bottom), (above, below) = whole(linear, image.shape[0], height)
    total = (line.take(top, 0) * above[:, None, None] >> 16) + (line.take(bottom, 0) * below[:, None, None] >> 16)
    return (total + 2 >> 2).clip(0, 255).astype(np.uint8)


def cubic_bytes(image: np.ndarray, height: int, width: int) -> np.ndarray:
    """Bytes, rounded once at the end."""
    line = along(image.astype(np.int32), whole(cubic, image.shape[1], width), 1)
    total = along(line, whole(cubic, image.shape[0], height), 0)
    return (total + (1 << 2 * WEIGHT_BITS - 1) >> 2 * WEIGHT_BITS).clip(0, 255).astype(np.uint8)


def weighted(image: np.ndarray, height: int, width: int, kernel) -> np.ndarray:
    """Other types, in floating point and rounded to their own."""
    line = along(image.astype(np.float64 if image.dtype == np.float64 else np.float32), kernel(image.shape[1], width), 1)
    new = along(line, kernel(image.shape[0], height), 0)
    if image.dtype.kind == "f":
        return new.astype(image.dtype)
    limits = np.iinfo(image.dtype)
    return np.rint(new).clip(limits.min, limits.max).astype(image.dtype)


def two_sides(who: str, size) -> tuple[int, int]:
    """Height and width of a size that is one number or two."""
    sides = (size, size) if isinstance(size, (int, np.integer)) else tuple(size) if isinstance(size, (list, tuple)) else ()
    if len(sides) != 2 or any(isinstance(side, bool) or not isinstance(side, (int, np.integer)) for side in sides):
        raise TypeError(f"{who}: size is {size!r}; give a whole number or two, height and width")
    if min(sides) < 1:
        raise ValueError(f"{who}: size is {size!r}; give sizes above 0")
    return int(sides[0]), int(sides[1])


def shorter_side(shape: tuple[int, ...], size: int) -> tuple[int, int]:
    """Height and width with this shorter side and the proportions of an image."""
    height, width = shape[:2]
    if height < width:
        return size, int(size / height * width)
    return int(size / width * height), size


def known_interpolation(who: str, interpolation, known=(Inter.NEAREST, Inter.LINEAR, Inter.CUBIC)) -> Inter:
    if not isinstance(interpolation, Inter):
        raise TypeError(
            f"{who}: interpolation is {interpolation!r}; give one of {', '.join(f'Inter.{one.name}' for one in known)}"
        )
    if interpolation not in known:
        raise ValueError(f"{who}: Inter.{interpolation.name} is not among {', '.join(f'Inter.{one.name}' for one in known)}")
    return interpolation
