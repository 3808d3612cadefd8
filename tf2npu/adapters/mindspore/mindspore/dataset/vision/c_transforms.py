"""Transforms of images that MindSpore computes with OpenCV: over numpy arrays (height, width, channels)."""

from __future__ import annotations

from ..core.refusal import refused_class
from ._colors import HWC2CHW, CutOut, Invert, Normalize, NormalizePad, RandomColorAdjust, Rescale
from ._crops import (
    CenterCrop,
    Decode,
    Pad,
    RandomCrop,
    RandomCropDecodeResize,
    RandomHorizontalFlip,
    RandomResize,
    RandomResizedCrop,
    RandomVerticalFlip,
    Resize,
)
from .utils import Border, ImageBatchFormat, Inter

_WRITE_A_FUNCTION = "give map a Python function of the image that does it"
_BOXES = "give map a Python function of the image and its boxes"
REFUSED = {
    "AutoContrast": _WRITE_A_FUNCTION,
    "BoundingBoxAugment": _BOXES,
    "CutMixBatch": "mix the batch in per_batch_map",
    "Equalize": _WRITE_A_FUNCTION,
    "MixUpBatch": "mix the batch in per_batch_map",
    "RandomAffine": _WRITE_A_FUNCTION,
    "RandomColor": "use RandomColorAdjust(saturation=...)",
    "RandomCropWithBBox": _BOXES,
    "RandomHorizontalFlipWithBBox": _BOXES,
    "RandomPosterize": _WRITE_A_FUNCTION,
    "RandomResizeWithBBox": _BOXES,
    "RandomResizedCropWithBBox": _BOXES,
    "RandomRotation": _WRITE_A_FUNCTION,
    "RandomSelectSubpolicy": "use RandomApply and RandomChoice",
    "RandomSharpness": _WRITE_A_FUNCTION,
    "RandomSolarize": _WRITE_A_FUNCTION,
    "RandomVerticalFlipWithBBox": _BOXES,
    "ResizeWithBBox": _BOXES,
    "SoftDvppDecodeRandomCropResizeJpeg": "use RandomCropDecodeResize",
    "SoftDvppDecodeResizeJpeg": "use Decode and Resize",
    "UniformAugment": "use RandomApply and RandomChoice",
}

globals().update(
    {_name: refused_class("mindspore.dataset.vision.c_transforms", _name, _instead) for _name, _instead in REFUSED.items()}
)

__all__ = [
    *REFUSED,
    "Border",
    "CenterCrop",
    "CutOut",
    "Decode",
    "HWC2CHW",
    "ImageBatchFormat",
    "Inter",
    "Invert",
    "Normalize",
    "NormalizePad",
    "Pad",
    "RandomColorAdjust",
    "RandomCrop",
    "RandomCropDecodeResize",
    "RandomHorizontalFlip",
    "RandomResize",
    "RandomResizedCrop",
    "RandomVerticalFlip",
    "Rescale",
    "Resize",
]
