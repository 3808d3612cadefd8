"""Functions for the expressions of recipes.txt: typical arguments, made in the graph under construction."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

SOURCES = "inventory_sources"
"""Collection of the placeholders to differentiate by."""


def _drawn(shape: tuple[int, ...], low: float = 0.0, high: float = 1.0) -> np.ndarray:
    """Values of a range, others for every placeholder of a graph."""
    seed = len(tf.get_collection(SOURCES))
    return np.asarray(np.random.default_rng(seed).uniform(low, high, shape), np.float32)


def x(*shape: int) -> Any:
    """A float placeholder."""
    made = tf.placeholder_with_default(_drawn(shape, -2, 2), shape)
    tf.add_to_collection(SOURCES, made)
    return made


def p(*shape: int) -> Any:
    """A float placeholder with values between 0 and 1."""
    made = tf.placeholder_with_default(_drawn(shape, 0.1, 0.9), shape)
    tf.add_to_collection(SOURCES, made)
    return made


_last: list[Any] = []


def once(value: Any) -> Any:
    """`value`; the value given last for None."""
    if value is not None:
        _last[:] = [value]
    return _last[0]


def var(*shape: int) -> Any:
    return tf.get_variable(f"v{len(tf.global_variables())}", shape, initializer=tf.zeros_initializer())


def ints(*values: Any) -> Any:
    return tf.placeholder_with_default(np.array(values, np.int32), np.shape(values))


def longs(*values: Any) -> Any:
    return tf.placeholder_with_default(np.array(values, np.int64), np.shape(values))


def ints_scalar(value: int) -> Any:
    return tf.placeholder_with_default(np.int32(value), [])


def ph_ints(n: int) -> Any:
    return tf.placeholder_with_default(np.full(n, 3, np.int32), [n])


def ph_bool() -> Any:
    return tf.placeholder_with_default(True, [])


def flags(*shape: int) -> Any:
    return tf.placeholder_with_default(np.asarray(_drawn(shape) < 0.6), shape)


def text() -> Any:
    return tf.placeholder_with_default(b"not a picture", [])


def image() -> Any:
    """(8, 8, 3) uint8."""
    return tf.placeholder_with_default(_drawn((8, 8, 3), 0, 255).astype(np.uint8), [8, 8, 3])


def sp() -> Any:
    """A sparse matrix of 4 x 5 with three values."""
    return tf.SparseTensor(tf.constant([[0, 1], [1, 2], [3, 0]], tf.int64), x(3), tf.constant([4, 5], tf.int64))


def ids() -> Any:
    """Sparse ids, (4, 5)."""
    return tf.SparseTensor(tf.constant([[0, 1], [1, 2], [3, 0]], tf.int64), longs(1, 2, 3), tf.constant([4, 5], tf.int64))


def ids_weights() -> Any:
    """Weights for `ids`."""
    return sp()


def ids_text() -> Any:
    return tf.SparseTensor(tf.constant([[0, 1], [1, 2]], tf.int64), tf.constant(["a", "b"]), tf.constant([4, 5], tf.int64))


def spd() -> Any:
    """A positive definite 3 x 3 matrix."""
    made = x(3, 3)
    return tf.matmul(made, made, transpose_b=True) + 3.0 * tf.eye(3)


def cell() -> Any:
    return tf.nn.rnn_cell.LSTMCell(3)


def raw_loop() -> Any:
    """The loop function of a raw_rnn over three steps."""

    def step(time: Any, output: Any, state: Any, loop_state: Any) -> Any:
        following = tf.zeros([2, 4]) if state is None else tf.concat([output, output[:, :1]], 1)
        state = cell().zero_state(2, tf.float32) if state is None else state
        return tf.fill([2], time >= 3), following, state, output, None

    return step


def pooled(image: Any, n_spatial: Any, padding: Any) -> Any:
    """An operation for with_space_to_batch."""
    return tf.nn.max_pool(image, 3, 1, padding)


def trained(optimizer: Any) -> Any:
    """One step on ref and resource variables with dense and sparse gradients."""
    loss = 0.0
    for use_resource in (False, True):
        with tf.variable_scope(f"resource{int(use_resource)}", use_resource=use_resource):
            table, weights = tf.get_variable("table", [6, 3]), tf.get_variable("weights", [3])
        loss += tf.reduce_sum(tf.square(tf.nn.embedding_lookup(table, ints(0, 2, 2)) * weights))  # no update before a read
    return optimizer.minimize(loss)


def keras_trained(optimizer: Any) -> Any:
    """One step of a Keras optimizer, dense and sparse."""
    table, weights = (
        tf.Variable(np.ones((6, 3), np.float32), use_resource=True),
        tf.Variable(np.ones(3, np.float32), use_resource=True),
    )
    loss = tf.reduce_sum(tf.square(tf.nn.embedding_lookup(table, ints(0, 2, 2)) * weights))
    gradients = tf.gradients(loss, [table, weights])
    return optimizer.apply_gradients(list(zip(gradients, [table, weights], strict=True)))


def saved() -> Any:
    var(3)
    return tf.train.Saver().saver_def.save_tensor_name


def columns() -> Any:
    """The input layer of crossed, bucketized, hashed and embedded columns."""
    fc = tf.feature_column
    age, job = fc.numeric_column("age"), fc.categorical_column_with_hash_bucket("job", 10)
    buckets = fc.bucketized_column(age, [10, 20])
    crossed = fc.crossed_column([buckets, "job"], 20)
    chosen = [age, buckets, fc.embedding_column(job, 4), fc.indicator_column(crossed)]
    return fc.input_layer({"age": p(3, 1), "job": tf.constant([["a"], ["b"], ["c"]])}, chosen)
