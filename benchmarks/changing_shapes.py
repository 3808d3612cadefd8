"""Step time of training on batches of ever other shapes: the simulated device against TensorFlow's CPU.

    python -m benchmarks.changing_shapes

Each of 40 lengths (or counts of labels) comes once, in a random order, and then once more. What counts in the first round is what
a shape costs that was not met before; the first steps, which compile in any case, do not change the medians. Every graph has a
process of its own; TensorFlow and the device take one round each after the other.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import click
import numpy as np
import tensorflow.compat.v1 as tf

from benchmarks.step_time import heading
from tests.runtime.device import device_of, device_session

N_LENGTHS, SHORTEST, WORDS = 40, 20, 2000
Feeds = Callable[[int], dict[Any, Any]]
"""Feeds of a step, by its length."""


def transformer() -> tuple[Any, Feeds]:
    """Four layers of 128 units over batches of 8 sentences."""
    units, heads, random = 128, 4, np.random.default_rng(0)
    words, wanted = tf.placeholder(tf.int32, [None, None]), tf.placeholder(tf.int32, [None, None])
    table = tf.get_variable("words", [WORDS, units])
    x = tf.nn.embedding_lookup(table, words)
    batch, length = tf.shape(x)[0], tf.shape(x)[1]

    def by_head(y: Any) -> Any:
        return tf.transpose(tf.reshape(tf.layers.dense(y, units), [batch, length, heads, units // heads]), [0, 2, 1, 3])

    for _ in range(4):
        scores = tf.matmul(by_head(x), by_head(x), transpose_b=True) / np.sqrt(units // heads).astype(np.float32)
        seen = tf.matmul(tf.nn.dropout(tf.nn.softmax(scores), rate=0.1), by_head(x))
        seen = tf.layers.dense(tf.reshape(tf.transpose(seen, [0, 2, 1, 3]), [batch, length, units]), units)
        x = tf.keras.layers.LayerNormalization()(x + seen)
        inner = tf.layers.dense(tf.layers.dense(x, 4 * units, tf.nn.relu), units)
        x = tf.keras.layers.LayerNormalization()(x + tf.nn.dropout(inner, rate=0.1))
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=wanted, logits=tf.tensordot(x, table, [[2], [1]]))
    return tf.reduce_mean(losses), lambda n: {given: random.integers(0, WORDS, (8, n)) for given in (words, wanted)}


def recurrent() -> tuple[Any, Feeds]:
    """An LSTM of 64 units in each direction over batches of 16 sentences, each of its own length."""
    random = np.random.default_rng(0)
    words, lengths, classes = (tf.placeholder(tf.int32, shape) for shape in ([None, None], [None], [None]))
    x = tf.nn.embedding_lookup(tf.get_variable("words", [WORDS, 64]), words)
    cells = tf.nn.rnn_cell.LSTMCell(64), tf.nn.rnn_cell.LSTMCell(64)
    outputs, _ = tf.nn.bidirectional_dynamic_rnn(*cells, x, lengths, dtype=tf.float32)
    logits = tf.layers.dense(tf.reduce_mean(tf.concat(outputs, -1), 1), 5)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=classes, logits=logits))

    def feeds(n: int) -> dict[Any, Any]:
        return {words: random.integers(0, WORDS, (16, n)), lengths: random.integers(1, n + 1, 16), classes: np.arange(16) % 5}

    return loss, feeds


def labels_of_lines() -> tuple[Any, Feeds]:
    """Convolutions, an LSTM in each direction and CTC over 16 pictures of lines, with another number of letters in each batch."""
    random = np.random.default_rng(0)
    pictures = random.standard_normal((16, 32, 100, 1)).astype(np.float32)
    x, labels = tf.placeholder(tf.float32, [None, 32, None, 1]), tf.sparse_placeholder(tf.int32, [None, None])
    lengths = tf.placeholder(tf.int32, [None])
    y = x
    for filters, strides in ((32, (2, 2)), (64, (2, 2)), (64, (2, 1))):
        y = tf.layers.batch_normalization(tf.layers.conv2d(y, filters, 3, padding="same", use_bias=False), training=True)
        y = tf.layers.max_pooling2d(tf.nn.relu(y), 2, strides)
    y = tf.reshape(tf.transpose(y, [0, 2, 1, 3]), [tf.shape(y)[0], -1, 4 * 64])
    cells = tf.nn.rnn_cell.LSTMCell(128), tf.nn.rnn_cell.LSTMCell(128)
    outputs, _ = tf.nn.bidirectional_dynamic_rnn(*cells, y, dtype=tf.float32)
    logits = tf.transpose(tf.layers.dense(tf.concat(outputs, -1), 37), [1, 0, 2])

    def feeds(n: int) -> dict[Any, Any]:
        places = np.array([(i % 16, i // 16) for i in range(n + 28)], np.int64)
        places = places[np.lexsort((places[:, 1], places[:, 0]))]
        letters = random.integers(0, 36, len(places)).astype(np.int32)
        return {x: pictures, labels: (places, letters, (16, places[:, 1].max() + 1)), lengths: np.full(16, 24)}

    return tf.reduce_mean(tf.nn.ctc_loss(labels, logits, lengths)), feeds


GRAPHS = {"transformer": transformer, "recurrent": recurrent, "labels_of_lines": labels_of_lines}


def rounds(session: tf.Session, fetches: Any, feeds: Feeds) -> tuple[float, float]:
    """Milliseconds of a step, medians: of lengths never met, and of the same again."""
    lengths = np.random.default_rng(3).permutation(np.arange(SHORTEST, SHORTEST + N_LENGTHS)).tolist()
    session.run(tf.global_variables_initializer())
    found = []
    for _ in range(2):
        times = []
        for n in lengths:
            fed = feeds(n)
            start = time.perf_counter()
            session.run(fetches, fed)
            times.append(1e3 * (time.perf_counter() - start))
        found.append(statistics.median(times))
    return found[0], found[1]


def measure(name: str) -> None:
    """Print the row of one graph."""
    tf.set_random_seed(1)
    loss, feeds = GRAPHS[name]()
    fetches = [loss, tf.train.AdamOptimizer(1e-3).minimize(loss)]
    with tf.Session() as theirs, device_session() as ours:
        plain, device = rounds(theirs, fetches, feeds), rounds(ours, fetches, feeds)
        record = device_of(ours)._state.record.programs[-1]
    times = [f"{a:.1f} | {b:.1f} | {b / a:.2f}" for a, b in zip(plain, device, strict=True)]
    print(f"| {name} | {' | '.join(times)} | {record.n_compilations} for {record.n_shapes} |", flush=True)


@click.command(help="Step times of three graphs whose batches have ever other shapes.")
@click.option("--one", type=click.Choice(list(GRAPHS)), help="Measure one in this process.")
def main(one: str | None) -> None:
    if one:
        return measure(one)
    print(heading(1, is_as_set=True), end="\n\n")
    print("| graph | new shapes: TensorFlow CPU, ms a step | device | ratio | met once: TensorFlow | device | ratio | programs |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    for name in GRAPHS:
        command = [sys.executable, "-m", "benchmarks.changing_shapes", "--one", name]
        print(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout, end="", flush=True)


if __name__ == "__main__":
    main()
