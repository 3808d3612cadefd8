"""Click-through prediction over a large table."""

from __future__ import annotations

import tensorflow.compat.v1 as tf

from benchmarks.models.model import Model, integers, numbers


def deepfm() -> Model:
    """DeepFM, batch 1024, 39 fields over a million rows."""
    batch, n_fields, n_rows, width = 1024, 39, 1_000_000, 8
    places = tf.placeholder(tf.int32, [batch, n_fields])
    values, target = tf.placeholder(tf.float32, [batch, n_fields]), tf.placeholder(tf.float32, [batch])
    table = tf.get_variable("embeddings", [n_rows, width], initializer=tf.random_normal_initializer(stddev=0.01))
    bias = tf.get_variable("weights", [n_rows], initializer=tf.random_normal_initializer(stddev=0.01))
    first = tf.reduce_sum(tf.nn.embedding_lookup(bias, places) * values, 1)
    vectors = tf.nn.embedding_lookup(table, places) * tf.expand_dims(values, 2)
    second = 0.5 * tf.reduce_sum(tf.square(tf.reduce_sum(vectors, 1)) - tf.reduce_sum(tf.square(vectors), 1), 1)
    net = tf.reshape(vectors, [batch, n_fields * width])
    for _ in range(3):
        net = tf.nn.dropout(tf.layers.dense(net, 400, tf.nn.relu), keep_prob=0.5)
    logits = first + second + tf.squeeze(tf.layers.dense(net, 1), 1)
    loss = tf.losses.sigmoid_cross_entropy(target, logits)
    clicked = integers(2, batch).astype("float32")
    feeds = {places: integers(n_rows, batch, n_fields), values: numbers(batch, n_fields), target: clicked}
    return Model(loss, tf.train.AdamOptimizer(1e-3).minimize(loss), feeds)
