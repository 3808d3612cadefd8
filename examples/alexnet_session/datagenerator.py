"""Feeds the handwritten digits through tf.data."""
import os

import numpy as np
import tensorflow as tf


class ImageDataGenerator(object):
    """Wrapper class around the dataset of one split."""

    def __init__(self, data_dir, mode, batch_size, num_classes, shuffle=False, seed=None):
        """Create a new ImageDataGenerator.

        Args:
            data_dir: Directory with digits.npz.
            mode: Either 'training' or 'inference': the first 1500 images or the other 297.
            batch_size: Number of images per batch.
            num_classes: Number of classes in the dataset.
            shuffle: Whether to shuffle the data of every epoch.
            seed: Seed of the shuffling.

        Raises:
            ValueError: If an invalid mode is passed.
        """
        self.num_classes = num_classes
        with np.load(os.path.join(data_dir, 'digits.npz')) as digits:
            if mode == 'training':
                images, labels = digits['images'][:1500], digits['labels'][:1500]
            elif mode == 'inference':
                images, labels = digits['images'][1500:], digits['labels'][1500:]
            else:
                raise ValueError("Invalid mode '%s'." % (mode))

        self.mean = np.float32(4.9)
        self.data_size = len(labels)

        data = tf.data.Dataset.from_tensor_slices((images, labels.astype(np.int32)))
        if shuffle:
            data = data.shuffle(buffer_size=self.data_size, seed=seed)
        data = data.map(self._parse_function, num_parallel_calls=2)
        data = data.batch(batch_size)
        self.data = data.prefetch(2)

    def _parse_function(self, image, label):
        """Turns a raw 8x8 image into a centred 16x16 one and the label into one-hot encoding."""
        one_hot = tf.one_hot(label, self.num_classes)
        image = tf.expand_dims(tf.cast(image, tf.float32), -1)
        image = tf.image.resize_nearest_neighbor(tf.expand_dims(image, 0), [16, 16])[0]
        image = (image - self.mean) / 16.0
        return image, one_hot
