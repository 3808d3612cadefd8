"""Recommendation and word vectors: wide tables, sparse gradients, text features."""

from __future__ import annotations

import numpy as np
import tensorflow.compat.v1 as tf

from tests.graphs.training import Feeds, Training, by_session, labels, numbers, usual

JOBS = np.array([b"clerk", b"cook", b"driver", b"nurse", b"teacher"], object)


def wide_deep() -> Training:
    """Feature columns: hashed and crossed text, buckets and embeddings, a linear and a deep part, resource variables."""
    columns = tf.feature_column
    age, job = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.string, [None])
    town, target = tf.placeholder(tf.int64, [None]), tf.placeholder(tf.float32, [None, 1])
    features = {"age": age, "job": job, "town": town, "street": town, "hours": tf.abs(age) + 1.0}
    by_age = columns.bucketized_column(columns.numeric_column("age"), [-0.5, 0.0, 0.5])
    by_job = columns.categorical_column_with_hash_bucket("job", 20)
    by_town = columns.categorical_column_with_hash_bucket("town", 30, dtype=tf.int64)
    small_town = columns.categorical_column_with_identity("street", 50, default_value=0)
    with tf.variable_scope("wide", use_resource=True):
        crossed = columns.crossed_column(["job", by_age], 40)
        wide = columns.linear_model(features, [by_age, by_job, crossed, by_town])
    with tf.variable_scope("deep", use_resource=True):
        dense = [
            columns.numeric_column("hours"), columns.indicator_column(by_job), by_age,
            columns.embedding_column(by_town, 4, combiner="mean"), columns.embedding_column(small_town, 3, combiner="sqrtn"),
        ]  # fmt: skip
        net = tf.layers.dense(columns.input_layer(features, dense), 16, tf.nn.relu)
        tf.summary.histogram("hidden", net)
        deep = tf.layers.dense(net, 1)
    logits = wide + deep
    tf.summary.scalar("fraction_of_zero", tf.nn.zero_fraction(net))
    loss = tf.losses.sigmoid_cross_entropy(target, logits)
    correct = tf.reduce_mean(tf.cast(tf.equal(tf.cast(logits > 0, tf.float32), target), tf.float32))
    chances = tf.nn.softmax(tf.concat([tf.zeros_like(logits), logits], 1))
    tf.summary.scalar("accuracy", correct + 0.0 * tf.reduce_mean(tf.cast(tf.argmax(chances, 1), tf.float32)))
    train = tf.group(
        tf.train.FtrlOptimizer(0.1).minimize(loss, var_list=tf.trainable_variables("wide")),
        tf.train.AdagradOptimizer(0.1).minimize(loss, var_list=tf.trainable_variables("deep")),
    )

    def feeds(step: int) -> Feeds:
        return {
            age: numbers(step, 16), job: JOBS[labels(step, 5, 16)], town: labels(step, 50, 16).astype(np.int64),
            target: labels(step, 2, 16, 1).astype(np.float32),
        }  # fmt: skip

    return by_session(loss, train, feeds, [tf.summary.merge_all()])


def deepfm() -> Training:
    """First and second order of field embeddings, and a deep part with batch norm and dropout."""
    places, values = tf.placeholder(tf.int32, [None, 6]), tf.placeholder(tf.float32, [None, 6])
    target = tf.placeholder(tf.float32, [None])
    table = tf.get_variable("embeddings", [100, 4], initializer=tf.random_uniform_initializer(-0.1, 0.1))
    bias = tf.get_variable("weights", [100], initializer=tf.random_uniform_initializer(-0.1, 0.1))
    first = tf.reduce_sum(tf.nn.embedding_lookup(bias, places) * values, 1)
    vectors = tf.nn.embedding_lookup(table, places) * tf.expand_dims(values, 2)
    second = 0.5 * tf.reduce_sum(tf.square(tf.reduce_sum(vectors, 1)) - tf.reduce_sum(tf.square(vectors), 1), 1)
    net = tf.reshape(vectors, [-1, 24])
    for width in (16, 8):
        net = tf.layers.dense(net, width, use_bias=False, kernel_regularizer=tf.nn.l2_loss)
        net = tf.expand_dims(tf.expand_dims(net, 1), 1)
        net = tf.layers.batch_normalization(net, training=True, momentum=0.9)
        net = tf.nn.dropout(tf.nn.relu(tf.reshape(net, [-1, width])), keep_prob=0.8)
    logits = first + second + tf.reshape(tf.layers.dense(net, 1), [-1])
    chances = tf.sigmoid(logits)
    loss = tf.reduce_mean(-target * tf.log(chances + 1e-7) - (1 - target) * tf.log(1 - chances + 1e-7))
    loss += 1e-3 * tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=target, logits=logits))

    def feeds(step: int) -> Feeds:
        return {places: labels(step, 100, 32, 6), values: numbers(step, 32, 6), target: labels(step, 2, 32).astype(np.float32)}

    return usual(loss, tf.train.AdagradOptimizer(0.1), feeds)


def word2vec() -> Training:
    """Skip-grams with noise-contrastive estimation and a sampled softmax."""
    words, contexts = tf.placeholder(tf.int64, [12]), tf.placeholder(tf.int64, [12, 1])
    table = tf.get_variable("words", [60, 8], initializer=tf.random_uniform_initializer(-1, 1))
    weights = tf.get_variable("weights", [60, 8], initializer=tf.truncated_normal_initializer(stddev=0.3))
    biases = tf.get_variable("biases", [60], initializer=tf.zeros_initializer())
    looked_up = tf.nn.embedding_lookup(table, words)
    noise = tf.nn.nce_loss(weights, biases, contexts, looked_up, num_sampled=10, num_classes=60)
    sampled = tf.nn.sampled_softmax_loss(weights, biases, contexts, looked_up, num_sampled=8, num_classes=60, seed=4)
    loss = tf.reduce_mean(noise) + 0.5 * tf.reduce_mean(sampled)
    feeds = lambda step: {words: labels(step, 60, 12).astype(np.int64), contexts: labels(step, 59, 12, 1).astype(np.int64)}  # noqa: E731
    return usual(loss, tf.train.GradientDescentOptimizer(0.2), feeds)
