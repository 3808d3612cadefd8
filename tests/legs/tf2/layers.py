"""Small models around layers of Keras, by name: what each is given, and the layers between that and a last Dense."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

layers, keras = tf.keras.layers, tf.keras
N_SAMPLES, BATCH = 12, 4
"""Three steps of an epoch: the second reads what the first has written, the third what an optimizer has accumulated."""
ROWS, STEPS, IMAGE, VOLUME = (5,), (6, 4), (8, 8, 3), (4, 4, 4, 2)


class Model(NamedTuple):
    """make(): the layers.  shape: of a sample.  numbers: "normal", "unit" for 0 to 1, "whole" for 0 to 9."""

    make: Callable[[], list[Any]]
    shape: tuple[int, ...]
    numbers: str = "normal"


def _of(*made: Callable[[], Any], shape: tuple[int, ...] = IMAGE, numbers: str = "normal") -> Model:
    return Model(lambda: [one() for one in made], shape, numbers)


def _by_axes(name: str, *words: Any, **settings: Any) -> dict[str, Model]:
    """A layer of one, two and three axes, behind a Dense so that a gradient passes it."""
    shapes = {1: STEPS, 2: IMAGE, 3: VOLUME}
    return {
        f"{name}{axes}D": _of(
            lambda: layers.Dense(2), lambda axes=axes: getattr(layers, f"{name}{axes}D")(*words, **settings), shape=shape
        )
        for axes, shape in shapes.items()
    }


MODELS = {
    "random_flip": _of(lambda: layers.RandomFlip(seed=1), numbers="unit"),
    "random_rotation": _of(lambda: layers.RandomRotation(0.2, seed=1), numbers="unit"),
    "random_rotation_wrap": _of(lambda: layers.RandomRotation(0.2, "wrap", "nearest", seed=1), numbers="unit"),
    "random_translation": _of(lambda: layers.RandomTranslation(0.2, 0.3, "nearest", seed=1), numbers="unit"),
    "random_zoom": _of(lambda: layers.RandomZoom(0.2, fill_mode="constant", seed=1), numbers="unit"),
    "random_crop": _of(lambda: layers.RandomCrop(5, 4, seed=1), numbers="unit"),
    "random_brightness": _of(lambda: layers.RandomBrightness(0.2, (0, 1), seed=1), numbers="unit"),
    "random_contrast": _of(lambda: layers.RandomContrast(0.2, seed=1), numbers="unit"),
    "augmentation": _of(
        lambda: layers.RandomFlip(), lambda: layers.RandomRotation(0.1), lambda: layers.RandomZoom(0.1),
        lambda: layers.Conv2D(3, 3), numbers="unit",
    ),
    "resizing": _of(lambda: layers.Dense(2), lambda: layers.Resizing(5, 6, "bicubic")),
    "up_sampling": _of(lambda: layers.Dense(2), lambda: layers.UpSampling2D((2, 3), interpolation="lanczos3")),
    "group_normalization": _of(lambda: layers.Dense(4), lambda: layers.GroupNormalization(2)),
    "unit_normalization": _of(lambda: layers.Dense(4), layers.UnitNormalization),
    "synchronized": _of(lambda: layers.Dense(3), lambda: layers.BatchNormalization(synchronized=True)),
    "separable": _of(lambda: layers.Dense(3), lambda: layers.SeparableConv2D(3, 3, padding="same", dilation_rate=2)),
    "depthwise": _of(lambda: layers.Dense(3), lambda: layers.DepthwiseConv1D(2, depth_multiplier=2), shape=STEPS),
    "groups": _of(lambda: layers.Conv2D(4, 3), lambda: layers.Conv2D(4, 3, groups=2)),
    "locally_connected": _of(lambda: layers.LocallyConnected1D(3, 2, implementation=3), shape=STEPS),
    "causal": _of(lambda: layers.Dense(2), lambda: layers.Conv1D(3, 3, padding="causal", dilation_rate=2), shape=STEPS),
    "embedding_masked": _of(lambda: layers.Embedding(12, 4, mask_zero=True), lambda: layers.LSTM(3), shape=ROWS, numbers="whole"),
    "simple_rnn": _of(lambda: layers.SimpleRNN(3, dropout=0.2, recurrent_dropout=0.3), shape=STEPS),
    "stacked_cells": _of(
        lambda: layers.RNN(layers.StackedRNNCells([layers.LSTMCell(3), layers.GRUCell(4, reset_after=False)])), shape=STEPS
    ),
    "conv_lstm": _of(lambda: layers.ConvLSTM1D(2, 3), shape=(3, 6, 2)),
    "time_distributed": _of(lambda: layers.TimeDistributed(layers.Conv2D(2, 3)), shape=(3, 6, 6, 2)),
    "einsum_dense": _of(lambda: layers.EinsumDense("abc,cd->abd", (None, 5), bias_axes="d"), shape=STEPS),
    "noise": _of(
        lambda: layers.Dense(6), lambda: layers.GaussianNoise(0.3), lambda: layers.GaussianDropout(0.3),
        lambda: layers.AlphaDropout(0.3), shape=ROWS,
    ),
    "activations": _of(
        lambda: layers.Dense(4, "mish"), layers.PReLU, layers.ThresholdedReLU, lambda: layers.ReLU(6.0, 0.1, 0.05), layers.ELU,
        shape=ROWS,
    ),
    "category_encoding": _of(lambda: layers.CategoryEncoding(10, "multi_hot"), shape=ROWS, numbers="whole"),
    "discretization": _of(lambda: layers.Discretization([-1.0, 0.0, 1.0], output_mode="one_hot"), shape=(1,)),
    **_by_axes("MaxPooling", 3, 2, "same"),
    **_by_axes("AveragePooling", 3, 2, "same"),
    **_by_axes("Conv", 3, 2, dilation_rate=2),
    **{f"Conv{n}DTranspose": _of(lambda n=n: getattr(layers, f"Conv{n}DTranspose")(3, 2, strides=2), shape=shape)
       for n, shape in {1: STEPS, 2: IMAGE, 3: VOLUME}.items()},
    **_by_axes("Cropping", 1),
    **_by_axes("ZeroPadding", 1),
    **_by_axes("SpatialDropout", 0.3),
    **_by_axes("GlobalMaxPooling"),
}  # fmt: skip


def trained(name: str) -> list[Any]:
    """Losses of the steps, what is evaluated and predicted behind them, and the weights."""
    given = MODELS[name]
    x, y = _numbers(given.shape, given.numbers), _numbers((2,), "normal")
    model = keras.Sequential([keras.Input(given.shape, dtype=x.dtype), *given.make(), layers.Flatten(), layers.Dense(2)])
    model.compile(keras.optimizers.SGD(0.05, momentum=0.5), "mse")
    losses = [model.train_on_batch(x[i : i + BATCH], y[i : i + BATCH]) for i in range(0, N_SAMPLES, BATCH)]
    return [losses, model.evaluate(x, y, BATCH, verbose=0), model.predict(x, BATCH, verbose=0), model.get_weights()]


def _numbers(shape: tuple[int, ...], kind: str) -> np.ndarray:
    random = np.random.RandomState(7)
    if kind == "whole":
        return random.randint(0, 10, (N_SAMPLES, *shape))
    drawn = random.randn(N_SAMPLES, *shape) if kind == "normal" else random.rand(N_SAMPLES, *shape)
    return drawn.astype(np.float32)
