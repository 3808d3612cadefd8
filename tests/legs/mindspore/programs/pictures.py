"""Batches of small pictures for the programs beside it: the row that is bright says the class."""

import mindspore.dataset as ds
import mindspore.dataset.transforms.c_transforms as C
import mindspore.dataset.vision.c_transforms as CV
import numpy as np
from mindspore.common import dtype as mstype

CLASSES = 4


def drawn(number, seed):
    """Pictures of 14 x 14 grey levels, and their classes."""
    generator = np.random.default_rng(seed)
    labels = generator.integers(0, CLASSES, number).astype(np.int32)
    pixels = generator.integers(0, 120, (number, 14, 14, 1)).astype(np.uint8)
    pixels[np.arange(number), labels * 3 + 1] += 130
    return pixels, labels


def create_dataset(number=256, batch_size=32, seed=1, epochs=1):
    """A dataset with the transforms of the guides."""
    data = ds.NumpySlicesDataset(dict(zip(("image", "label"), drawn(number, seed), strict=True)), shuffle=True)
    data = data.map(operations=C.TypeCast(mstype.int32), input_columns="label")
    transforms = [CV.Resize((16, 16)), CV.Rescale(1.0 / 255.0, 0.0), CV.HWC2CHW()]
    data = data.map(operations=transforms, input_columns="image", num_parallel_workers=1)
    return data.shuffle(buffer_size=64).batch(batch_size, drop_remainder=True).repeat(epochs)
