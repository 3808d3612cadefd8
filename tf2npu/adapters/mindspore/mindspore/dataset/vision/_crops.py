"""Transforms of c_transforms that take parts of an image, turn it or put a border around it."""

from __future__ import annotations

import math

import numpy as np

from ..core.operation import Operation, number_in
from ._resize import known_interpolation, resized, shorter_side, two_sides
from .decoding import decoded
from .utils import Border, Inter

SCALE, RATIO = (0.08, 1.0), (3 / 4, 4 / 3)
"""Shares of the area, and proportions of width and height, between which crops are drawn by default."""


def check_image(image: np.ndarray, who: str) -> np.ndarray:
    if image.ndim not in (2, 3):
        raise RuntimeError(f"{who}: an image has the axes height, width and channels, and this has the shape {image.shape}")
    return image


def four_sides(who: str, padding) -> tuple[int, int, int, int]:
    """Left, top, right and bottom of a padding of one number, of two (left and right, top and bottom) or of four."""
    if isinstance(padding, (int, np.integer)):
        sides = (padding,) * 4
    elif isinstance(padding, (list, tuple)) and len(padding) in (2, 4):
        sides = tuple(padding) * (4 // len(padding))
    else:
        raise TypeError(f"{who}: padding is {padding!r}; give one, two or four whole numbers")
    if any(not isinstance(side, (int, np.integer)) or side < 0 for side in sides):
        raise ValueError(f"{who}: padding is {padding!r}; give whole numbers from 0 on")
    return sides


def known_border(who: str, mode) -> Border:
    if not isinstance(mode, Border):
        raise TypeError(f"{who}: padding_mode is {mode!r}; give one of {', '.join(f'Border.{one.name}' for one in Border)}")
    return mode


def fill_values(who: str, fill):
    """A fill value for all channels, or three of them."""
    values = (fill,) if isinstance(fill, (int, np.integer)) else tuple(fill) if isinstance(fill, (list, tuple)) else ()
    if len(values) not in (1, 3) or any(not isinstance(one, (int, np.integer)) or not 0 <= one <= 255 for one in values):
        raise ValueError(f"{who}: fill_value is {fill!r}; give a whole number from 0 to 255, or three of them")
    return np.array(values)


def bordered(image: np.ndarray, sides, fill: np.ndarray, mode: Border) -> np.ndarray:
    left, top, right, bottom = sides
    if not any(sides):
        return image
    widths = ((top, bottom), (left, right)) + ((0, 0),) * (image.ndim - 2)
    if mode is not Border.CONSTANT:
        return np.pad(image, widths, mode.value)
    height, width = image.shape[:2]
    new = np.empty((height + top + bottom, width + left + right, *image.shape[2:]), image.dtype)
    new[...] = fill if image.ndim == 3 and len(fill) == image.shape[2] else fill[0]
    new[top : top + height, left : left + width] = image
    return new


class CenterCrop(Operation):
    """The middle of an image, with zeros around where the image is smaller."""

    def __init__(self, size):
        self.size = two_sides("CenterCrop", size)

    def apply(self, image):
        check_image(image, "CenterCrop")
        height, width = self.size
        missing = [max(0, wanted - have) for wanted, have in zip(self.size, image.shape[:2], strict=True)]
        sides = (missing[1] - missing[1] // 2, missing[0] - missing[0] // 2, missing[1] // 2, missing[0] // 2)
        image = bordered(image, sides, np.zeros(1), Border.CONSTANT)
        top, left = (image.shape[0] - height) // 2, (image.shape[1] - width) // 2
        return image[top : top + height, left : left + width]


class Pad(Operation):
    """A border around an image."""

    def __init__(self, padding, fill_value=0, padding_mode=Border.CONSTANT):
        self.sides, self.fill = four_sides("Pad", padding), fill_values("Pad", fill_value)
        self.mode = known_border("Pad", padding_mode)

    def apply(self, image):
        return bordered(check_image(image, "Pad"), self.sides, self.fill, self.mode)


class RandomCrop(Operation):
    """A part of an image at a place that is drawn, after a border was put around it."""

    def __init__(self, size, padding=None, pad_if_needed=False, fill_value=0, padding_mode=Border.CONSTANT):
        self.size = two_sides("RandomCrop", size)
        self.sides = four_sides("RandomCrop", padding or 0)
        self.pad_if_needed, self.fill = pad_if_needed, fill_values("RandomCrop", fill_value)
        self.mode = known_border("RandomCrop", padding_mode)

    def apply(self, image):
        image = bordered(check_image(image, "RandomCrop"), self.sides, self.fill, self.mode)
        missing = [max(0, wanted - have) for wanted, have in zip(self.size, image.shape[:2], strict=True)]
        if any(missing) and not self.pad_if_needed:
            raise RuntimeError(
                f"RandomCrop: size {self.size} is larger than the image {image.shape[:2]}: give padding, pad_if_needed=True or a "
                "smaller size"
            )
        image = bordered(image, (missing[1], missing[0]) * 2, self.fill, self.mode)
        top, left = (self.random.randint(have - wanted + 1) for have, wanted in zip(image.shape, self.size, strict=False))
        return image[top : top + self.size[0], left : left + self.size[1]]


class RandomHorizontalFlip(Operation):
    """An image or, with the given probability, its mirror image."""

    def __init__(self, prob=0.5):
        self.prob = number_in("RandomHorizontalFlip", "prob", prob, 0, 1)

    def apply(self, image):
        flips = self.random.random_sample() < self.prob
        return np.ascontiguousarray(image[:, ::-1]) if flips else check_image(image, "RandomHorizontalFlip")


class RandomVerticalFlip(Operation):
    """An image or, with the given probability, the image upside down."""

    def __init__(self, prob=0.5):
        self.prob = number_in("RandomVerticalFlip", "prob", prob, 0, 1)

    def apply(self, image):
        flips = self.random.random_sample() < self.prob
        return np.ascontiguousarray(image[::-1]) if flips else check_image(image, "RandomVerticalFlip")


class Resize(Operation):
    """An image in another size. One number is the shorter side, and proportions stay."""

    def __init__(self, size, interpolation=Inter.LINEAR):
        two_sides("Resize", size)
        self.size, self.interpolation = size, known_interpolation("Resize", interpolation)

    def apply(self, image):
        check_image(image, "Resize")
        sides = shorter_side(image.shape, self.size) if isinstance(self.size, (int, np.integer)) else self.size
        return resized(image, *sides, self.interpolation, "Resize")


class RandomResize(Operation):
    """An image in another size, with an interpolation that is drawn."""

    def __init__(self, size):
        two_sides("RandomResize", size)
        self.size = size

    def apply(self, image):
        drawn = (Inter.NEAREST, Inter.LINEAR, Inter.CUBIC)[self.random.randint(3)]
        return Resize(self.size, drawn).apply(image)


class RandomResizedCrop(Operation):
    """A part of an image, of an area and proportions that are drawn, resized.

    After max_attempts draws that do not fit into the image it is the middle, with proportions as near as the limits allow.
    """

    def __init__(self, size, scale=SCALE, ratio=RATIO, interpolation=Inter.LINEAR, max_attempts=10):
        who = type(self).__name__
        self.size = two_sides(who, size)
        self.scale, self.ratio = interval(who, "scale", scale), interval(who, "ratio", ratio)
        self.interpolation = known_interpolation(who, interpolation)
        self.max_attempts = int(number_in(who, "max_attempts", max_attempts, 1, 2**31 - 1))

    def apply(self, image):
        who = type(self).__name__
        top, left, height, width = self.box(*check_image(image, who).shape[:2])
        return resized(image[top : top + height, left : left + width], *self.size, self.interpolation, who)

    def box(self, height: int, width: int) -> tuple[int, int, int, int]:
        """Top, left, height and width of the part. Proportions are drawn on a logarithmic scale."""
        for _ in range(self.max_attempts):
            area = height * width * self.random.uniform(*self.scale)
            proportion = math.exp(self.random.uniform(math.log(self.ratio[0]), math.log(self.ratio[1])))
            wide, high = round(math.sqrt(area * proportion)), round(math.sqrt(area / proportion))
            if 0 < wide <= width and 0 < high <= height:
                return self.random.randint(height - high + 1), self.random.randint(width - wide + 1), high, wide
        high, wide = height, width
        if width / height < self.ratio[0]:
            high = max(1, round(width / self.ratio[0]))
        elif width / height > self.ratio[1]:
            wide = max(1, round(height * self.ratio[1]))
        return (height - high) // 2, (width - wide) // 2, high, wide


class Decode(Operation):
    """The image in the bytes of a file, height x width x RGB."""

    def __init__(self, rgb=True):
        if rgb is not True:
            raise ValueError(
                "Decode: rgb=False (BGR) is not supported on the simulated device; decode and turn the channels in a function"
            )

    def apply(self, content):
        return decoded(content)


class RandomCropDecodeResize(RandomResizedCrop):
    """`RandomResizedCrop` of the image in the bytes of a file."""

    def apply(self, content):
        return super().apply(decoded(content, "RandomCropDecodeResize"))


def interval(who: str, name: str, limits) -> tuple[float, float]:
    """Two numbers above 0 or equal to it, of which the first is not the larger one."""
    if not isinstance(limits, (list, tuple)) or len(limits) != 2:
        raise TypeError(f"{who}: {name} is {limits!r}; give two numbers, the smaller one first")
    low, high = (number_in(who, name, limit, 0, 2.0**24) for limit in limits)
    if low > high or high == 0:
        raise ValueError(f"{who}: {name} is {limits!r}; give two numbers, the smaller one first, and the larger one above 0")
    return low, high
