"""tf.keras models in graph mode, compiled and trained by train_on_batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

from tests.graphs.training import Feeds, Training, labels, numbers

layers = tf.keras.layers


def _by_keras(model: Any, batch: Callable[[int], tuple[Any, Any]]) -> Training:
    model._make_train_function()  # so that all its variables exist before the first step

    def step(session: tf.Session, values: Feeds) -> Any:
        tf.keras.backend.set_session(session)
        return model.train_on_batch(values["x"], values["y"])[0]

    def feeds(number: int) -> Feeds:
        return dict(zip("xy", batch(number), strict=True))

    return Training(step, feeds, more_variables=[v for metric in model.metrics for v in metric.variables])


def _convolved(net: Any, depth: int, size: int, stride: int = 1) -> Any:
    net = layers.Conv2D(depth, size, stride, padding="same", use_bias=False)(net)
    return layers.BatchNormalization()(net)


def _bottleneck(net: Any, depth: int, stride: int, has_projection: bool) -> Any:
    shortcut = _convolved(net, 4 * depth, 1, stride) if has_projection else net
    net = layers.ReLU()(_convolved(net, depth, 1, stride))
    net = layers.ReLU()(_convolved(net, depth, 3))
    return layers.ReLU()(layers.Add()([shortcut, _convolved(net, 4 * depth, 1)]))


def keras_resnet50() -> Training:
    """The stages of ResNet-50 at an eighth of its width, on images that stay large enough for batch statistics."""
    images = layers.Input([32, 32, 3])
    net = layers.ZeroPadding2D(3)(images)
    net = layers.Conv2D(8, 7, 2, use_bias=False)(net)
    net = layers.ReLU()(layers.BatchNormalization()(net))
    net = layers.MaxPooling2D(3, 2)(layers.ZeroPadding2D(1)(net))
    for depth, repeats, stride in ((8, 3, 1), (16, 4, 2), (32, 6, 1), (64, 3, 1)):
        for index in range(repeats):
            net = _bottleneck(net, depth, stride if index == 0 else 1, index == 0)
    net = layers.Dense(10, activation="softmax")(layers.GlobalAveragePooling2D()(net))
    model = tf.keras.Model(images, net)
    model.compile(tf.keras.optimizers.SGD(0.01), "categorical_crossentropy", ["accuracy"])
    return _by_keras(model, lambda step: (numbers(step, 8, 32, 32, 3), tf.keras.utils.to_categorical(labels(step, 10, 8), 10)))


def _inverted(net: Any, depth: int, stride: int, expansion: int) -> Any:
    shortcut, channels = net, int(net.shape[-1])
    net = layers.ReLU(6.0)(_convolved(net, channels * expansion, 1))
    if stride == 2:
        net = layers.ZeroPadding2D(((0, 1), (0, 1)))(net)
    net = layers.DepthwiseConv2D(3, stride, padding="valid" if stride == 2 else "same", use_bias=False)(net)
    net = layers.ReLU(6.0)(layers.BatchNormalization()(net))
    net = _convolved(net, depth, 1)
    return layers.Add()([shortcut, net]) if stride == 1 and depth == channels else net


def keras_mobilenetv2() -> Training:
    """The stages of MobileNetV2, thinner."""
    images = layers.Input([32, 32, 3])
    net = layers.ReLU(6.0)(_convolved(images, 8, 3, 2))
    for depth, repeats, stride in ((8, 1, 1), (8, 2, 2), (16, 3, 1), (24, 2, 2), (32, 2, 1)):
        for index in range(repeats):
            net = _inverted(net, depth, stride if index == 0 else 1, 4)
    net = layers.GlobalAveragePooling2D()(layers.ReLU(6.0)(_convolved(net, 64, 1)))
    net = layers.Dense(10, activation="softmax")(layers.Dropout(0.2)(net))
    model = tf.keras.Model(images, net)
    model.compile(tf.keras.optimizers.Adam(1e-3), "sparse_categorical_crossentropy", ["accuracy"])
    return _by_keras(model, lambda step: (numbers(step, 8, 32, 32, 3), labels(step, 10, 8)))


def keras_lstm() -> Training:
    """Embedding, recurrent layers both ways with masking, and a binary output."""
    words = layers.Input([12], dtype="int32")
    net = layers.Embedding(50, 16)(words)
    net = layers.GaussianNoise(0.05)(net)
    net = layers.Bidirectional(layers.LSTM(12, return_sequences=True))(net)
    net = layers.GRU(8, dropout=0.1)(net)
    net = layers.Dense(1, activation="sigmoid", kernel_regularizer=tf.keras.regularizers.l1_l2(1e-4, 1e-4))(net)
    model = tf.keras.Model(words, net)
    model.compile(tf.keras.optimizers.RMSprop(1e-2), "binary_crossentropy", ["accuracy"])
    return _by_keras(model, lambda step: (labels(step, 50, 6, 12), labels(step, 2, 6, 1)))
