"""Networks that a seeded generator draws: kind, widths, depths, batch and image sizes, odd ones among them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import tensorflow.compat.v1 as tf

from benchmarks.models.model import Model, classifier, integers, numbers

SEED = 33
"""The first that was tried, and the only one: the number of the task that asked for these networks."""
N_NETWORKS = 12
N_CLASSES = 10


class Draws:
    """Numbers of one network."""

    def __init__(self, seed: int, index: int) -> None:
        self._generator = np.random.default_rng((seed, index))

    def size(self, least: int, most: int) -> int:
        """A whole number, each factor as likely as another."""
        return int(np.exp(self._generator.uniform(np.log(least), np.log(most + 1))))

    def one_of(self, *values: int) -> int:
        return int(self._generator.choice(values))


def _optimizer(draws: Draws) -> tf.train.Optimizer:
    return (tf.train.AdamOptimizer(1e-3), tf.train.MomentumOptimizer(1e-3, 0.9))[draws.one_of(0, 1)]


def _images(draws: Draws) -> tf.Tensor:
    side = draws.size(16, 72)
    return tf.placeholder(tf.float32, [draws.size(4, 48), side, side, draws.one_of(1, 3)])


def _normalized(net: tf.Tensor) -> tf.Tensor:
    return tf.nn.relu(tf.layers.batch_normalization(net, training=True))


def _classified(draws: Draws, images: tf.Tensor, net: tf.Tensor) -> Model:
    pooled = tf.reduce_mean(net, [1, 2]) if len(net.shape) == 4 else net
    return classifier(images, tf.layers.dense(pooled, N_CLASSES), N_CLASSES, _optimizer(draws))


def perceptron(draws: Draws) -> Model:
    """Dense layers of odd widths."""
    rows = tf.placeholder(tf.float32, [draws.size(16, 512), draws.size(20, 2000)])
    net = rows
    for _ in range(draws.one_of(2, 3, 4, 5)):
        net = tf.layers.dense(net, draws.size(50, 1500), tf.nn.relu)
    return _classified(draws, rows, net)


def plain_convolutions(draws: Draws) -> Model:
    """Convolutions with bias and pooling."""
    images = net = _images(draws)
    for _ in range(draws.one_of(2, 3)):
        for _ in range(draws.one_of(1, 2)):
            net = tf.layers.conv2d(net, draws.size(12, 96), draws.one_of(3, 3, 5), padding="same", activation=tf.nn.relu)
        net = tf.layers.max_pooling2d(net, 2, 2)
    net = tf.layers.dense(tf.layers.flatten(net), draws.size(40, 400), tf.nn.relu)
    return _classified(draws, images, net)


def residual_convolutions(draws: Draws) -> Model:
    """Blocks of two normalised convolutions and a shortcut."""
    images = _images(draws)
    depth = draws.size(8, 40)
    net = _normalized(tf.layers.conv2d(images, depth, 3, padding="same", use_bias=False))
    for stride in (1, 2, 2)[: draws.one_of(2, 3)]:
        depth = depth * stride
        for first in (True, False)[: draws.one_of(1, 2)]:
            strides = stride if first else 1
            inner = _normalized(tf.layers.conv2d(net, depth, 3, strides, padding="same", use_bias=False))
            shortcut = tf.layers.conv2d(net, depth, 1, strides, padding="same", use_bias=False) if strides > 1 else net
            net = _normalized(shortcut + tf.layers.conv2d(inner, depth, 3, padding="same", use_bias=False))
    return _classified(draws, images, net)


def separable_convolutions(draws: Draws) -> Model:
    """Depthwise and pointwise convolutions."""
    images = _images(draws)
    net = _normalized(tf.layers.conv2d(images, draws.size(12, 48), 3, 2, padding="same", use_bias=False))
    for _ in range(draws.one_of(3, 4, 5)):
        stride = draws.one_of(1, 1, 2)
        net = tf.layers.separable_conv2d(net, draws.size(24, 160), draws.one_of(3, 5), stride, padding="same", use_bias=False)
        net = _normalized(net)
    return _classified(draws, images, net)


def autoencoder(draws: Draws) -> Model:
    """Convolutions down and transposed ones up again; the squared error of the image."""
    side, depth = 4 * draws.size(6, 18), draws.size(12, 48)
    images = net = tf.placeholder(tf.float32, [draws.size(4, 32), side, side, 3])
    for factor in (1, 2):
        net = _normalized(tf.layers.conv2d(net, factor * depth, draws.one_of(3, 4, 5), 2, padding="same"))
    net = _normalized(tf.layers.conv2d_transpose(net, depth, draws.one_of(3, 4, 5), 2, padding="same"))
    made = tf.layers.conv2d_transpose(net, 3, 4, 2, padding="same", activation=tf.nn.tanh)
    loss = tf.reduce_mean(tf.square(made - images))
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        return Model(loss, _optimizer(draws).minimize(loss), {images: numbers(*images.shape.as_list())})


def recurrent(draws: Draws) -> Model:
    """An LSTM or a GRU over a sequence, in a loop of the graph."""
    cell = (tf.nn.rnn_cell.LSTMCell, tf.nn.rnn_cell.GRUCell)[draws.one_of(0, 1)](draws.size(32, 256))
    sequences = tf.placeholder(tf.float32, [draws.size(8, 64), draws.size(10, 60), draws.size(16, 128)])
    outputs, _ = tf.nn.dynamic_rnn(cell, sequences, dtype=tf.float32)
    return _classified(draws, sequences, outputs[:, -1])


def attention(draws: Draws) -> Model:
    """Layers of a transformer's encoder over embedded words."""
    n_heads, batch, length = draws.one_of(2, 4, 8), draws.size(2, 16), draws.size(16, 96)
    width, n_words = n_heads * draws.size(12, 48), draws.size(500, 5000)
    words = tf.placeholder(tf.int32, [batch, length])
    net = tf.gather(tf.get_variable("words", [n_words, width]), words)
    for _ in range(draws.one_of(1, 2)):
        heads = [
            tf.transpose(tf.reshape(tf.layers.dense(net, width), [batch, length, n_heads, -1]), [0, 2, 1, 3]) for _ in range(3)
        ]
        scores = tf.nn.softmax(tf.matmul(heads[0], heads[1], transpose_b=True) / np.sqrt(width / n_heads))
        mixed = tf.reshape(tf.transpose(tf.matmul(scores, heads[2]), [0, 2, 1, 3]), [batch, length, width])
        net = _layer_norm(net + tf.layers.dense(mixed, width))
        net = _layer_norm(net + tf.layers.dense(tf.layers.dense(net, 4 * width, tf.nn.relu), width))
    target = tf.placeholder(tf.int32, [batch])
    loss = tf.losses.sparse_softmax_cross_entropy(target, tf.layers.dense(tf.reduce_mean(net, 1), N_CLASSES))
    feeds = {words: integers(n_words, batch, length), target: integers(N_CLASSES, batch)}
    return Model(loss, _optimizer(draws).minimize(loss), feeds)


def _layer_norm(net: tf.Tensor) -> tf.Tensor:
    mean, variance = tf.nn.moments(net, [-1], keepdims=True)
    return (net - mean) * tf.rsqrt(variance + 1e-6)


KINDS: tuple[Callable[[Draws], Model], ...] = (
    perceptron, plain_convolutions, residual_convolutions, separable_convolutions, autoencoder, recurrent, attention,
)  # fmt: skip


def network(index: int) -> tuple[str, Model]:
    """The name of a network of the generator and its graph."""
    draws = Draws(SEED, index)
    kind = KINDS[draws.one_of(*range(len(KINDS)))]
    return f"{index} {kind.__name__}", kind(draws)
