"""BERT and a recurrent language model."""

from __future__ import annotations

import math

import tensorflow.compat.v1 as tf

from benchmarks.models.model import Model, integers

WIDTH, N_WORDS = 768, 30522
HEAD_WIDTH = 64
"""Numbers of one head, in BERT of any size."""


def gelu(x: tf.Tensor) -> tf.Tensor:
    return 0.5 * x * (1.0 + tf.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * tf.pow(x, 3))))


def layer_norm(x: tf.Tensor, name: str) -> tf.Tensor:
    width = int(x.shape[-1])
    with tf.variable_scope(name):
        gamma = tf.get_variable("gamma", [width], initializer=tf.ones_initializer())
        beta = tf.get_variable("beta", [width], initializer=tf.zeros_initializer())
    mean, variance = tf.nn.moments(x, [-1], keepdims=True)
    return tf.nn.batch_normalization(x, mean, variance, beta, gamma, 1e-12)


def dense(x: tf.Tensor, width: int, name: str, activation: object = None) -> tf.Tensor:
    return tf.layers.dense(x, width, activation, kernel_initializer=tf.truncated_normal_initializer(stddev=0.02), name=name)


def _heads(x: tf.Tensor, name: str, batch: int, length: int) -> tf.Tensor:
    width = int(x.shape[-1])
    return tf.transpose(tf.reshape(dense(x, width, name), [batch, length, width // HEAD_WIDTH, HEAD_WIDTH]), [0, 2, 1, 3])


def encoder_layer(x: tf.Tensor, mask: tf.Tensor, name: str, batch: int, length: int, activation: object = gelu) -> tf.Tensor:
    """A layer of BERT on rows of `batch` sentences of `length` words; mask: added to the scores."""
    width = int(x.shape[-1])
    with tf.variable_scope(name):
        query, key, value = (_heads(x, part, batch, length) for part in ("query", "key", "value"))
        scores = tf.matmul(query, key, transpose_b=True) / math.sqrt(HEAD_WIDTH) + mask
        chances = tf.nn.dropout(tf.nn.softmax(scores), keep_prob=0.9)
        context = tf.reshape(tf.transpose(tf.matmul(chances, value), [0, 2, 1, 3]), [batch * length, width])
        x = layer_norm(x + tf.nn.dropout(dense(context, width, "context"), keep_prob=0.9), "first")
        inner = dense(dense(x, 4 * width, "wide", activation), width, "narrow")
        return layer_norm(x + tf.nn.dropout(inner, keep_prob=0.9), "second")


def _bert(n_layers: int, batch: int, length: int = 128) -> Model:
    words, target = tf.placeholder(tf.int32, [batch, length]), tf.placeholder(tf.int32, [batch])
    mask = tf.placeholder(tf.int32, [batch, length])
    initializer = tf.truncated_normal_initializer(stddev=0.02)
    table = tf.get_variable("words", [N_WORDS, WIDTH], initializer=initializer)
    places = tf.get_variable("positions", [512, WIDTH], initializer=initializer)
    x = tf.nn.embedding_lookup(table, words) + places[:length]
    x = tf.reshape(tf.nn.dropout(layer_norm(x, "input"), keep_prob=0.9), [batch * length, WIDTH])
    adder = (1.0 - tf.cast(tf.reshape(mask, [batch, 1, 1, length]), tf.float32)) * -10000.0
    for index in range(n_layers):
        x = encoder_layer(x, adder, f"layer{index}", batch, length)
    pooled = dense(tf.reshape(x, [batch, length, WIDTH])[:, 0], WIDTH, "pooler", tf.tanh)
    loss = tf.losses.sparse_softmax_cross_entropy(target, dense(pooled, 2, "output"))
    optimizer = tf.train.AdamOptimizer(2e-5)
    gradients, variables = zip(*optimizer.compute_gradients(loss), strict=True)
    clipped, _ = tf.clip_by_global_norm(gradients, 1.0)
    feeds = {words: integers(N_WORDS, batch, length), mask: integers(2, batch, length), target: integers(2, batch)}
    return Model(loss, optimizer.apply_gradients(list(zip(clipped, variables, strict=True))), feeds)


def bert_2_layers() -> Model:
    """Two layers of BERT-base with its embeddings, batch 8, 128 words."""
    return _bert(2, 8)


def bert_base(batch: int = 2) -> Model:
    """BERT-base, 128 words."""
    return _bert(12, batch)


def lstm_ptb() -> Model:
    """The medium language model for the Penn Treebank: two LSTM layers of 650, unrolled over 35 words, batch 20."""
    batch, n_steps, width, n_words = 20, 35, 650, 10000
    words, target = (tf.placeholder(tf.int32, [batch, n_steps]) for _ in range(2))
    inputs = tf.nn.embedding_lookup(tf.get_variable("words", [n_words, width]), words)
    inputs = tf.unstack(tf.nn.dropout(inputs, keep_prob=0.5), axis=1)
    cells = [tf.nn.rnn_cell.BasicLSTMCell(width, forget_bias=0.0) for _ in range(2)]
    cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.DropoutWrapper(c, output_keep_prob=0.5) for c in cells])
    outputs, _ = tf.nn.static_rnn(cell, inputs, dtype=tf.float32)
    flat = tf.reshape(tf.concat(outputs, 1), [-1, width])
    weights, bias = tf.get_variable("softmax_w", [width, n_words]), tf.get_variable("softmax_b", [n_words])
    logits = tf.nn.xw_plus_b(flat, weights, bias)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.reshape(target, [-1]), logits=logits))
    trained = tf.trainable_variables()
    gradients, _ = tf.clip_by_global_norm(tf.gradients(loss, trained), 5.0)
    train = tf.train.GradientDescentOptimizer(1.0).apply_gradients(list(zip(gradients, trained, strict=True)))
    return Model(loss, train, {words: integers(n_words, batch, n_steps), target: integers(n_words, n_steps, batch).T})
