"""Translation of a sentence: an encoder, and a decoder that attends to what the encoder made of each word."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

from benchmarks.models.drawn import Draws
from benchmarks.models.drawn_tasks.choices import lengths_of, training_step
from benchmarks.models.model import Model, integers

Attend = Callable[[tf.Tensor], tf.Tensor]
"""The weighted mean of the memory for a query: (batch, units) -> (batch, memory's width)."""


class _Sentences:
    """Placeholders of both sides of a batch, and what they are fed."""

    def __init__(self, draws: Draws) -> None:
        self.batch, self.n_words = draws.size(8, 48), draws.size(300, 4000)
        n_source, n_target = draws.size(8, 40), draws.size(6, 30)
        self.source = tf.placeholder(tf.int32, [self.batch, n_source])
        self.target = tf.placeholder(tf.int32, [self.batch, n_target + 1])
        self.n_source, self.n_target = (tf.placeholder(tf.int32, [self.batch]) for _ in range(2))
        self.feeds = {
            self.source: integers(self.n_words, self.batch, n_source),
            self.target: integers(self.n_words, self.batch, n_target + 1),
            self.n_source: lengths_of(self.batch, n_source),
            self.n_target: lengths_of(self.batch, n_target),
        }

    def loss(self, outputs: tf.Tensor) -> tf.Tensor:
        """Mean cross-entropy of the next words, without those behind a sentence's end; outputs: (batch, words, units)."""
        logits = tf.layers.dense(outputs, self.n_words, name="projection")
        errors = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=self.target[:, 1:], logits=logits)
        mask = tf.sequence_mask(self.n_target, errors.shape[1], tf.float32)
        return tf.reduce_sum(errors * mask) / tf.reduce_sum(mask)


def _additive(memory: tf.Tensor, mask: tf.Tensor, units: int) -> Attend:
    """Attention as Bahdanau, Cho and Bengio (2014) have it."""
    keys = tf.layers.dense(memory, units, use_bias=False, name="keys")
    vector = tf.get_variable("attention_v", [units])

    def attend(query: tf.Tensor) -> tf.Tensor:
        asked = tf.expand_dims(tf.layers.dense(query, units, use_bias=False, name="query", reuse=tf.AUTO_REUSE), 1)
        scores = tf.reduce_sum(vector * tf.tanh(keys + asked), 2)
        weights = tf.nn.softmax(tf.where(mask, scores, tf.fill(tf.shape(scores), -1e9)))
        return tf.reduce_sum(tf.expand_dims(weights, 2) * memory, 1)

    return attend


def _multiplicative(memory: tf.Tensor, mask: tf.Tensor, units: int) -> Attend:
    """Attention as Luong, Pham and Manning (2015) have it."""
    keys = tf.layers.dense(memory, units, use_bias=False, name="keys")

    def attend(query: tf.Tensor) -> tf.Tensor:
        scores = tf.squeeze(tf.matmul(tf.expand_dims(query, 1), keys, transpose_b=True), 1)
        weights = tf.nn.softmax(scores + (tf.to_float(mask) - 1.0) * 1e9)
        return tf.squeeze(tf.matmul(tf.expand_dims(weights, 1), memory), 1)

    return attend


class _AttentionCell(tf.nn.rnn_cell.RNNCell):
    """A cell that reads, beside its input, what was attended to before; its state holds that, too."""

    def __init__(self, cell: Any, attend: Attend, units: int) -> None:
        super().__init__()
        self._cell, self._attend, self._units = cell, attend, units

    @property
    def state_size(self) -> Any:
        return self._cell.state_size, self._units

    @property
    def output_size(self) -> int:
        return self._units

    def call(self, inputs: tf.Tensor, state: Any) -> Any:
        inner, attended = state
        output, inner = self._cell(tf.concat([inputs, attended], 1), inner)
        attended = tf.layers.dense(tf.concat([output, self._attend(output)], 1), self._units, tf.tanh, name="attended")
        return attended, (inner, attended)


def attention_decoder_cell(draws: Draws) -> Model:
    """A bidirectional encoder; the decoder is a cell with attention in `tf.nn.dynamic_rnn`, fed with the right words."""
    sentences, units, width = _Sentences(draws), draws.size(32, 160), draws.size(24, 128)
    make = (tf.nn.rnn_cell.LSTMCell, tf.nn.rnn_cell.GRUCell)[draws.one_of(0, 1)]
    table = tf.get_variable("words", [sentences.n_words, width])
    source = tf.nn.embedding_lookup(table, sentences.source)
    ways, _ = tf.nn.bidirectional_dynamic_rnn(make(units), make(units), source, sentences.n_source, dtype=tf.float32)
    mask = tf.sequence_mask(sentences.n_source, source.shape[1])
    attention = (_additive, _multiplicative)[draws.one_of(0, 1)](tf.concat(ways, 2), mask, units)
    target = tf.nn.embedding_lookup(table, sentences.target[:, :-1])
    cell = _AttentionCell(make(units), attention, units)
    outputs, _ = tf.nn.dynamic_rnn(cell, target, sentences.n_target, dtype=tf.float32, scope="decoder")
    loss = sentences.loss(outputs)
    return Model(loss, training_step(draws, loss), sentences.feeds)


def attention_decoder_loop(draws: Draws) -> Model:
    """An encoder of some layers; the decoder is a `tf.while_loop` that starts from the encoder's state."""
    sentences, units, width = _Sentences(draws), draws.size(32, 160), draws.size(24, 128)
    table = tf.get_variable("words", [sentences.n_words, width])
    layers = [tf.nn.rnn_cell.GRUCell(units) for _ in range(draws.one_of(1, 2))]
    source = tf.nn.embedding_lookup(table, sentences.source)
    cells = tf.nn.rnn_cell.MultiRNNCell(layers)
    memory, states = tf.nn.dynamic_rnn(cells, source, sentences.n_source, dtype=tf.float32)
    mask = tf.sequence_mask(sentences.n_source, source.shape[1])
    attend = (_additive, _multiplicative)[draws.one_of(0, 1)](memory, mask, units)
    target = tf.transpose(tf.nn.embedding_lookup(table, sentences.target[:, :-1]), [1, 0, 2])
    loss = sentences.loss(_decoded(target, states[-1], attend, units))
    return Model(loss, training_step(draws, loss), sentences.feeds)


def _decoded(words: tf.Tensor, state: tf.Tensor, attend: Attend, units: int) -> tf.Tensor:
    """Outputs (batch, words, units) of a GRU with attention over embedded words (words, batch, width)."""
    n_words, batch, _ = words.shape.as_list()
    read = tf.TensorArray(tf.float32, n_words).unstack(words)
    cell = tf.nn.rnn_cell.GRUCell(units, name="decoder")

    def step(n: tf.Tensor, state: tf.Tensor, written: tf.TensorArray) -> Any:
        output, state = cell(tf.concat([read.read(n), attend(state)], 1), state)
        return n + 1, state, written.write(n, output)

    with tf.variable_scope("decoder"):
        written = tf.TensorArray(tf.float32, n_words)
        _, _, written = tf.while_loop(lambda n, *_: n < n_words, step, (tf.constant(0), state, written))
    return tf.transpose(tf.reshape(written.stack(), [n_words, batch, units]), [1, 0, 2])
