"""Random sequence models: recurrent cells, attention, loops by hand, chains of tags (CRF) and alignment-free losses (CTC)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tests.graphs.drawing import ACTIVATIONS, Draw, Network, Tensor, trained
from tests.graphs.random_images import layer_norm
from tests.graphs.sequences import crf_score
from tests.graphs.training import Feeds, labels, numbers

N_WORDS, N_TAGS = 11, 5
cells = tf.nn.rnn_cell


@dataclass
class Sequences:
    """values: [batch, time, depth] fp32.  lengths: [batch] int32, from 1 to time."""

    values: Tensor
    lengths: Tensor
    n_steps: int

    def depth(self) -> int:
        return int(self.values.shape[2])

    def mask(self) -> Tensor:
        """[batch, time] fp32."""
        return tf.sequence_mask(self.lengths, self.n_steps, tf.float32)


Layer = Callable[[Draw, Sequences], Tensor]
in_order = partial(tf.nn.dynamic_rnn, dtype=tf.float32, parallel_iterations=1)
"""One iteration after the other, or they race for the random numbers of a dropout."""

CELLS: dict[str, Callable[[int], Any]] = {
    "LSTM": lambda n: cells.LSTMCell(n), "basic LSTM": lambda n: cells.BasicLSTMCell(n), "GRU": lambda n: cells.GRUCell(n),
    "basic RNN": lambda n: cells.BasicRNNCell(n), "LSTM with peepholes": lambda n: cells.LSTMCell(n, use_peepholes=True),
    "LSTM with projection": lambda n: cells.LSTMCell(n, num_proj=3),
    "clipped LSTM": lambda n: cells.LSTMCell(n, cell_clip=0.3, forget_bias=0.5),
    "two GRUs": lambda n: cells.MultiRNNCell([cells.GRUCell(n), cells.GRUCell(n)]),
    "residual GRU": lambda n: cells.MultiRNNCell([cells.GRUCell(n), cells.ResidualWrapper(cells.GRUCell(n))]),
    "GRU with dropout": lambda n: cells.DropoutWrapper(cells.GRUCell(n), output_keep_prob=0.7, seed=3),
}  # fmt: skip


def recurrent(draw: Draw, given: Sequences) -> Tensor:
    cell = draw.named(CELLS)(draw.integer(3, 6))
    lengths = given.lengths if draw.chance(0.7) else None
    if draw.chance(0.3):
        draw.notes.append("by time")
        by_time = tf.transpose(given.values, [1, 0, 2])
        return tf.transpose(in_order(cell, by_time, lengths, time_major=True)[0], [1, 0, 2])
    return in_order(cell, given.values, lengths)[0]


def unrolled(draw: Draw, given: Sequences) -> Tensor:
    cell = draw.named(CELLS)(draw.integer(3, 5))
    return tf.stack(tf.nn.static_rnn(cell, tf.unstack(given.values, axis=1), dtype=tf.float32)[0], axis=1)


def both_ways(draw: Draw, given: Sequences) -> Tensor:
    ahead, back = (draw.named(CELLS)(draw.integer(3, 4)) for _ in range(2))
    outputs, _ = tf.nn.bidirectional_dynamic_rnn(
        ahead, back, given.values, given.lengths, dtype=tf.float32, parallel_iterations=1
    )
    return tf.concat(outputs, 2)


def attention(draw: Draw, given: Sequences) -> Tensor:
    """Some heads of self-attention over what is inside of a sequence, added to the input; a causal mask at times."""
    heads, size = draw.integer(1, 3), draw.integer(2, 4)

    def part() -> Tensor:
        made = tf.layers.dense(given.values, heads * size, use_bias=draw.chance(0.5))
        return tf.transpose(tf.reshape(made, [-1, given.n_steps, heads, size]), [0, 2, 1, 3])

    query, key, value = part(), part(), part()
    scores = tf.matmul(query, key, transpose_b=True) / np.float32(np.sqrt(size)) + _adder(draw, given)
    chances = tf.nn.softmax(scores)
    if draw.chance(0.4):
        chances = tf.nn.dropout(chances, rate=0.2, seed=draw.integer(1, 99))
    context = tf.transpose(tf.matmul(chances, value), [0, 2, 1, 3])
    context = tf.reshape(context, [-1, given.n_steps, heads * size])
    return layer_norm(given.values + tf.layers.dense(context, given.depth()))


def _adder(draw: Draw, given: Sequences) -> Tensor:
    allowed = tf.reshape(given.mask(), [-1, 1, 1, given.n_steps])
    if draw.chance(0.4):
        draw.notes.append("causal")
        allowed *= tf.linalg.band_part(tf.ones([1, 1, given.n_steps, given.n_steps]), -1, 0)
    return (1.0 - allowed) * -1e4


def wide(draw: Draw, given: Sequences) -> Tensor:
    """The position-wise part of a transformer's layer."""
    hidden = draw.named(ACTIVATIONS)(tf.layers.dense(given.values, 8))
    return layer_norm(given.values + tf.layers.dense(hidden, given.depth()))


def convolved(draw: Draw, given: Sequences) -> Tensor:
    """Gated, and with causal padding at times."""
    x, rate = given.values, draw.integer(1, 2)
    if draw.chance(0.5):
        x = tf.pad(x, [[0, 0], [2 * rate, 0], [0, 0]])
        made = tf.layers.conv1d(x, 8, 3, padding="valid", dilation_rate=rate)
    else:
        made = tf.layers.conv1d(x, 8, 3, padding="same")
    values, gates = tf.split(made, 2, 2)
    return values * tf.sigmoid(gates)


def highway(draw: Draw, given: Sequences) -> Tensor:
    gate = tf.layers.dense(given.values, given.depth(), tf.sigmoid, bias_initializer=tf.constant_initializer(-1.0))
    return gate * draw.named(ACTIVATIONS)(tf.layers.dense(given.values, given.depth())) + (1.0 - gate) * given.values


def looped(draw: Draw, given: Sequences) -> Tensor:
    """A while loop with arrays and a state of its own, that stops behind the longest sequence."""
    by_time, size = tf.transpose(given.values, [1, 0, 2]), draw.integer(2, 5)
    inputs = tf.TensorArray(tf.float32, given.n_steps).unstack(by_time)
    with tf.variable_scope(None, "loop"):
        weights = tf.get_variable("weights", [given.depth() + size, size])
    squash = draw.named({"tanh": tf.tanh, "softsign": tf.nn.softsign, "elu": tf.nn.elu})

    def body(time: Any, state: Any, made: Any) -> Any:
        grown = squash(tf.matmul(tf.concat([inputs.read(time), state], 1), weights))
        state = tf.where(time < given.lengths, grown, state)
        return time + 1, state, made.write(time, state)

    start = (0, tf.zeros([tf.shape(by_time)[1], size]), tf.TensorArray(tf.float32, given.n_steps, element_shape=[None, size]))
    made = tf.while_loop(lambda time, *_: time < given.n_steps, body, start)[2]
    return tf.reshape(tf.transpose(made.stack(), [1, 0, 2]), [-1, given.n_steps, size])


def scanned(draw: Draw, given: Sequences) -> Tensor:
    decay = tf.sigmoid(tf.get_variable(tf.get_default_graph().unique_name("decay"), [given.depth()]))
    by_time = tf.transpose(given.values, [1, 0, 2])
    made = tf.scan(lambda state, x: decay * state + (1.0 - decay) * x, by_time, tf.zeros_like(by_time[0]))
    return tf.transpose(made, [1, 0, 2]) + given.values


def conditional(draw: Draw, given: Sequences) -> Tensor:
    """One of two layers, by a number of the input."""
    is_large = tf.reduce_mean(given.values) > draw.one_of([-1.0, 0.0, 1.0])
    ahead, back = (draw.named(ACTIVATIONS) for _ in range(2))
    size = draw.integer(3, 5)
    return tf.cond(is_large, lambda: ahead(tf.layers.dense(given.values, size)),
                   lambda: back(tf.layers.dense(given.values[:, ::-1], size)))  # fmt: skip


def mapped(draw: Draw, given: Sequences) -> Tensor:
    """A layer over one sequence at a time."""
    with tf.variable_scope(None, "map"):
        weights = tf.get_variable("weights", [given.depth(), 4])
    made = tf.map_fn(lambda x: tf.nn.softmax(tf.matmul(x, weights)), given.values)
    return tf.reshape(made, [-1, given.n_steps, 4])


LAYERS: dict[str, Layer] = {
    "recurrent": recurrent, "unrolled": unrolled, "both ways": both_ways, "attention": attention, "wide": wide,
    "convolution": convolved, "highway": highway, "loop": looped, "scan": scanned, "condition": conditional, "map": mapped,
}  # fmt: skip


def _tagged(draw: Draw, given: Sequences, target: Tensor) -> tuple[Tensor, Tensor]:
    scores = tf.layers.dense(given.values, N_TAGS)
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=target, logits=scores)
    return tf.reduce_sum(losses * given.mask()) / tf.reduce_sum(given.mask()), scores


def _chained(draw: Draw, given: Sequences, target: Tensor) -> tuple[Tensor, Tensor]:
    scores = tf.layers.dense(given.values, N_TAGS)
    transitions = tf.get_variable("transitions", [N_TAGS, N_TAGS])
    return tf.reduce_mean(-crf_score(scores, target, given.lengths, transitions)), scores


def _aligned(draw: Draw, given: Sequences, target: Tensor) -> tuple[Tensor, Tensor]:
    """The first two tags of each sequence are what was said.  Twice the same one takes three steps, or the loss is infinite."""
    logits = tf.layers.dense(given.values, N_TAGS + 1)
    places = tf.where(tf.ones_like(target[:, :2], tf.bool))
    spoken = tf.SparseTensor(places, tf.gather_nd(target, places), tf.shape(target[:, :2], out_type=tf.int64))
    by_time = draw.chance(0.5)
    inputs, lengths = tf.transpose(logits, [1, 0, 2]) if by_time else logits, tf.maximum(given.lengths, 3)
    losses = tf.nn.ctc_loss(spoken, inputs, lengths, time_major=by_time)
    return tf.reduce_mean(losses), logits


def _pooled(draw: Draw, given: Sequences, target: Tensor) -> tuple[Tensor, Tensor]:
    mask = tf.expand_dims(given.mask(), 2)
    ways: dict[str, Callable[[], Tensor]] = {
        "mean of time": lambda: tf.reduce_sum(given.values * mask, 1) / tf.reduce_sum(mask, 1),
        "largest of time": lambda: tf.reduce_max(given.values - (1.0 - mask) * 1e3, 1),
        "last of time": lambda: tf.gather_nd(
            given.values, tf.stack([tf.range(tf.shape(given.lengths)[0]), given.lengths - 1], 1)
        ),
    }
    logits = tf.layers.dense(draw.named(ways)(), N_TAGS)
    return tf.losses.sparse_softmax_cross_entropy(target[:, 0], logits), logits


def _decoded(draw: Draw, given: Sequences, target: Tensor) -> tuple[Tensor, Tensor]:
    """A decoder that attends to the input in a loop and is fed the right tags."""
    size = draw.integer(3, 5)
    cell, batch = cells.GRUCell(size), tf.shape(given.values)[0]
    keys = tf.layers.dense(given.values, size, use_bias=False)
    shifted = tf.pad(tf.one_hot(target[:, :-1], N_TAGS), [[0, 0], [1, 0], [0, 0]])
    fed = tf.TensorArray(tf.float32, given.n_steps).unstack(tf.transpose(shifted, [1, 0, 2]))
    adder = (1.0 - given.mask()) * -1e4

    def body(time: Any, state: Any, made: Any) -> Any:
        scores = tf.reduce_sum(keys * tf.expand_dims(state, 1), 2) + adder
        context = tf.reduce_sum(tf.expand_dims(tf.nn.softmax(scores), 2) * given.values, 1)
        with tf.variable_scope("decoder", reuse=tf.AUTO_REUSE):
            output, state = cell(tf.concat([fed.read(time), context], 1), state)
        return time + 1, state, made.write(time, output)

    start = (0, tf.zeros([batch, size]), tf.TensorArray(tf.float32, given.n_steps))
    made = tf.while_loop(lambda time, *_: time < given.n_steps, body, start)[2]
    decoded = tf.reshape(tf.transpose(made.stack(), [1, 0, 2]), [-1, given.n_steps, size])
    return _tagged(draw, Sequences(decoded, given.lengths, given.n_steps), target)


HEADS: dict[str, Callable[[Draw, Sequences, Tensor], tuple[Tensor, Tensor]]] = {
    "tags": _tagged, "CRF": _chained, "CTC": _aligned, "pooled": _pooled, "decoder": _decoded,
}  # fmt: skip


def sequence_network(draw: Draw) -> Network:
    """A model of words or of vectors, of a known batch size or any."""
    batch, n_steps, depth = draw.integer(2, 4), draw.integer(4, 7), draw.integer(3, 5)
    known: Any = draw.one_of([None, batch])
    lengths, target = tf.placeholder(tf.int32, [known]), tf.placeholder(tf.int32, [known, n_steps])
    if of_words := draw.chance(0.5):
        draw.notes.append("words")
        source = tf.placeholder(tf.int32, [known, n_steps])
        values = tf.nn.embedding_lookup(tf.get_variable("words", [N_WORDS, depth]), source)
    else:
        source = values = tf.placeholder(tf.float32, [known, n_steps, depth])
    for index in range(draw.integer(1, 3)):
        with tf.variable_scope(f"layer{index}"):
            values = draw.named(LAYERS)(draw, Sequences(values, lengths, n_steps))
    loss, logits = draw.named(HEADS)(draw, Sequences(values, lengths, n_steps), target)

    def feeds(step: int) -> Feeds:
        words = labels(step, N_WORDS, batch, n_steps) if of_words else numbers(step, batch, n_steps, depth)
        return {source: words, target: labels(step, N_TAGS, batch, n_steps), lengths: 1 + labels(step, n_steps, batch)}

    return trained(draw, loss, {"logits": logits}, feeds)
