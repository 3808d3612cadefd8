"""Transforms of images."""

from . import c_transforms, py_transforms
from .utils import Border, ImageBatchFormat, Inter

__all__ = ["Border", "ImageBatchFormat", "Inter", "c_transforms", "py_transforms"]
