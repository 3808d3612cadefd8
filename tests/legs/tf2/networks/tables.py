"""Networks whose weights are rows of tables: words beside each other, and what people clicked on."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from tests.legs.tf2.networks.problem import OwnStep, Prepared, Problem, batched

keras = tf.keras
layers = tf.keras.layers
CITIES = [f"city {number}" for number in range(12)]


def _word2vec() -> Prepared:
    """Words and their neighbours, by noise contrastive estimation with sampled words."""
    rows = tf.Variable(tf.random.uniform([100, 16], -1, 1))
    weights, biases = tf.Variable(tf.random.normal([100, 16])), tf.Variable(tf.zeros([100]))
    optimizer, variables = keras.optimizers.SGD(0.1), [rows, weights, biases]
    random = np.random.RandomState(7)

    def step(word: tf.Tensor, neighbour: tf.Tensor) -> tf.Tensor:
        sampled = tf.random.log_uniform_candidate_sampler(neighbour, 1, 8, True, 100, seed=5)
        with tf.GradientTape() as tape:
            vectors = tf.nn.embedding_lookup(rows, word)
            loss = tf.reduce_mean(tf.nn.nce_loss(weights, biases, neighbour, vectors, 8, 100, sampled_values=sampled))
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return loss

    return Prepared(step, batched((random.randint(0, 100, 320), random.randint(0, 100, (320, 1))), 32), lambda: variables)


def _dlrm() -> keras.Model:
    """Clicks by figures and by strings, which tables inside of the model turn into rows: some cities are in no table."""
    figures, city = keras.Input((4,), name="figures"), keras.Input((2,), dtype="string", name="cities")
    rows = layers.Embedding(len(CITIES) + 1, 8)(layers.StringLookup(vocabulary=CITIES, num_oov_indices=1)(city))
    bottom = layers.Reshape((1, 8))(layers.Dense(8, "relu")(layers.Dense(16, "relu")(figures)))
    vectors = layers.Concatenate(axis=1)([bottom, rows])
    together = layers.Flatten()(layers.Dot(axes=2)([vectors, vectors]))
    return keras.Model([figures, city], layers.Dense(1)(layers.Dense(16, "relu")(layers.Concatenate()([together, figures]))))


def _clicks() -> tuple[dict[str, np.ndarray], np.ndarray]:
    random = np.random.RandomState(8)
    figures = random.rand(64, 4).astype(np.float32)
    cities = random.choice([*CITIES, "elsewhere"], (64, 2)).astype(object)
    clicked = (figures.sum(1) + (cities[:, 0] < cities[:, 1]) > 2.5).astype(np.float32)[:, None]
    return {"figures": figures, "cities": cities.astype("S")}, clicked


NETWORKS = {
    "word2vec": OwnStep(_word2vec),
    "dlrm": Problem(_dlrm, _clicks, lambda: keras.optimizers.Adagrad(0.05), keras.losses.BinaryCrossentropy(from_logits=True)),
}
