"""Tags of the words of sentences: recurrent or convolutional scores, and a linear-chain conditional random field."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from benchmarks.models.drawn import Draws
from benchmarks.models.drawn_tasks.choices import activation, lengths_of, training_step
from benchmarks.models.model import Model, integers


def _score(scores: tf.Tensor, tags: tf.Tensor, mask: tf.Tensor, moves: tf.Tensor) -> tf.Tensor:
    """Scores of given tags, with those of their transitions, (batch,)."""
    n_tags = int(scores.shape[2])
    given = tf.reduce_sum(scores * tf.one_hot(tags, n_tags), 2)
    between = tf.gather(tf.reshape(moves, [-1]), tags[:, :-1] * n_tags + tags[:, 1:])
    return tf.reduce_sum(given * mask, 1) + tf.reduce_sum(between * mask[:, 1:], 1)


class _ForwardCell(tf.nn.rnn_cell.RNNCell):
    """A step of the forward algorithm: the state is the logarithm of the sum over all tags before."""

    def __init__(self, moves: tf.Tensor) -> None:
        super().__init__()
        self._moves, self._n_tags = tf.expand_dims(moves, 0), int(moves.shape[0])

    @property
    def state_size(self) -> int:
        return self._n_tags

    @property
    def output_size(self) -> int:
        return self._n_tags

    def call(self, inputs: tf.Tensor, state: tf.Tensor) -> Any:
        after = inputs + tf.reduce_logsumexp(tf.expand_dims(state, 2) + self._moves, 1)
        return after, after


def _norm_by_cell(scores: tf.Tensor, lengths: tf.Tensor, moves: tf.Tensor) -> tf.Tensor:
    """Logarithm of the sum over all tags of all words, (batch,)."""
    _, last = tf.nn.dynamic_rnn(_ForwardCell(moves), scores[:, 1:], lengths - 1, scores[:, 0], scope="forward")
    return tf.reduce_logsumexp(last, 1)


def _norm_by_scan(scores: tf.Tensor, lengths: tf.Tensor, moves: tf.Tensor) -> tf.Tensor:
    """As `_norm_by_cell`, with `tf.scan`."""
    n_words = int(scores.shape[1])

    def step(before: tf.Tensor, given: tf.Tensor) -> tf.Tensor:
        return given + tf.reduce_logsumexp(tf.expand_dims(before, 2) + moves[None], 1)

    states = tf.scan(step, tf.transpose(scores[:, 1:], [1, 0, 2]), scores[:, 0])
    states = tf.transpose(tf.concat([scores[None, :, 0], states], 0), [1, 0, 2])
    last = tf.one_hot(lengths - 1, n_words)
    return tf.reduce_sum(tf.reduce_logsumexp(states, 2) * last, 1)


class _Tagged:
    """Placeholders of a batch of tagged sentences, and what they are fed."""

    def __init__(self, draws: Draws) -> None:
        self.batch, self.n_words, self.n_tags = draws.size(8, 64), draws.size(10, 50), draws.size(5, 30)
        self.size = draws.size(300, 5000)
        self.words, self.tags = (tf.placeholder(tf.int32, [self.batch, self.n_words]) for _ in range(2))
        self.lengths = tf.placeholder(tf.int32, [self.batch])
        self.mask = tf.sequence_mask(self.lengths, self.n_words, tf.float32)
        self.moves = tf.get_variable("transitions", [self.n_tags, self.n_tags])
        self.feeds = {
            self.words: integers(self.size, self.batch, self.n_words),
            self.tags: integers(self.n_tags, self.batch, self.n_words),
            self.lengths: lengths_of(self.batch, self.n_words),
        }

    def model(self, draws: Draws, scores: tf.Tensor, norm: tf.Tensor) -> Model:
        """The step for the negative log-likelihood."""
        loss = tf.reduce_mean(norm - _score(scores, self.tags, self.mask, self.moves))
        return Model(loss, training_step(draws, loss), self.feeds)


def recurrent_tags(draws: Draws) -> Model:
    """Two LSTMs, one in each direction, over embedded words with dropout."""
    tagged, units, width = _Tagged(draws), draws.size(24, 128), draws.size(24, 128)
    net = tf.nn.embedding_lookup(tf.get_variable("words", [tagged.size, width]), tagged.words)
    net = tf.nn.dropout(net, rate=draws.one_of(1, 3, 5) / 10)
    cells = [tf.nn.rnn_cell.LSTMCell(units) for _ in range(2)]
    ways, _ = tf.nn.bidirectional_dynamic_rnn(*cells, net, tagged.lengths, dtype=tf.float32)
    scores = tf.layers.dense(tf.concat(ways, 2), tagged.n_tags)
    return tagged.model(draws, scores, _norm_by_cell(scores, tagged.lengths, tagged.moves))


def convolutional_tags(draws: Draws) -> Model:
    """Words from embeddings and from their letters, then dilated convolutions."""
    tagged, depth, width = _Tagged(draws), draws.size(32, 160), draws.size(24, 96)
    act, n_letters, letter_width = activation(draws), draws.size(6, 14), draws.size(12, 32)
    letters = tf.placeholder(tf.int32, [tagged.batch, tagged.n_words, n_letters])
    looked_up = tf.nn.embedding_lookup(tf.get_variable("letters", [80, letter_width]), letters)
    flat = tf.reshape(looked_up, [-1, n_letters, letter_width])
    spelled = tf.reduce_max(tf.layers.conv1d(flat, letter_width, 3, padding="same"), 1)
    net = tf.nn.embedding_lookup(tf.get_variable("words", [tagged.size, width]), tagged.words)
    net = tf.concat([net, tf.reshape(spelled, [tagged.batch, tagged.n_words, letter_width])], 2)
    for dilation in (1, 2, 4)[: draws.one_of(2, 3)]:
        net = tf.layers.conv1d(net, depth, 3, padding="same", dilation_rate=dilation, activation=act)
    scores = tf.layers.dense(net, tagged.n_tags)
    tagged.feeds[letters] = integers(80, tagged.batch, tagged.n_words, n_letters)
    return tagged.model(draws, scores, _norm_by_scan(scores, tagged.lengths, tagged.moves))
