"""Colours as Pillow computes them: grey values, its enhancements, and hue by way of images of hue, saturation and value."""

from __future__ import annotations

import numpy as np


def grey(image: np.ndarray) -> np.ndarray:
    """Grey values of an RGB image."""
    red, green, blue = np.moveaxis(image.astype(np.int32), 2, 0)
    return (red * 19595 + green * 38470 + blue * 7471 + 0x8000 >> 16).astype(np.uint8)


def blended(first: np.ndarray, image: np.ndarray, share: float) -> np.ndarray:
    """The way from one image to another, cut to whole numbers."""
    start = first.astype(np.float32)
    return (start + np.float32(share) * (image.astype(np.float32) - start)).clip(0, 255).astype(np.uint8)


def brightened(image: np.ndarray, share: float) -> np.ndarray:
    return blended(np.zeros_like(image), image, share)


def contrasted(image: np.ndarray, share: float) -> np.ndarray:
    return blended(np.full_like(image, int(grey(image).mean() + 0.5)), image, share)


def saturated(image: np.ndarray, share: float) -> np.ndarray:
    return blended(np.repeat(grey(image)[:, :, None], 3, axis=2), image, share)


def hue_turned(image: np.ndarray, turn: float) -> np.ndarray:
    """Colours turned on the circle of hues. No turn changes values too, since hue and saturation are bytes in between."""
    hue, saturation, value = to_hue(image)
    return from_hue(hue + np.uint8(int(turn * 255) % 256), saturation, value)


def to_hue(image: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Hue, saturation and value of an RGB image, in bytes."""
    red, green, blue = np.moveaxis(image.astype(np.float32), 2, 0)
    value, least = image.max(2), image.min(2)
    spread = (value - least).astype(np.float32)
    safe = np.where(spread == 0, np.float32(1), spread)
    ways = [(value - colour) / safe for colour in (red, green, blue)]
    sector = np.select(
        [image[:, :, 0] == value, image[:, :, 1] == value], [ways[2] - ways[1], 2 + ways[0] - ways[2]], 4 + ways[1] - ways[0]
    )
    hue = np.fmod(sector.astype(np.float64) / 6 + 1, 1).astype(np.float32)
    saturation = spread / np.maximum(value, 1).astype(np.float32)
    bytes_of = lambda part: np.where(spread == 0, 0, part * np.float32(255)).clip(0, 255).astype(np.uint8)  # noqa: E731
    return bytes_of(hue), bytes_of(saturation), value


def from_hue(hue: np.ndarray, saturation: np.ndarray, value: np.ndarray) -> np.ndarray:
    """The RGB image of hue, saturation and value in bytes. In each sixth of the circle one colour is full and one is empty."""
    sixths = hue.astype(np.float32) * np.float32(6) / np.float32(255)
    sector = np.floor(sixths)
    part, share, full = sixths - sector, saturation.astype(np.float32) / np.float32(255), value.astype(np.float32)
    rounded = lambda values: np.floor(values + 0.5).clip(0, 255).astype(np.uint8)  # noqa: E731
    none, falling, rising = (rounded(full * (1 - share * way)) for way in (1, part, 1 - part))
    orders = [
        (value, rising, none),
        (falling, value, none),
        (none, value, rising),
        (none, falling, value),
        (rising, none, value),
        (value, none, falling),
    ]
    sixth = sector.astype(int) % 6
    colours = [np.choose(sixth, [order[colour] for order in orders]) for colour in range(3)]
    return np.where((saturation == 0)[:, :, None], value[:, :, None], np.stack(colours, axis=2))
