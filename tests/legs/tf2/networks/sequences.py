"""Networks of sequences."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from tests.legs.tf2.networks.arrays import sentences
from tests.legs.tf2.networks.problem import OwnStep, Prepared, Problem, batched

keras = tf.keras
layers = tf.keras.layers
optimizers = tf.keras.optimizers
WORDS, KINDS = 51, 5


def _lstm() -> keras.Model:
    hidden = [layers.LSTM(16, return_sequences=True), layers.LSTM(12)]
    return keras.Sequential([keras.Input((12,), dtype="int32"), layers.Embedding(WORDS, 16), *hidden, layers.Dense(KINDS)])


def _gru() -> keras.Model:
    hidden = [layers.Embedding(WORDS, 16, mask_zero=True), layers.Bidirectional(layers.GRU(16))]
    return keras.Sequential([keras.Input((12,), dtype="int32"), *hidden, layers.Dense(KINDS)])


def _encoder(inputs: tf.Tensor, heads: int, width: int) -> tf.Tensor:
    attended = layers.MultiHeadAttention(heads, width // heads)(inputs, inputs)
    hidden = layers.LayerNormalization(epsilon=1e-6)(inputs + layers.Dropout(0.1)(attended))
    wide = layers.Dense(2 * width, activation=tf.nn.gelu)(hidden)
    return layers.LayerNormalization(epsilon=1e-6)(hidden + layers.Dropout(0.1)(layers.Dense(width)(wide)))


def _transformer() -> keras.Model:
    inputs = keras.Input((12,), dtype="int32")
    hidden = layers.Embedding(WORDS, 16)(inputs) + layers.Embedding(12, 16)(tf.range(12))
    return keras.Model(inputs, layers.Dense(KINDS)(layers.GlobalAveragePooling1D()(_encoder(hidden, 2, 16))))


def _bert() -> keras.Model:
    """A masked language model of two layers."""
    words, segments = (keras.Input((16,), dtype="int32", name=name) for name in ("words", "segments"))
    hidden = layers.LayerNormalization()(layers.Embedding(100, 32)(words) + layers.Embedding(2, 32)(segments))
    for _ in range(2):
        hidden = _encoder(hidden, 4, 32)
    return keras.Model([words, segments], layers.Dense(100)(hidden))


def _masked_words() -> tuple[dict[str, np.ndarray], np.ndarray]:
    words = np.random.RandomState(2).randint(1, 100, (32, 16)).astype(np.int32)
    return {"words": words, "segments": (words > 50).astype(np.int32)}, words


def _bert_optimizer() -> optimizers.legacy.Optimizer:
    return optimizers.legacy.Adam(optimizers.schedules.PolynomialDecay(1e-3, 30), clipnorm=1.0)


def _seq2seq() -> Prepared:
    """Writes a sentence backwards: a loop of the encoder, and one of the decoder, which gathers its outputs in a TensorArray."""
    embedding, cell, output = layers.Embedding(20, 16), layers.GRUCell(16), layers.Dense(20)
    for layer, shape in ((embedding, [None]), (cell, [None, 16]), (output, [None, 16])):
        layer.build(tf.TensorShape(shape))
    optimizer, loss_of = optimizers.Adam(0.01), keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    sentences = np.random.RandomState(4).randint(1, 20, (32, 6)).astype(np.int32)
    variables = embedding.trainable_variables + cell.trainable_variables + output.trainable_variables

    def decoded(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        state = tf.zeros([8, 16])
        for i in tf.range(tf.shape(x)[1]):
            state = cell(embedding(x[:, i]), [state])[0]
        logits, word = tf.TensorArray(tf.float32, tf.shape(y)[1]), tf.zeros([8], tf.int32)
        for i in tf.range(tf.shape(y)[1]):
            state = cell(embedding(word), [state])[0]
            logits = logits.write(i, output(state))
            word = y[:, i]
        return tf.transpose(logits.stack(), [1, 0, 2])

    def step(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            loss = loss_of(y, decoded(x, y))
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return loss

    return Prepared(step, batched((sentences, sentences[:, ::-1].copy()), 8), lambda: variables)


def _recognizer() -> keras.Model:
    """Reads letters from 16 frames, as recognizers of handwriting and speech do."""
    recurrent = layers.Bidirectional(layers.LSTM(12, return_sequences=True))
    hidden = [layers.Conv1D(16, 3, padding="same", activation="relu"), recurrent]
    return keras.Sequential([keras.Input((16, 8)), *hidden, layers.Dense(7, "softmax")])


def _ctc_loss(labels: tf.Tensor, predicted: tf.Tensor) -> tf.Tensor:
    ones = tf.ones([tf.shape(labels)[0], 1], tf.int32)
    return keras.backend.ctc_batch_cost(labels, predicted, ones * tf.shape(predicted)[1], ones * tf.shape(labels)[1])


def _recordings() -> tuple[np.ndarray, np.ndarray]:
    """Four letters of six, each of which lights one of 8 channels for 4 frames.  Returns: [32, 16, 8] of float32, [32, 4]."""
    random = np.random.RandomState(5)
    letters = np.stack([random.permutation(6)[:4] for _ in range(32)]).astype(np.int32)
    frames = np.eye(8, dtype=np.float32)[letters.repeat(4, axis=1)]
    return frames + random.rand(*frames.shape).astype(np.float32) * np.float32(0.1), letters


NETWORKS = {
    "lstm": Problem(_lstm, sentences, lambda: optimizers.Adam(0.01)),
    "gru": Problem(_gru, sentences, lambda: optimizers.Nadam(0.01)),
    "transformer": Problem(_transformer, sentences, lambda: optimizers.AdamW(0.003)),
    "bert": Problem(_bert, _masked_words, _bert_optimizer, batch=8),
    "seq2seq": OwnStep(_seq2seq),
    "ctc": Problem(_recognizer, _recordings, lambda: optimizers.legacy.SGD(0.02, momentum=0.9, clipvalue=1.0), _ctc_loss, (), 8),
}
