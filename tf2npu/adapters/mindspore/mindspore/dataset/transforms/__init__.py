"""Transforms of any data."""

from .. import vision
from . import c_transforms, py_transforms

__all__ = ["c_transforms", "py_transforms", "vision"]
