"""Resizing as Pillow does it: each new pixel weighs the old ones that its kernel reaches, in whole numbers, rows first."""

from __future__ import annotations

import functools

import numpy as np

from .utils import Inter

WEIGHT_BITS = 22
"""Bits behind the point of a weight, in Pillow's resampling of bytes."""


def triangle(way: np.ndarray) -> np.ndarray:
    return np.maximum(0, 1 - np.abs(way))


def cubic(way: np.ndarray) -> np.ndarray:
    """The cubic kernel with the parameter -0.5."""
    far = np.abs(way)
    near_part = (1.5 * far - 2.5) * far * far + 1
    far_part = ((-0.5 * far + 2.5) * far - 4) * far + 2
    return np.select([far < 1, far < 2], [near_part, far_part], 0.0)


def lanczos(way: np.ndarray) -> np.ndarray:
    return np.where(np.abs(way) < 3, np.sinc(way) * np.sinc(way / 3), 0.0)


KERNELS = {Inter.LINEAR: (triangle, 1.0), Inter.CUBIC: (cubic, 2.0), Inter.ANTIALIAS: (lanczos, 3.0)}
"""Kernels and how far they reach, in pixels of the larger image."""


@functools.lru_cache(maxsize=256)
def weights(old: int, new: int, interpolation: Inter) -> np.ndarray:
    """A matrix (old, new) of weights: whole numbers that make about 2**22 in each column."""
    kernel, reach = KERNELS[interpolation]
    scale = old / new
    stretch = max(scale, 1.0)
    centres = (np.arange(new) + 0.5) * scale
    first = np.maximum((centres - reach * stretch + 0.5).astype(int), 0)
    end = np.minimum((centres + reach * stretch + 0.5).astype(int), old)
    pixels = np.arange(old)[:, None]
    found = kernel((pixels - centres + 0.5) / stretch) * ((pixels >= first) & (pixels < end))
    found = found / found.sum(0) * (1 << WEIGHT_BITS)
    return np.trunc(found + np.where(found < 0, -0.5, 0.5))


@functools.lru_cache(maxsize=256)
def nearest(old: int, new: int) -> np.ndarray:
    """Places of the pixels, found by adding step after step, which rounds otherwise than products."""
    step = old / new
    return np.cumsum(np.array([step * 0.5, *[step] * (new - 1)])).astype(int).clip(0, old - 1)


def resampled(image: np.ndarray, height: int, width: int, interpolation: Inter) -> np.ndarray:
    """An image of bytes (height, width) or (height, width, channels) of another size. Products are exact in double precision."""
    if interpolation == Inter.NEAREST:
        return image[nearest(image.shape[0], height)][:, nearest(image.shape[1], width)]
    for axis, size in ((1, width), (0, height)):
        if image.shape[axis] != size:
            total = np.tensordot(image.astype(float), weights(image.shape[axis], size, interpolation), (axis, 0))
            total = np.floor((total + (1 << WEIGHT_BITS - 1)) / (1 << WEIGHT_BITS)).clip(0, 255)
            image = np.moveaxis(total, -1, axis).astype(np.uint8)
    return image
