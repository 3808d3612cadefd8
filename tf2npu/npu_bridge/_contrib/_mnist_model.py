"""The two-layer MNIST network of TF 1.15's tutorial. Source: tensorflow/examples/tutorials/mnist/mnist.py of TF 1.15."""

from __future__ import annotations

import math
from typing import Any

import tensorflow as tf

NUM_CLASSES = 10
"""The ten digits."""
IMAGE_SIZE = 28
"""Pixels of a side of an MNIST image."""
IMAGE_PIXELS = IMAGE_SIZE * IMAGE_SIZE


def _dense(scope: str, inputs: Any, n_inputs: int, n_outputs: int) -> tf.Tensor:
    with tf.name_scope(scope):
        spread = 1.0 / math.sqrt(float(n_inputs))
        weights = tf.Variable(tf.truncated_normal([n_inputs, n_outputs], stddev=spread), name="weights")
        return tf.matmul(inputs, weights) + tf.Variable(tf.zeros([n_outputs]), name="biases")


def inference(images: Any, hidden1_units: int, hidden2_units: int) -> tf.Tensor:
    """Logits (batch, 10) of images (batch, 784)."""
    hidden1 = tf.nn.relu(_dense("hidden1", images, IMAGE_PIXELS, hidden1_units))
    hidden2 = tf.nn.relu(_dense("hidden2", hidden1, hidden1_units, hidden2_units))
    return _dense("softmax_linear", hidden2, hidden2_units, NUM_CLASSES)


def loss(logits: Any, labels: Any) -> tf.Tensor:
    """Mean cross entropy."""
    return tf.losses.sparse_softmax_cross_entropy(labels=tf.cast(labels, tf.int64), logits=logits)


def training(loss: Any, learning_rate: float) -> tf.Operation:
    """A step of gradient descent, counted in ``global_step``."""
    tf.summary.scalar("loss", loss)
    global_step = tf.Variable(0, name="global_step", trainable=False)
    return tf.train.GradientDescentOptimizer(learning_rate).minimize(loss, global_step=global_step)


def evaluation(logits: Any, labels: Any) -> tf.Tensor:
    """The number of correct predictions in the batch."""
    return tf.reduce_sum(tf.cast(tf.nn.in_top_k(predictions=logits, targets=labels, k=1), tf.int32))
