"""Input functions for the handwritten digits."""
import os

import numpy as np
import tensorflow as tf

NUM_TRAIN = 1500


def load_digits(data_dir):
    """Reads digits.npz; the 8x8 images are enlarged to 24x24 and padded to the 28x28 that LeNet wants."""
    with np.load(os.path.join(data_dir, 'digits.npz')) as data:
        images = data['images'].astype(np.float32) / 16.0
        labels = data['labels'].astype(np.int32)
    images = np.kron(images, np.ones((1, 3, 3), np.float32))
    images = np.pad(images, ((0, 0), (2, 2), (2, 2)), 'constant')[..., np.newaxis]
    train = (images[:NUM_TRAIN], labels[:NUM_TRAIN])
    test = (images[NUM_TRAIN:], labels[NUM_TRAIN:])
    return train, test


def train_input_fn(images, labels, batch_size, seed):
    ds = tf.data.Dataset.from_tensor_slices(({'image': images}, labels))
    ds = ds.shuffle(buffer_size=len(labels), seed=seed).repeat()
    ds = ds.batch(batch_size)
    return ds.prefetch(1)


def eval_input_fn(images, labels, batch_size):
    ds = tf.data.Dataset.from_tensor_slices(({'image': images}, labels))
    return ds.batch(batch_size)


def predict_input_fn(images, batch_size):
    return tf.data.Dataset.from_tensor_slices({'image': images}).batch(batch_size)
