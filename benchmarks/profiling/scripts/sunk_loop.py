"""A training whose loop of 100 iterations is on the device: the host issues it once."""

import tempfile

import numpy as np
import tensorflow as tf
from npu_bridge.npu_init import *  # noqa: F403  (as converted scripts have it)

N_ITERATIONS = 100


def inputs():
    pictures = np.random.RandomState(0).rand(64, 28, 28, 1).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices((pictures, np.arange(64) % 10)).repeat().batch(16, drop_remainder=True)


def model(features, labels, mode):
    net = tf.layers.max_pooling2d(tf.layers.conv2d(features, 8, 5, activation=tf.nn.relu), 2, 2)
    logits = tf.layers.dense(tf.layers.flatten(net), 10)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    train = tf.train.AdamOptimizer().minimize(loss, tf.train.get_global_step())
    return NPUEstimatorSpec(mode, loss=loss, train_op=train)  # noqa: F405


with tempfile.TemporaryDirectory() as folder:
    config = NPURunConfig(model_dir=folder, iterations_per_loop=N_ITERATIONS, save_checkpoints_steps=N_ITERATIONS)  # noqa: F405
    NPUEstimator(model, config=config).train(inputs, steps=N_ITERATIONS)  # noqa: F405
