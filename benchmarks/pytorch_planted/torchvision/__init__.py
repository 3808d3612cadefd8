"""A stand-in for torchvision: the names that the scripts of benchmarks.pytorch_scripts use, with pictures drawn from a seed."""

import torch

from . import datasets, transforms, utils

__all__ = ["datasets", "transforms", "utils"]

torch.manual_seed(1)  # many scripts seed nothing, and PyTorch begins with another seed in each process
