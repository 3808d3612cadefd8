"""Transforms of pictures, which are arrays of (height, width) or (height, width, channels), or Pillow's."""

import numpy as np
import torch


class Compose:
    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, picture):
        for transform in self.transforms:
            picture = transform(picture)
        return picture


class ToTensor:
    """Bytes from 0 to 255 as float32 from 0 to 1, channels first."""

    def __call__(self, picture):
        array = np.array(picture)
        array = array[None] if array.ndim == 2 else array.transpose(2, 0, 1)
        return torch.from_numpy(np.ascontiguousarray(array)).float() / 255


class Normalize:
    def __init__(self, mean, std):
        self.mean, self.std = (torch.tensor(values).view(-1, 1, 1) for values in (mean, std))

    def __call__(self, picture):
        return (picture - self.mean) / self.std


class Resize:
    """The shorter side gets a size; each point is the nearest one of the picture."""

    def __init__(self, size):
        self.size = size

    def __call__(self, picture):
        array = np.asarray(picture)
        height, width = array.shape[:2]
        scale = self.size / min(height, width)
        rows, columns = (np.arange(round(side * scale)) * side // round(side * scale) for side in (height, width))
        return array[rows][:, columns]


class CenterCrop:
    def __init__(self, size):
        self.size = size

    def __call__(self, picture):
        array = np.asarray(picture)
        top, left = ((side - self.size) // 2 for side in array.shape[:2])
        return array[top : top + self.size, left : left + self.size]
