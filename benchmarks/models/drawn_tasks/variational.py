"""Variational autoencoders: a normal code drawn by reparametrisation, the error of the image and the divergence."""

from __future__ import annotations

import tensorflow.compat.v1 as tf

from benchmarks.models.drawn import Draws
from benchmarks.models.drawn_tasks.choices import activation, training_step
from benchmarks.models.model import Model, integers, numbers


def _drawn_code(mean: tf.Tensor, logarithm: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """A code, and the divergence of its distribution from the standard normal one, (batch,); logarithm: of the variance."""
    code = mean + tf.exp(0.5 * logarithm) * tf.random_normal(tf.shape(mean))
    return code, -0.5 * tf.reduce_sum(1 + logarithm - tf.square(mean) - tf.exp(logarithm), 1)


def dense_variational(draws: Draws) -> Model:
    """Dense layers on black and white pixels, a class beside the code."""
    batch, n_pixels, n_classes = draws.size(16, 256), draws.size(100, 1200), 10
    size, act, depth = draws.size(2, 50), activation(draws), draws.one_of(1, 2, 3)
    widths = [draws.size(60, 600) for _ in range(depth)]
    pixels, classes = tf.placeholder(tf.float32, [batch, n_pixels]), tf.placeholder(tf.int32, [batch])
    condition = tf.one_hot(classes, n_classes)
    net = tf.concat([pixels, condition], 1)
    for width in widths:
        net = tf.layers.dense(net, width, act)
    code, divergence = _drawn_code(tf.layers.dense(net, size), tf.layers.dense(net, size))
    net = tf.concat([code, condition], 1)
    for width in reversed(widths):
        net = tf.layers.dense(net, width, act)
    errors = tf.nn.sigmoid_cross_entropy_with_logits(labels=pixels, logits=tf.layers.dense(net, n_pixels))
    loss = tf.reduce_mean(tf.reduce_sum(errors, 1) + divergence)
    feeds = {pixels: integers(2, batch, n_pixels).astype("float32"), classes: integers(n_classes, batch)}
    return Model(loss, training_step(draws, loss), feeds)


def convolutional_variational(draws: Draws) -> Model:
    """Convolutions down to a code, transposed ones up again; the divergence counts more or less."""
    batch, side, depth = draws.size(8, 48), 8 * draws.size(3, 8), draws.size(12, 40)
    size, act, beta = draws.size(8, 100), activation(draws), draws.one_of(1, 4)
    images = net = tf.placeholder(tf.float32, [batch, side, side, draws.one_of(1, 3)])
    for factor in (1, 2, 4):
        net = tf.layers.conv2d(net, factor * depth, draws.one_of(3, 4, 5), 2, padding="same", use_bias=False)
        net = act(tf.layers.batch_normalization(net, training=True))
    small, channels = int(net.shape[1]), int(net.shape[3])
    flat = tf.layers.flatten(net)
    mean, logarithm = tf.split(tf.layers.dense(flat, 2 * size), 2, 1)
    code, divergence = _drawn_code(mean, logarithm)
    net = tf.reshape(tf.layers.dense(code, small * small * channels, act), [batch, small, small, channels])
    for factor in (2, 1):
        net = act(tf.layers.conv2d_transpose(net, factor * depth, draws.one_of(3, 4, 5), 2, padding="same"))
    made = tf.layers.conv2d_transpose(net, int(images.shape[3]), 4, 2, padding="same")
    loss = tf.reduce_mean(tf.reduce_sum(tf.square(made - images), [1, 2, 3]) + beta * divergence)
    return Model(loss, training_step(draws, loss), {images: numbers(*images.shape.as_list())})
