"""A stand-in for torchvision: the names that the scripts of benchmarks.pytorch_scripts use, with pictures drawn from a seed."""

import sys

import torch

from . import datasets, saved_pictures, transforms

utils = sys.modules["torchvision.utils"] = saved_pictures
__all__ = ["datasets", "transforms", "utils"]

torch.manual_seed(1)  # many scripts seed nothing, and PyTorch begins with another seed in each process
