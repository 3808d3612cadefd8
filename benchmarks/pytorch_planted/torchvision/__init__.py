"""A stand-in for torchvision: the names that the scripts of benchmarks.pytorch_scripts use, with pictures drawn from a seed."""

from . import datasets, transforms, utils

__all__ = ["datasets", "transforms", "utils"]
