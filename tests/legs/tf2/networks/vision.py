"""Networks of images."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from tests.legs.tf2.networks.arrays import CLASSES, images
from tests.legs.tf2.networks.problem import Problem

keras = tf.keras
layers = tf.keras.layers


def _mlp() -> keras.Model:
    sizes = [layers.Dense(64, "relu"), layers.Dropout(0.2), layers.Dense(CLASSES)]
    return keras.Sequential([keras.Input((12, 12, 1)), layers.Flatten(), *sizes])


def _lenet() -> keras.Model:
    return keras.Sequential(
        [
            keras.Input((28, 28, 1)),
            layers.Conv2D(6, 5, activation="tanh", padding="same"),
            layers.AveragePooling2D(),
            layers.Conv2D(16, 5, activation="tanh"),
            layers.AveragePooling2D(),
            layers.Flatten(),
            layers.Dense(120, "tanh"),
            layers.Dense(84, "tanh"),
            layers.Dense(CLASSES),
        ]
    )


def _normalized(inputs: tf.Tensor, filters: int, stride: int, size: int = 3) -> tf.Tensor:
    decay = keras.regularizers.l2(1e-4)
    hidden = layers.Conv2D(filters, size, stride, "same", use_bias=False, kernel_regularizer=decay)(inputs)
    return layers.BatchNormalization()(hidden)


def _block(inputs: tf.Tensor, filters: int, stride: int, activation: str) -> tf.Tensor:
    hidden = layers.Activation(activation)(_normalized(inputs, filters, stride))
    short = _normalized(inputs, filters, stride, 1) if stride > 1 else inputs
    return layers.Activation(activation)(layers.add([_normalized(hidden, filters, 1), short]))


def _resnet20(activation: str = "relu") -> keras.Model:
    inputs = keras.Input((16, 16, 3))
    hidden = layers.Activation(activation)(_normalized(inputs, 16, 1))
    for filters in (16, 32, 64):
        for place in range(3):
            hidden = _block(hidden, filters, 2 if filters > 16 and place == 0 else 1, activation)
    return keras.Model(inputs, layers.Dense(CLASSES)(layers.GlobalAveragePooling2D()(hidden)))


def _resnet_optimizer() -> keras.optimizers.Optimizer:
    rate = keras.optimizers.schedules.PiecewiseConstantDecay([10, 15], [0.1, 0.01, 0.001])
    return keras.optimizers.SGD(rate, momentum=0.9)


def _mobilenet_v2() -> keras.Model:
    given = {"weights": None, "classes": CLASSES, "classifier_activation": None}
    return keras.applications.MobileNetV2((32, 32, 3), alpha=0.35, **given)


def _unet() -> keras.Model:
    def convolved(inputs: tf.Tensor, filters: int) -> tf.Tensor:
        return layers.Conv2D(filters, 3, activation="relu", padding="same")(inputs)

    inputs = keras.Input((16, 16, 3))
    fine = convolved(inputs, 8)
    coarse = convolved(layers.MaxPooling2D()(fine), 16)
    together = layers.Concatenate()([layers.UpSampling2D()(coarse), fine])
    return keras.Model(inputs, layers.Conv2D(2, 1)(convolved(together, 8)))


def _masks() -> tuple[np.ndarray, np.ndarray]:
    pixels, _ = images(64, 16, 3)
    return pixels, (pixels[..., 0] > 0.5).astype(np.int32)


def _conv_lstm() -> keras.Model:
    recurrent = layers.ConvLSTM2D(4, 3, padding="same", return_sequences=True)
    hidden = [recurrent, layers.BatchNormalization(), layers.ConvLSTM2D(4, 3, padding="same")]
    return keras.Sequential([keras.Input((5, 8, 8, 1)), *hidden, layers.Flatten(), layers.Dense(CLASSES)])


def _films() -> tuple[np.ndarray, np.ndarray]:
    """A bright row that wanders, [64, 5, 8, 8, 1]; the class is where it began."""
    pixels, labels = images(64, 8, 1)
    return np.stack([np.roll(pixels, turn, axis=1) for turn in range(5)], axis=1), labels


optimizers = keras.optimizers
NETWORKS = {
    "mlp": Problem(_mlp, lambda: images(64, 12, 1), lambda: optimizers.Adam(1e-3)),
    "lenet": Problem(_lenet, lambda: images(64, 28, 1), lambda: optimizers.SGD(0.05, momentum=0.9, nesterov=True)),
    "resnet20": Problem(_resnet20, lambda: images(64, 16, 3), _resnet_optimizer),
    # ReLU makes every last bit count: behind some steps TensorFlow is far from itself. With a smooth activation it is not.
    "resnet20_swish": Problem(lambda: _resnet20("swish"), lambda: images(64, 16, 3), lambda: optimizers.SGD(0.02, momentum=0.9)),
    "mobilenet_v2": Problem(_mobilenet_v2, lambda: images(64, 32, 3), lambda: optimizers.legacy.RMSprop(1e-3)),
    "unet": Problem(_unet, _masks, lambda: optimizers.legacy.Adam(1e-3)),
    "conv_lstm": Problem(_conv_lstm, _films, lambda: optimizers.RMSprop(1e-3)),
}
