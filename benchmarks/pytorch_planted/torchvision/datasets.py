"""Sets of pictures that are drawn from a seed; nothing is downloaded or read. TF2NPU_PLANTED_IMAGES says how many."""

import os

import numpy as np
import torch

TEST_PART = 10
"""The test set has one picture for ten of the training set."""


class _Pictures(torch.utils.data.Dataset):
    """Pictures of ten classes, each with a pattern and noise.  shape: height, width, and channels unless it is grey."""

    shape = (28, 28)

    def __init__(self, root="", train=True, transform=None, target_transform=None, download=False):
        count = int(os.environ.get("TF2NPU_PLANTED_IMAGES", "1000")) // (1 if train else TEST_PART)
        drawn = np.random.default_rng(1 if train else 2)
        patterns = np.random.default_rng(0).integers(0, 200, (10, *self.shape))
        labels = drawn.integers(0, 10, count)
        noise = drawn.integers(0, 56, (count, *self.shape))
        self.data = torch.from_numpy((patterns[labels] + noise).astype(np.uint8))
        self.targets = torch.from_numpy(labels)
        self.transform, self.target_transform = transform, target_transform

    def __len__(self):
        return len(self.data)

    def __getitem__(self, index):
        picture, label = self.data[index].numpy(), int(self.targets[index])
        return picture if self.transform is None else self.transform(picture), label


class MNIST(_Pictures):
    """Grey pictures of 28 times 28."""


class CIFAR10(_Pictures):
    """Coloured pictures of 32 times 32."""

    shape = (32, 32, 3)


class FakeData(_Pictures):
    """Coloured pictures of any size.  image_size: channels, height, width."""

    def __init__(self, size=1000, image_size=(3, 224, 224), num_classes=10, transform=None, target_transform=None):
        self.shape = (image_size[1], image_size[2], image_size[0])
        super().__init__(transform=transform)
