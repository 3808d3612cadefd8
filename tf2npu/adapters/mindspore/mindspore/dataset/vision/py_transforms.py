"""Transforms of images that MindSpore computes with Pillow. A Pillow image is here an array (height, width, channels) of uint8.

Pillow is no dependency: functions between these transforms get arrays, and methods of Pillow's images are not there.
"""

from __future__ import annotations

import numpy as np

from ...common.dtype import np_type
from ..core.operation import Operation, number_in
from ..core.refusal import refused_class
from . import _crops, _pillow_colors
from ._colors import around, channel_values, padded_kind
from ._pillow import resampled
from ._pillow_colors import grey
from ._resize import known_interpolation, shorter_side, two_sides
from .decoding import decoded
from .utils import Border, Inter

_WRITE_A_FUNCTION = "give map a Python function of the image that does it"
REFUSED = dict.fromkeys(
    (
        "AutoContrast",
        "Equalize",
        "HsvToRgb",
        "RandomAffine",
        "RandomErasing",
        "RandomPerspective",
        "RandomRotation",
        "RandomSharpness",
    ),
    _WRITE_A_FUNCTION,
) | {
    "Cutout": "use c_transforms.CutOut before the image is made a tensor",
    "FiveCrop": _WRITE_A_FUNCTION,
    "LinearTransformation": _WRITE_A_FUNCTION,
    "MixUp": "mix the batch in per_batch_map",
    "RandomColor": "use RandomColorAdjust(saturation=...)",
    "RgbToHsv": _WRITE_A_FUNCTION,
    "TenCrop": _WRITE_A_FUNCTION,
    "UniformAugment": "use RandomApply and RandomChoice",
}
_PILLOW = (Inter.NEAREST, Inter.ANTIALIAS, Inter.LINEAR, Inter.CUBIC)

globals().update(
    {_name: refused_class("mindspore.dataset.vision.py_transforms", _name, _instead) for _name, _instead in REFUSED.items()}
)

__all__ = [
    *REFUSED,
    "Border",
    "CenterCrop",
    "Decode",
    "Grayscale",
    "HWC2CHW",
    "Inter",
    "Invert",
    "Normalize",
    "NormalizePad",
    "Pad",
    "RandomColorAdjust",
    "RandomCrop",
    "RandomGrayscale",
    "RandomHorizontalFlip",
    "RandomResizedCrop",
    "RandomVerticalFlip",
    "Resize",
    "ToPIL",
    "ToTensor",
    "ToType",
]


def picture(image: np.ndarray, who: str) -> np.ndarray:
    """The image, or an error where Pillow would have no image of it."""
    if image.dtype != np.uint8 or image.ndim not in (2, 3):
        raise TypeError(f"{who}: it needs an image of uint8 (height, width, channels), not {image.dtype} of shape {image.shape}")
    return image


class Decode(Operation):
    """The image in the bytes of a file, in RGB."""

    def apply(self, content):
        return decoded(content)


class ToPIL(Operation):
    """The image as it is, since arrays stand for Pillow's images here."""

    def apply(self, image):
        return picture(image, "ToPIL")


class ToTensor(Operation):
    """Values divided by 255, channels first."""

    def __init__(self, output_type=np.float32):
        self.kind = np.dtype(np_type(output_type))

    def apply(self, image):
        image = _crops.check_image(image, "ToTensor")
        image = image[:, :, None] if image.ndim == 2 else image
        return np.ascontiguousarray((image.transpose(2, 0, 1) / 255.0).astype(self.kind))


class ToType(Operation):
    """The same values in another type."""

    def __init__(self, output_type):
        self.kind = np.dtype(np_type(output_type))

    def apply(self, image):
        return image.astype(self.kind)


class HWC2CHW(Operation):
    """An image with its channels first."""

    def apply(self, image):
        if image.ndim != 3:
            raise TypeError(f"HWC2CHW: an image has the axes height, width and channels, and this has the shape {image.shape}")
        return np.ascontiguousarray(image.transpose(2, 0, 1))


class Normalize(Operation):
    """(values - mean) / std for each channel of an image (channels, height, width)."""

    def __init__(self, mean, std):
        self.mean, self.std = channel_values("Normalize", mean, std)

    def apply(self, image):
        if image.ndim != 3 or len(self.mean) not in (1, len(image)):
            raise ValueError(
                f"Normalize: mean has {len(self.mean)} values and the image the shape {image.shape}; give a value a "
                "channel, and call ToTensor before it"
            )
        mean, std = (values.astype(image.dtype)[:, None, None] for values in (self.mean, self.std))
        return (image - mean) / std


class NormalizePad(Normalize):
    """`Normalize`, and one more channel of zeros."""

    def __init__(self, mean, std, dtype="float32"):
        super().__init__(mean, std)
        self.kind = padded_kind(dtype)

    def apply(self, image):
        return np.pad(super().apply(image), ((0, 1), (0, 0), (0, 0))).astype(self.kind)


class Resize(Operation):
    """An image in another size. One number is the shorter side, and proportions stay."""

    def __init__(self, size, interpolation=Inter.BILINEAR):
        two_sides("Resize", size)
        self.size, self.interpolation = size, known_interpolation("Resize", interpolation, _PILLOW)

    def apply(self, image):
        picture(image, "Resize")
        sides = self.size
        if isinstance(sides, (int, np.integer)):
            sides = image.shape[:2] if min(image.shape[:2]) == sides else shorter_side(image.shape, sides)
        return resampled(image, *sides, self.interpolation)


class CenterCrop(Operation):
    """The middle of an image, with zeros around where the image is smaller."""

    def __init__(self, size):
        self.size = two_sides("CenterCrop", size)

    def apply(self, image):
        picture(image, "CenterCrop")
        new = np.zeros((*self.size, *image.shape[2:]), np.uint8)
        places = []
        for wanted, have in zip(self.size, image.shape[:2], strict=True):
            first = round((have - wanted) / 2)
            places.append((slice(max(0, -first), min(wanted, have - first)), slice(max(0, first), min(have, first + wanted))))
        (rows, old_rows), (columns, old_columns) = places
        new[rows, columns] = image[old_rows, old_columns]
        return new


class Pad(_crops.Pad):
    """A border around an image."""


class RandomCrop(_crops.RandomCrop):
    """A part of an image at a place that is drawn, after a border was put around it."""


class RandomHorizontalFlip(_crops.RandomHorizontalFlip):
    """An image or, with the given probability, its mirror image."""


class RandomVerticalFlip(_crops.RandomVerticalFlip):
    """An image or, with the given probability, the image upside down."""


class RandomResizedCrop(_crops.RandomResizedCrop):
    """A part of an image, of an area and proportions that are drawn, resized as Pillow does."""

    def __init__(self, size, scale=_crops.SCALE, ratio=_crops.RATIO, interpolation=Inter.BILINEAR, max_attempts=10):
        super().__init__(size, scale, ratio, Inter.LINEAR, max_attempts)
        self.interpolation = known_interpolation("RandomResizedCrop", interpolation, _PILLOW)

    def apply(self, image):
        top, left, height, width = self.box(*picture(image, "RandomResizedCrop").shape[:2])
        return resampled(image[top : top + height, left : left + width], *self.size, self.interpolation)


class Invert(Operation):
    """255 - values."""

    def apply(self, image):
        return 255 - picture(image, "Invert")


def colours(image: np.ndarray, who: str) -> np.ndarray:
    if picture(image, who).ndim != 3 or image.shape[2] != 3:
        raise TypeError(f"{who}: it needs an RGB image, not one of shape {image.shape}")
    return image


class Grayscale(Operation):
    """Grey values, in one channel (height, width) or in three."""

    def __init__(self, num_output_channels=1):
        if num_output_channels not in (1, 3):
            raise ValueError(f"Grayscale: num_output_channels is {num_output_channels!r}; give 1 or 3")
        self.channels = num_output_channels

    def apply(self, image):
        values = grey(colours(image, "Grayscale"))
        return values if self.channels == 1 else np.repeat(values[:, :, None], 3, axis=2)


class RandomGrayscale(Operation):
    """An image or, with the given probability, its grey values in three channels."""

    def __init__(self, prob=0.1):
        self.prob = number_in("RandomGrayscale", "prob", prob, 0, 1)

    def apply(self, image):
        colours(image, "RandomGrayscale")
        return np.repeat(grey(image)[:, :, None], 3, axis=2) if self.random.random_sample() < self.prob else image


class RandomColorAdjust(Operation):
    """An image whose brightness, contrast, saturation and hue are changed by factors that are drawn, in an order that is drawn.

    A number c stands for the limits 1 - c and 1 + c; for hue, -c and c, in turns of the colour circle.
    """

    def __init__(self, brightness=(1, 1), contrast=(1, 1), saturation=(1, 1), hue=(0, 0)):
        self.limits = {
            _pillow_colors.brightened: around("brightness", brightness, 1, 0, 2.0**24),
            _pillow_colors.contrasted: around("contrast", contrast, 1, 0, 2.0**24),
            _pillow_colors.saturated: around("saturation", saturation, 1, 0, 2.0**24),
            _pillow_colors.hue_turned: around("hue", hue, 0, -0.5, 0.5),
        }

    def apply(self, image):
        colours(image, "RandomColorAdjust")
        changes = list(self.limits)
        for place in self.random.permutation(len(changes)):
            image = changes[place](image, self.random.uniform(*self.limits[changes[place]]))
        return image
