"""Networks that make images."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from tests.legs.tf2.networks.arrays import images
from tests.legs.tf2.networks.problem import OwnStep, Prepared, Problem

keras = tf.keras
layers = tf.keras.layers


class _Vae(keras.Model):
    """A variational autoencoder with a training step of its own."""

    def __init__(self) -> None:
        super().__init__()
        folded = [layers.Conv2D(8, 3, 2, "same", activation="relu"), layers.Flatten(), layers.Dense(8)]
        unfolded = [layers.Dense(4 * 4 * 8, "relu"), layers.Reshape((4, 4, 8))]
        drawn = [layers.Conv2DTranspose(8, 3, 2, "same", activation="relu"), layers.Conv2DTranspose(1, 3, 2, "same")]
        self.encoder = keras.Sequential([keras.Input((16, 16, 1)), *folded])
        self.decoder = keras.Sequential([keras.Input((4,)), *unfolded, *drawn])
        self.mean_loss = keras.metrics.Mean(name="loss")

    def call(self, x: tf.Tensor) -> tf.Tensor:
        return self.decoder(tf.split(self.encoder(x), 2, axis=1)[0])

    def objective(self, x: tf.Tensor, _: tf.Tensor) -> tf.Tensor:
        mean, log_variance = tf.split(self.encoder(x), 2, axis=1)
        code = mean + tf.exp(0.5 * log_variance) * tf.random.normal(tf.shape(mean))
        pixels = tf.nn.sigmoid_cross_entropy_with_logits(x, self.decoder(code))
        far = -0.5 * tf.reduce_sum(1 + log_variance - mean * mean - tf.exp(log_variance), axis=1)
        return tf.reduce_mean(tf.reduce_sum(pixels, axis=(1, 2, 3)) + far)

    def train_step(self, data: tuple[tf.Tensor, tf.Tensor]) -> dict[str, tf.Tensor]:
        with tf.GradientTape() as tape:
            loss = self.objective(*data)
        variables = self.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        self.mean_loss.update_state(loss)
        return {"loss": self.mean_loss.result()}


def _black_and_white() -> tuple[np.ndarray, np.ndarray]:
    pixels = (np.random.RandomState(6).rand(64, 16, 16, 1) > 0.5).astype(np.float32)
    return pixels, pixels


def _generator() -> keras.Model:
    return keras.Sequential(
        [
            keras.Input((8,)),
            layers.Dense(4 * 4 * 16, use_bias=False),
            layers.BatchNormalization(),
            layers.LeakyReLU(),
            layers.Reshape((4, 4, 16)),
            layers.Conv2DTranspose(8, 5, 2, "same", use_bias=False),
            layers.BatchNormalization(),
            layers.LeakyReLU(),
            layers.Conv2DTranspose(1, 5, 2, "same", activation="tanh"),
        ]
    )


def _discriminator() -> keras.Model:
    convolved = [layers.Conv2D(8, 5, 2, "same"), layers.LeakyReLU(), layers.Dropout(0.3), layers.Conv2D(16, 5, 2, "same")]
    return keras.Sequential([keras.Input((16, 16, 1)), *convolved, layers.LeakyReLU(), layers.Flatten(), layers.Dense(1)])


def _dcgan() -> Prepared:
    generator, discriminator = _generator(), _discriminator()
    optimizers = keras.optimizers.Adam(1e-4), keras.optimizers.legacy.Adam(1e-4)
    cross_entropy = keras.losses.BinaryCrossentropy(from_logits=True)

    def step(x: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape(persistent=True) as tape:
            fake = generator(tf.random.normal([16, 8]), training=True)
            on_real, on_fake = discriminator(x, training=True), discriminator(fake, training=True)
            drawing = cross_entropy(tf.ones_like(on_fake), on_fake)
            telling = cross_entropy(tf.ones_like(on_real), on_real) + cross_entropy(tf.zeros_like(on_fake), on_fake)
        for model, loss, optimizer in zip((generator, discriminator), (drawing, telling), optimizers, strict=True):
            variables = model.trainable_variables
            optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return drawing + telling

    batches = tf.data.Dataset.from_tensor_slices((images(64, 16, 1)[0],)).batch(16).repeat()
    return Prepared(step, batches, lambda: generator.variables + discriminator.variables)


NETWORKS = {
    "vae": Problem(_Vae, _black_and_white, lambda: keras.optimizers.Adam(1e-3)),
    "dcgan": OwnStep(_dcgan),
}
