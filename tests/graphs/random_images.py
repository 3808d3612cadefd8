"""Random convolutional networks: normalisations, residual and squeeze blocks, branches, and losses of classifiers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf
import tf_slim as slim
from keras.src.legacy_tf_layers import normalization as keras_normalization
from tensorflow.python.layers import normalization

from tests.graphs.drawing import ACTIVATIONS, Draw, Network, Tensor, trained
from tests.graphs.training import Feeds, labels, numbers

normalization.normalization = keras_normalization  # TensorFlow looks for it in tf_keras, which is Keras 2 under another name

N_CLASSES = 4
Block = Callable[[Draw, Tensor], Tensor]


def n_channels(x: Tensor) -> int:
    return int(x.shape[3])


def side(x: Tensor) -> int:
    """The smaller one of height and width."""
    return min(int(x.shape[1]), int(x.shape[2]))


def instance_norm(x: Tensor) -> Tensor:
    mean, variance = tf.nn.moments(x, [1, 2], keep_dims=True)
    return _scaled((x - mean) * tf.rsqrt(variance + 0.01))


def group_norm(x: Tensor) -> Tensor:
    groups = 2 if n_channels(x) % 2 == 0 else 1
    grouped = tf.reshape(x, [-1, int(x.shape[1]), int(x.shape[2]), groups, n_channels(x) // groups])
    mean, variance = tf.nn.moments(grouped, [1, 2, 4], keep_dims=True)
    return _scaled(tf.reshape((grouped - mean) / tf.sqrt(variance + 0.01), [-1, *x.shape.as_list()[1:]]))


def layer_norm(x: Tensor) -> Tensor:
    mean = tf.reduce_mean(x, [-1], keepdims=True)
    return _scaled((x - mean) * tf.rsqrt(tf.reduce_mean(tf.squared_difference(x, mean), [-1], keepdims=True) + 0.01))


def _scaled(x: Tensor) -> Tensor:
    with tf.variable_scope(None, "scale"):
        gamma = tf.get_variable("gamma", x.shape[-1:], initializer=tf.random_uniform_initializer(0.7, 1.3))
        beta = tf.get_variable("beta", x.shape[-1:], initializer=tf.random_uniform_initializer(-0.3, 0.3))
    return x * gamma + beta


NORMS: dict[str, Callable[[Tensor], Tensor]] = {
    "no norm": tf.identity,
    "fused batch norm": lambda x: tf.layers.batch_normalization(x, training=True, epsilon=0.01),
    "plain batch norm": lambda x: tf.layers.batch_normalization(x, training=True, epsilon=0.01, fused=False),
    "frozen batch norm": lambda x: tf.layers.batch_normalization(x, training=False),
    "slim batch norm": lambda x: slim.batch_norm(x, is_training=True, scale=True, epsilon=0.01, decay=0.9),
    "instance norm": instance_norm, "group norm": group_norm, "layer norm": layer_norm,
    "local response norm": lambda x: tf.nn.local_response_normalization(x, depth_radius=2, bias=1.0, alpha=0.3, beta=0.6),
    "l2 norm": lambda x: tf.nn.l2_normalize(x, -1, epsilon=1e-3),
}  # fmt: skip


def convolved(draw: Draw, x: Tensor, filters: int, size: int, stride: int = 1) -> Tensor:
    """A convolution without what follows it.  1x1 filters keep stride 1: TensorFlow 2.15's gradient of others is not sound."""
    stride = stride if size > 1 else 1
    regularizer = draw.one_of([None, None, tf.keras.regularizers.l2(0.01)])
    return tf.layers.conv2d(
        x, filters, size, stride, "same", use_bias=draw.chance(0.7), kernel_regularizer=regularizer,
        kernel_initializer=draw.one_of([None, tf.random_normal_initializer(stddev=0.3), tf.variance_scaling_initializer(2.0)]),
        bias_initializer=tf.random_uniform_initializer(-0.2, 0.2),
    )  # fmt: skip


def normalised(draw: Draw, x: Tensor) -> Tensor:
    """A norm and an activation, in either order."""
    norm, activation = draw.named(NORMS), draw.named(ACTIVATIONS)
    return norm(activation(x)) if draw.chance(0.2) else activation(norm(x))


def convolution(draw: Draw, x: Tensor) -> Tensor:
    stride = draw.integer(1, 2) if side(x) >= 6 else 1
    return normalised(draw, convolved(draw, x, draw.integer(2, 8), draw.one_of([1, 2, 3, 3, 5]), stride))


def separable(draw: Draw, x: Tensor) -> Tensor:
    made = tf.layers.separable_conv2d(x, draw.integer(3, 6), 3, padding="same", depth_multiplier=draw.integer(1, 2))
    return normalised(draw, made)


def dilated(draw: Draw, x: Tensor) -> Tensor:
    return normalised(draw, tf.layers.conv2d(x, draw.integer(2, 6), 3, padding="same", dilation_rate=2))


def residual(draw: Draw, x: Tensor) -> Tensor:
    inner = normalised(draw, convolved(draw, x, n_channels(x), 3))
    return draw.named(ACTIVATIONS)(x + draw.named(NORMS)(convolved(draw, inner, n_channels(x), 3)))


def bottleneck(draw: Draw, x: Tensor) -> Tensor:
    """Narrow, convolved and wide again, beside a projection."""
    filters = draw.integer(4, 8)
    inner = normalised(draw, convolved(draw, x, 3, 1))
    inner = normalised(draw, convolved(draw, inner, 3, 3))
    return tf.nn.relu(draw.named(NORMS)(convolved(draw, inner, filters, 1)) + convolved(draw, x, filters, 1))


def squeeze(draw: Draw, x: Tensor) -> Tensor:
    """Squeeze and excite."""
    squeezed = tf.reduce_mean(x, [1, 2], keepdims=draw.chance(0.5))
    hidden = draw.named(ACTIVATIONS)(tf.layers.dense(squeezed, 3))
    gates = tf.sigmoid(tf.layers.dense(hidden, n_channels(x)))
    return x * tf.reshape(gates, [-1, 1, 1, n_channels(x)])


def branches(draw: Draw, x: Tensor) -> Tensor:
    made = [normalised(draw, convolved(draw, x, draw.integer(2, 4), size)) for size in (1, 3)]
    pooled = draw.one_of([tf.layers.max_pooling2d, tf.layers.average_pooling2d])(x, 3, 1, "same")
    return tf.concat([*made, convolved(draw, pooled, 2, 1)], 3)


def densely(draw: Draw, x: Tensor) -> Tensor:
    for _ in range(2):
        x = tf.concat([x, normalised(draw, convolved(draw, x, 2, 3))], 3)
    return x


def shuffle(draw: Draw, x: Tensor) -> Tensor:
    """Channels of two groups interleaved, each convolved on its own."""
    mixed = tf.concat([convolved(draw, half, 3, 3) for half in (x[..., :2], x[..., 1:])], 3)
    by_group = tf.reshape(mixed, [-1, int(x.shape[1]), int(x.shape[2]), 2, 3])
    return tf.reshape(tf.transpose(by_group, [0, 1, 2, 4, 3]), [-1, int(x.shape[1]), int(x.shape[2]), 6])


def pool(draw: Draw, x: Tensor) -> Tensor:
    made = draw.one_of([tf.layers.max_pooling2d, tf.layers.average_pooling2d])
    return made(x, draw.integer(2, 3), 2, draw.one_of(["same", "valid"])) if side(x) >= 5 else x


def upward(draw: Draw, x: Tensor) -> Tensor:
    if side(x) > 4:
        return x
    height, width = int(x.shape[1]), int(x.shape[2])
    ways: dict[str, Callable[[], Tensor]] = {
        "transposed": lambda: tf.layers.conv2d_transpose(x, 3, 3, 2, "same"),
        "nearest": lambda: tf.image.resize_nearest_neighbor(x, [2 * height, 2 * width]),
        "bilinear": lambda: tf.image.resize_bilinear(x, [2 * height, 2 * width], align_corners=draw.chance(0.5)),
        "depth to space": lambda: tf.depth_to_space(convolved(draw, x, 8, 1), 2),
    }
    return draw.named(ways)()


def dropped(draw: Draw, x: Tensor) -> Tensor:
    return tf.nn.dropout(x, rate=0.3, seed=draw.integer(1, 99))


BLOCKS: dict[str, Block] = {
    "convolution": convolution, "separable": separable, "dilated": dilated, "residual": residual, "bottleneck": bottleneck,
    "squeeze": squeeze, "branches": branches, "dense block": densely, "shuffle": shuffle, "pool": pool, "up": upward,
    "dropout": dropped,
}  # fmt: skip


def _sparse(logits: Tensor, target: Tensor) -> Tensor:
    return tf.losses.sparse_softmax_cross_entropy(target, logits)


def _smoothed(logits: Tensor, target: Tensor) -> Tensor:
    return tf.losses.softmax_cross_entropy(tf.one_hot(target, N_CLASSES), logits, label_smoothing=0.1)


def _sigmoid(logits: Tensor, target: Tensor) -> Tensor:
    return tf.losses.sigmoid_cross_entropy(tf.one_hot(target, N_CLASSES), logits)


def _squared(logits: Tensor, target: Tensor) -> Tensor:
    return tf.losses.mean_squared_error(tf.one_hot(target, N_CLASSES), tf.sigmoid(logits))


def _huber(logits: Tensor, target: Tensor) -> Tensor:
    return tf.losses.huber_loss(tf.one_hot(target, N_CLASSES), logits, delta=0.7)


def _weighted(logits: Tensor, target: Tensor) -> Tensor:
    weights = tf.gather(tf.constant([0.5, 1.0, 2.0, 0.0]), target)
    return tf.losses.sparse_softmax_cross_entropy(target, logits, weights=weights)


def _by_hand(logits: Tensor, target: Tensor) -> Tensor:
    chances = tf.clip_by_value(tf.nn.softmax(logits), 1e-4, 1.0)
    return -tf.reduce_mean(tf.reduce_sum(tf.one_hot(target, N_CLASSES) * tf.log(chances), 1))


LOSSES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "softmax loss": _sparse, "smoothed loss": _smoothed, "sigmoid loss": _sigmoid, "squared loss": _squared,
    "huber loss": _huber, "weighted loss": _weighted, "softmax loss by hand": _by_hand,
}  # fmt: skip


def _head(draw: Draw, x: Tensor) -> Tensor:
    ways: dict[str, Callable[[], Tensor]] = {
        "mean": lambda: tf.reduce_mean(x, [1, 2]), "largest": lambda: tf.reduce_max(x, [1, 2]),
        "flat": lambda: tf.layers.flatten(x),
    }  # fmt: skip
    flat = draw.named(ways)()
    if draw.chance(0.5):
        flat = draw.named(ACTIVATIONS)(tf.layers.dense(flat, 6))
    return tf.layers.dense(flat, N_CLASSES)


def image_network(draw: Draw) -> Network:
    """A classifier of small images, of a known batch size or any."""
    batch, height, width = draw.integer(2, 5), draw.integer(6, 10), draw.integer(6, 10)
    known: Any = draw.one_of([None, batch])
    images, target = tf.placeholder(tf.float32, [known, height, width, 3]), tf.placeholder(tf.int32, [known])
    x = convolved(draw, images, draw.integer(3, 6), 3)
    for _ in range(draw.integer(2, 4)):
        x = draw.named(BLOCKS)(draw, x)
    logits = _head(draw, x)
    loss = draw.named(LOSSES)(logits, target)

    def feeds(step: int) -> Feeds:
        return {images: numbers(step, batch, height, width, 3), target: labels(step, N_CLASSES, batch)}

    return trained(draw, loss, {"logits": logits}, feeds)
