"""Recurrent networks, attention, transformers, taggers and speech."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tests.graphs.training import Feeds, Training, by_session, labels, numbers, usual

LSTM, GRU = tf.nn.rnn_cell.LSTMCell, tf.nn.rnn_cell.GRUCell


def rnn_static() -> Training:
    inputs = tf.placeholder(tf.float32, [6, 7, 5])
    target = tf.placeholder(tf.int32, [6])
    cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.BasicLSTMCell(8), GRU(8)])
    cell = tf.nn.rnn_cell.DropoutWrapper(cell, output_keep_prob=0.8, seed=3)
    outputs, _ = tf.nn.static_rnn(cell, tf.unstack(inputs, axis=1), dtype=tf.float32)
    loss = tf.losses.sparse_softmax_cross_entropy(target, tf.layers.dense(outputs[-1], 4))
    feeds = lambda step: {inputs: numbers(step, 6, 7, 5), target: labels(step, 4, 6)}  # noqa: E731
    return usual(loss, tf.train.AdamOptimizer(0.01), feeds)


def rnn_dynamic_bi() -> Training:
    """Both directions over sequences of different lengths; the lengths are asserted."""
    inputs = tf.placeholder(tf.float32, [None, None, 5])
    lengths, target = tf.placeholder(tf.int32, [None]), tf.placeholder(tf.int32, [None])
    with tf.control_dependencies([tf.assert_positive(lengths, message="empty sequences"), tf.assert_less(target, 4)]):
        outputs, states = tf.nn.bidirectional_dynamic_rnn(LSTM(6), GRU(6), inputs, sequence_length=lengths, dtype=tf.float32)
    pooled = tf.reduce_max(tf.concat(outputs, 2), axis=1)
    logits = tf.layers.dense(tf.concat([pooled, states[0].h, states[1]], 1), 4)
    loss = tf.losses.sparse_softmax_cross_entropy(target, logits)

    def feeds(step: int) -> Feeds:
        return {inputs: numbers(step, 4, 9, 5), lengths: 1 + labels(step, 9, 4), target: labels(step, 4, 4)}

    return usual(loss, tf.train.AdamOptimizer(0.01), feeds)


def _attend(query: tf.Tensor, keys: tf.Tensor, memory: tf.Tensor, mask: tf.Tensor) -> tf.Tensor:
    """Additive attention."""
    v = tf.get_variable("v", [keys.shape[2]])
    hidden = tf.tanh(keys + tf.expand_dims(tf.layers.dense(query, int(keys.shape[2]), use_bias=False, name="query"), 1))
    scores = tf.where(mask, tf.reduce_sum(v * hidden, 2), tf.fill(tf.shape(mask), -1e9))
    return tf.squeeze(tf.matmul(tf.expand_dims(tf.nn.softmax(scores), 1), memory), 1)


def seq2seq_attention() -> Training:
    """Encoder, attention in a raw while loop that feeds back the best word or the right one, a moving loss average."""
    source, target = tf.placeholder(tf.int32, [None, None]), tf.placeholder(tf.int32, [None, None])
    lengths = tf.placeholder(tf.int32, [None])
    n_words, depth = 20, 8
    table = tf.get_variable("words", [n_words, depth])
    with tf.control_dependencies([tf.assert_less_equal(tf.reduce_max(lengths), tf.shape(source)[1])]):
        looked_up = tf.nn.embedding_lookup(table, source)
    memory, state = tf.nn.dynamic_rnn(GRU(depth), looked_up, lengths, dtype=tf.float32)
    keys = tf.layers.dense(memory, depth, use_bias=False)
    mask = tf.sequence_mask(lengths, tf.shape(source)[1])
    cell, n_steps = GRU(depth), tf.shape(target)[1]
    right = tf.TensorArray(tf.int32, n_steps).unstack(tf.transpose(target))
    finished = tf.zeros([tf.shape(source)[0]], tf.bool)

    def body(time: Any, word: Any, state: Any, finished: Any, made: Any) -> Any:
        with tf.variable_scope("decoder", reuse=tf.AUTO_REUSE):
            context = _attend(state, keys, memory, mask)
            inputs = tf.concat([tf.nn.embedding_lookup(table, word), context], 1)
            _, new_state = cell(inputs, state)
            logits = tf.layers.dense(new_state, n_words, name="output")
        given, best = right.read(time), tf.argmax(logits, 1, output_type=tf.int32)
        coin = tf.random_uniform(tf.shape(given), seed=9) < 0.7
        kept = tf.where(finished, state, new_state)
        ended = tf.logical_or(finished, tf.equal(best, -1))
        return time + 1, tf.where(coin, given, best), kept, ended, made.write(time, logits)

    start = (0, tf.zeros_like(lengths), state, finished, tf.TensorArray(tf.float32, 0, dynamic_size=True))
    # One iteration at a time, or they race for the random numbers.
    test = lambda time, word, state, finished, made: (time < n_steps) & ~tf.reduce_all(finished)  # noqa: E731
    _, _, _, _, made = tf.while_loop(test, body, start, parallel_iterations=1)
    tf.summary.scalar("steps", made.size())
    logits = tf.transpose(made.stack(), [1, 0, 2])
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=target, logits=logits)
    weights = tf.cast(tf.greater_equal(target, 1), tf.float32)
    loss = tf.div_no_nan(tf.reduce_sum(losses * weights), tf.reduce_sum(weights))
    counts = tf.Variable(tf.zeros([n_words]), trainable=False, name="counts")
    tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, tf.scatter_add(counts, source, tf.ones_like(source, tf.float32)))
    average = tf.train.ExponentialMovingAverage(0.9)
    tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, average.apply([loss]))

    def feeds(step: int) -> Feeds:
        return {source: labels(step, 20, 3, 6), target: labels(step, 20, 3, 5), lengths: 1 + labels(step, 6, 3)}

    return usual(loss, tf.train.AdamOptimizer(0.01), feeds)


def _gelu(x: tf.Tensor) -> tf.Tensor:
    return 0.5 * x * (1.0 + tf.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * tf.pow(x, 3))))


def _layer_norm(x: tf.Tensor, name: str) -> tf.Tensor:
    with tf.variable_scope(name):
        gamma = tf.get_variable("gamma", x.shape[-1:], initializer=tf.ones_initializer())
        beta = tf.get_variable("beta", x.shape[-1:], initializer=tf.zeros_initializer())
    mean = tf.reduce_mean(x, -1, keepdims=True)
    variance = tf.reduce_mean(tf.squared_difference(x, tf.stop_gradient(mean)), -1, keepdims=True)
    return (x - mean) * tf.rsqrt(variance + 1e-12) * gamma + beta


def _dense(x: tf.Tensor, n: int, name: str, activation: Any = None) -> tf.Tensor:
    return tf.layers.dense(x, n, activation, kernel_initializer=tf.truncated_normal_initializer(stddev=0.1), name=name)


def _heads(x: tf.Tensor, name: str, batch: int, length: int) -> tf.Tensor:
    return tf.transpose(tf.reshape(_dense(x, 16, name), [batch, length, 2, 8]), [0, 2, 1, 3])


def _encoder_layer(x: tf.Tensor, adder: tf.Tensor, name: str, batch: int, length: int) -> tf.Tensor:
    with tf.variable_scope(name):
        query, key, value = (_heads(x, part, batch, length) for part in ("query", "key", "value"))
        scores = tf.matmul(query, key, transpose_b=True) / np.sqrt(8.0).astype(np.float32) + adder
        chances = tf.nn.dropout(tf.nn.softmax(scores), rate=0.1, seed=5)
        context = tf.reshape(tf.transpose(tf.matmul(chances, value), [0, 2, 1, 3]), [batch * length, 16])
        x = _layer_norm(x + tf.nn.dropout(_dense(context, 16, "context"), rate=0.1, seed=6), "first")
        return _layer_norm(x + _dense(_dense(x, 32, "wide", _gelu), 16, "narrow"), "second")


def _adam_with_decay(loss: tf.Tensor, rate: float) -> tf.Operation:
    """Written out in plain ops, as pretraining code has it: decay beside the moments, no bias correction, warm-up."""
    step = tf.train.get_or_create_global_step()
    warm = tf.cast(step + 1, tf.float32) / 10.0
    rate = tf.where(tf.less(step, 10), rate * warm, tf.train.polynomial_decay(rate, step, 100, 0.0))
    trained = tf.trainable_variables()
    with tf.control_dependencies([loss]):
        gradients, _ = tf.clip_by_global_norm(tf.gradients(loss, trained), 1.0)
    updates = []
    for gradient, variable in zip(gradients, trained, strict=True):
        name = variable.op.name
        m, v = (
            tf.get_variable(f"{name}/{moment}", variable.shape, trainable=False, initializer=tf.zeros_initializer())
            for moment in ("m", "v")
        )
        next_m, next_v = 0.9 * m + 0.1 * gradient, 0.999 * v + 0.001 * tf.square(gradient)
        change = next_m / (tf.sqrt(next_v) + 1e-6)
        if not name.endswith(("bias", "beta", "gamma")):
            change += 0.01 * variable
        updates += [variable.assign(variable - rate * change), m.assign(next_m), v.assign(next_v)]
    with tf.control_dependencies(updates):
        return step.assign(step + 1).op


def bert_pretrain() -> Training:
    """Masked words and next sentence, two layers."""
    batch, length, n_words, n_masked = 2, 10, 40, 3
    words, mask = (tf.placeholder(tf.int32, [batch, length]) for _ in range(2))
    segments, places = tf.placeholder(tf.int32, [batch, length]), tf.placeholder(tf.int32, [batch, n_masked])
    missing, follows = tf.placeholder(tf.int32, [batch, n_masked]), tf.placeholder(tf.int32, [batch])
    initializer = tf.truncated_normal_initializer(stddev=0.1)
    table = tf.get_variable("words", [n_words, 16], initializer=initializer)
    positions = tf.get_variable("positions", [32, 16], initializer=initializer)
    kinds = tf.get_variable("kinds", [2, 16], initializer=initializer)
    x = tf.reshape(tf.gather(table, tf.reshape(words, [-1])), [batch, length, 16])
    x += tf.reshape(tf.matmul(tf.one_hot(tf.reshape(segments, [-1]), 2), kinds), [batch, length, 16])
    with tf.control_dependencies([tf.assert_less_equal(length, 32)]):
        x += tf.slice(positions, [0, 0], [length, -1])
    x = tf.reshape(tf.nn.dropout(_layer_norm(x, "input"), rate=0.1, seed=4), [-1, 16])
    wide = tf.ones([batch, length, 1]) * tf.cast(tf.reshape(mask, [batch, 1, length]), tf.float32)
    adder = (1.0 - tf.expand_dims(wide, [1])) * -10000.0
    for index in range(2):
        x = _encoder_layer(x, adder, f"layer{index}", batch, length)
    flat = tf.reshape(places + tf.reshape(tf.range(batch) * length, [-1, 1]), [-1])
    guessed = _layer_norm(_dense(tf.gather(x, flat), 16, "transform", _gelu), "transform")
    bias = tf.get_variable("output/bias", [n_words], initializer=tf.zeros_initializer())
    chances = tf.nn.log_softmax(tf.matmul(guessed, table, transpose_b=True) + bias)
    per_word = -tf.reduce_sum(chances * tf.one_hot(tf.reshape(missing, [-1]), n_words), -1)
    first = tf.tanh(_dense(tf.squeeze(tf.reshape(x, [batch, length, 16])[:, 0:1, :], 1), 16, "pooler"))
    per_pair = -tf.reduce_sum(tf.nn.log_softmax(_dense(first, 2, "next")) * tf.one_hot(follows, 2), -1)
    loss = tf.reduce_sum(per_word) / (n_masked * batch + 1e-5) + tf.reduce_mean(per_pair)

    def feeds(step: int) -> Feeds:
        return {
            words: labels(step, n_words, batch, length), mask: (labels(step, 5, batch, length) > 0).astype(np.int32),
            segments: labels(step, 2, batch, length), places: labels(step, length, batch, n_masked),
            missing: labels(step, n_words, batch, n_masked), follows: labels(step, 2, batch),
        }  # fmt: skip

    return by_session(loss, _adam_with_decay(loss, 0.01), feeds)


def crf_score(scores: tf.Tensor, tags: tf.Tensor, lengths: tf.Tensor, transitions: tf.Tensor) -> tf.Tensor:
    """Log likelihood of tag sequences under a linear chain."""
    n_tags = int(scores.shape[2])
    mask = tf.sequence_mask(lengths, tf.shape(tags)[1], tf.float32)
    of_tags = tf.reduce_sum(tf.reduce_sum(scores * tf.one_hot(tags, n_tags), 2) * mask, 1)
    pairs = tags[:, :-1] * n_tags + tags[:, 1:]
    of_steps = tf.reduce_sum(tf.gather(tf.reshape(transitions, [-1]), pairs) * mask[:, 1:], 1)
    by_time = tf.transpose(scores, [1, 0, 2])

    def body(time: Any, alpha: Any) -> Any:
        grown = tf.reduce_logsumexp(tf.expand_dims(alpha, 2) + transitions, 1) + by_time[time]
        return time + 1, tf.where(time < lengths, grown, alpha)

    _, alpha = tf.while_loop(lambda time, alpha: time < tf.shape(by_time)[0], body, (1, by_time[0]))
    return of_tags + of_steps - tf.reduce_logsumexp(alpha, 1)


def crf_ctc() -> Training:
    """A tagger's linear chain and a transcriber's alignment-free loss over one convolved input."""
    inputs = tf.placeholder(tf.float32, [None, 12, 6])
    tags, lengths = tf.placeholder(tf.int32, [None, 12]), tf.placeholder(tf.int32, [None])
    spoken = tf.sparse_placeholder(tf.int32, [3, 4])
    with tf.control_dependencies([tf.assert_greater_equal(lengths, 1), tf.assert_less_equal(lengths, 12)]):
        hidden = tf.reshape(tf.layers.dense(tf.reshape(tf.pad(inputs, [[0, 0], [0, 0], [0, 2]]), [-1, 8]), 8), [-1, 12, 8])
    hidden = tf.maximum(hidden, 0.1 * hidden)
    scores = tf.reshape(tf.layers.dense(tf.reshape(hidden, [-1, 8]), 5), [-1, 12, 5])
    transitions = tf.get_variable("transitions", [5, 5])
    of_tags = tf.reduce_mean(-crf_score(scores, tags, lengths, transitions))
    logits = tf.reshape(tf.layers.dense(tf.reshape(hidden, [-1, 8]), 7), [-1, 12, 7])
    of_speech = tf.reduce_mean(tf.nn.ctc_loss(spoken, logits, lengths, time_major=False, ignore_longer_outputs_than_inputs=True))

    def feeds(step: int) -> Feeds:
        places = np.array([[row, column] for row in range(3) for column in range(3)], np.int64)
        sparse = tf.SparseTensorValue(places, labels(step, 6, 9), np.array([3, 4], np.int64))
        return {inputs: numbers(step, 3, 12, 6), tags: labels(step, 5, 3, 12), lengths: 5 + labels(step, 8, 3), spoken: sparse}

    return usual(of_tags + of_speech, tf.train.AdamOptimizer(0.01), feeds)
