"""Graphs of any size for `benchmarks.growth`: what is fetched, what is fed and what initialises the variables."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from tests.runtime.device import device_session

Built = tuple[Any, dict[Any, Any] | None, Any]
SIDES: dict[str, Callable[[], tf.Session]] = {"device": device_session, "tensorflow": tf.Session}
ONES = np.ones(4, np.float32)


def _wide_sum(n: int) -> Built:
    x = tf.placeholder(tf.float32, [4])
    return tf.add_n([x * float(i) for i in range(n)]), {x: ONES}, None


def _sine_chain(n: int) -> Built:
    x = y = tf.Variable(tf.ones([2, 4]))
    for _ in range(n):
        y = tf.sin(y)
    return tf.gradients(y, x)[0], None, x.initializer


def _loop(n: int) -> Built:
    start = [tf.constant(0), tf.constant(0.0)]
    return tf.while_loop(lambda i, x: i < n, lambda i, x: (i + 1, x + 1.0), start), None, None


def _variables(n: int) -> Built:
    made = [tf.Variable(tf.ones([4])) for _ in range(n)]
    loss = tf.add_n([tf.reduce_sum(v * v) for v in made])
    return tf.train.AdamOptimizer(0.1).minimize(loss), None, tf.global_variables_initializer()


def _branches(n: int) -> Built:
    which, x = tf.placeholder(tf.bool, []), tf.placeholder(tf.float32, [4])
    made = [tf.cond(which, lambda i=i: x + float(i), lambda i=i: x - float(i)) for i in range(n)]
    return tf.add_n(made), {which: True, x: ONES}, None


def _feeds(n: int) -> Built:
    made = [tf.placeholder(tf.float32, [4]) for _ in range(n)]
    return tf.add_n(made), dict.fromkeys(made, ONES), None


def _fetches(n: int) -> Built:
    x = tf.placeholder(tf.float32, [4])
    return [tf.sin(x * float(i)) for i in range(n)], {x: ONES}, None


def _layers(n: int) -> Built:
    x = y = tf.placeholder(tf.float32, [4, 8])
    for _ in range(n):
        y = tf.nn.relu(tf.matmul(y, tf.Variable(tf.eye(8))) + tf.Variable(tf.zeros([8])))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(y))
    return train, {x: np.ones((4, 8), np.float32)}, tf.global_variables_initializer()


GRAPHS: dict[str, tuple[Callable[[int], Built], int]] = {
    "terms of add_n": (_wide_sum, 2_000),
    "sines with a gradient": (_sine_chain, 600),
    "turns of while_loop": (_loop, 50_000),
    "variables with Adam": (_variables, 200),
    "branches": (_branches, 200),
    "feeds": (_feeds, 2_000),
    "fetches": (_fetches, 1_000),
    "layers with a gradient": (_layers, 150),
}


def first_run_seconds(build: Callable[[int], Built], n: int, make: Callable[[], tf.Session]) -> float:
    """Processor time of the first run of what a graph is for, once its variables have their values."""
    with tf.Graph().as_default():
        fetches, feeds, initializer = build(n)
        with make() as session:
            if initializer is not None:
                session.run(initializer)
            gc.collect()
            gc.disable()
            start = time.process_time()
            session.run(fetches, feeds)
            seconds = time.process_time() - start
            gc.enable()
    return seconds
