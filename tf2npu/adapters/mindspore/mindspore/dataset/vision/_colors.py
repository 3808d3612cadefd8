"""Transforms of c_transforms that change the values of an image."""

from __future__ import annotations

import numpy as np

from ..core.operation import Operation, number_in
from ._crops import check_image

LUMA = np.array([0.299, 0.587, 0.114], np.float32)
"""Shares of red, green and blue in grey (ITU-R BT.601), as in OpenCV."""


class Rescale(Operation):
    """values * rescale + shift, as float32."""

    def __init__(self, rescale, shift):
        self.rescale = np.float32(number_in("Rescale", "rescale", rescale, -(2.0**24), 2.0**24))
        self.shift = np.float32(number_in("Rescale", "shift", shift, -(2.0**24), 2.0**24))

    def apply(self, image):
        new = image.astype(np.float32)
        new *= self.rescale
        new += self.shift
        return new


class Normalize(Operation):
    """(values - mean) / std for each channel of an image (height, width, channels), as float32."""

    def __init__(self, mean, std):
        self.mean, self.std = channel_values("Normalize", mean, std)

    def apply(self, image):
        check_image(image, "Normalize")
        channels = image.shape[2] if image.ndim == 3 else 1
        if len(self.mean) not in (1, channels):
            raise RuntimeError(
                f"Normalize: the image has {channels} channels (shape {image.shape}) and mean has {len(self.mean)} values; give "
                "a value a channel, and call HWC2CHW after Normalize"
            )
        return (image.astype(np.float32) - self.mean) / self.std


def channel_values(who: str, mean, std) -> tuple[np.ndarray, np.ndarray]:
    values = []
    for name, given in (("mean", mean), ("std", std)):
        if not isinstance(given, (list, tuple, np.ndarray)) or len(given) == 0:
            raise TypeError(f"{who}: {name} is {given!r}; give a list with a number for each channel")
        values.append(np.array([number_in(who, name, one, 0, 255) for one in given], np.float32))
    if len(values[0]) != len(values[1]) or not values[1].all():
        raise ValueError(f"{who}: mean is {mean!r} and std is {std!r}; give as many of both, and no std of 0")
    return values[0], values[1]


def padded_kind(dtype) -> np.dtype:
    """The type of what NormalizePad gives."""
    if dtype not in ("float32", "float16"):
        raise ValueError(f'NormalizePad: dtype is {dtype!r}; give "float32" or "float16"')
    return np.dtype(dtype)


class NormalizePad(Normalize):
    """`Normalize`, and one more channel of zeros."""

    def __init__(self, mean, std, dtype="float32"):
        super().__init__(mean, std)
        self.kind = padded_kind(dtype)

    def apply(self, image):
        return np.pad(super().apply(image), ((0, 0), (0, 0), (0, 1))).astype(self.kind)


class HWC2CHW(Operation):
    """An image with its channels first. One without an axis of channels stays."""

    def apply(self, image):
        return np.ascontiguousarray(check_image(image, "HWC2CHW").transpose(2, 0, 1)) if image.ndim == 3 else image


class Invert(Operation):
    """255 - values."""

    def apply(self, image):
        return (255 - check_image(image, "Invert")).astype(image.dtype)


class CutOut(Operation):
    """An image with square patches of zeros at places that are drawn; they are cut at the border."""

    def __init__(self, length, num_patches=1):
        self.length = int(number_in("CutOut", "length", length, 1, 2**24))
        self.num_patches = int(number_in("CutOut", "num_patches", num_patches, 1, 2**24))

    def apply(self, image):
        new = check_image(image, "CutOut").copy()
        for _ in range(self.num_patches):
            top, left = (self.random.randint(side) - self.length // 2 for side in image.shape[:2])
            new[max(0, top) : max(0, top + self.length), max(0, left) : max(0, left + self.length)] = 0
        return new


class RandomColorAdjust(Operation):
    """An image whose brightness, contrast, saturation and hue are changed by factors that are drawn, in an order that is drawn.

    A number c stands for the limits 1 - c and 1 + c; for hue, -c and c, in turns of the colour circle.
    """

    def __init__(self, brightness=(1, 1), contrast=(1, 1), saturation=(1, 1), hue=(0, 0)):
        self.limits = {
            brightened: around("brightness", brightness, 1, 0, 2.0**24),
            contrasted: around("contrast", contrast, 1, 0, 2.0**24),
            saturated: around("saturation", saturation, 1, 0, 2.0**24),
            hue_turned: around("hue", hue, 0, -0.5, 0.5),
        }

    def apply(self, image):
        if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8:
            raise RuntimeError(f"RandomColorAdjust: it needs RGB images of uint8; this is {image.dtype} of shape {image.shape}")
        changes = list(self.limits)
        for place in self.random.permutation(len(changes)):
            low, high = self.limits[changes[place]]
            image = changes[place](image, self.random.uniform(low, high))
        return image


def around(name: str, value, centre: float, low: float, high: float) -> tuple[float, float]:
    """The limits of a factor, of which one number gives the way to both sides."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        value = (max(centre - value, low) if centre else -value, centre + value)
    if not isinstance(value, (list, tuple)) or len(value) != 2:
        raise TypeError(f"RandomColorAdjust: {name} is {value!r}; give a number or two")
    limits = tuple(number_in("RandomColorAdjust", name, one, low, high) for one in value)
    if limits[0] > limits[1]:
        raise ValueError(f"RandomColorAdjust: {name} is {value!r}; give the smaller number first")
    return limits


def saturated_cast(values: np.ndarray) -> np.ndarray:
    """Bytes, rounded to even as OpenCV's saturate_cast does."""
    return np.rint(values).clip(0, 255).astype(np.uint8)


def grey(image: np.ndarray) -> np.ndarray:
    return saturated_cast(image.astype(np.float32) @ LUMA)


def brightened(image: np.ndarray, factor: float) -> np.ndarray:
    return saturated_cast(image * np.float32(factor))


def contrasted(image: np.ndarray, factor: float) -> np.ndarray:
    mean = int(grey(image).mean() + 0.5)
    return saturated_cast(image * np.float32(factor) + np.float32(mean * (1 - factor)))


def saturated(image: np.ndarray, factor: float) -> np.ndarray:
    return saturated_cast(image * np.float32(factor) + grey(image)[:, :, None] * np.float32(1 - factor))


def hue_turned(image: np.ndarray, turn: float) -> np.ndarray:
    """Colours turned on the circle of hues, in bytes between, as OpenCV has them; no turn changes nothing."""
    if turn == 0:
        return image
    hue, saturation, value = to_hue(image)
    return from_hue((hue + int(turn * 255)) % 256, saturation, value)


def to_hue(image: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Hue (256 steps of the circle), saturation and value of an RGB image, by OpenCV's quotients of 12 bits."""
    red, green, blue = np.moveaxis(image.astype(np.int64), 2, 0)
    value = np.maximum(np.maximum(red, green), blue)
    spread = value - np.minimum(np.minimum(red, green), blue)
    share = np.rint((255 << 12) / np.maximum(value, 1)).astype(np.int64)
    step = np.rint((256 << 12) / (6.0 * np.maximum(spread, 1))).astype(np.int64)
    sector = np.select([value == red, value == green], [green - blue, blue - red + 2 * spread], red - green + 4 * spread)
    hue = sector * step + (1 << 11) >> 12
    return hue % 256, spread * share + (1 << 11) >> 12, value


def from_hue(hue: np.ndarray, saturation: np.ndarray, value: np.ndarray) -> np.ndarray:
    """The RGB image: value lowered by the saturation, by each colour's way from the hue on the circle of 255 steps."""
    sixths = hue.astype(np.float32) * np.float32(6 / 255)
    ways = (np.array([5, 3, 1], np.float32) + sixths[:, :, None]) % 6
    lowered = saturation[:, :, None] / np.float32(255) * np.minimum(ways, 4 - ways).clip(0, 1)
    return saturated_cast(value[:, :, None] * (1 - lowered))
