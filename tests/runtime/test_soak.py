"""Threads, long runs, a killed process: no tensor is torn, memory stays, the last checkpoint is whole."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from benchmarks.soak import Soak
from tests.runtime.device import device_session


@pytest.fixture(autouse=True)
def fresh_graph():
    with tf.Graph().as_default():
        yield


def test_threads_on_two_sessions_tear_no_tensor_and_lose_no_step() -> None:
    soak = Soak(n_steps=400)
    soak.run()
    assert soak.faults == []


def test_three_hundred_steps_leave_nothing_behind() -> None:
    x = tf.placeholder(tf.float32, [None, 6])
    w = tf.get_variable("w", [6, 5], initializer=tf.ones_initializer())
    _, y = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, tf.tanh(a @ w @ tf.transpose(w))), [0, x])
    loss = tf.reduce_mean(tf.square(y)) + tf.reduce_mean(tf.random_uniform([4]))
    train = tf.train.AdamOptimizer(1e-3).minimize(loss)
    sizes = []
    with device_session() as session:
        session.run(tf.global_variables_initializer())
        for n in range(600):  # until Python's free lists and the caches of shapes are full
            session.run([train, loss], {x: np.ones((n % 3 + 1, 6))})
        tracemalloc.start()
        try:
            for n in range(301):
                session.run([train, loss], {x: np.ones((n % 3 + 1, 6))})
                if n % 100 == 0:
                    sizes.append(tracemalloc.get_traced_memory()[0])
        finally:
            tracemalloc.stop()
    assert sizes[-1] - sizes[1] < 20_000, sizes


TRAINING = """
import sys
import tensorflow.compat.v1 as tf
from tests.runtime.device import device_session
from tests.runtime.test_soak import counting

train, saver = counting()
with device_session() as session:
    session.run(tf.global_variables_initializer())
    while True:
        session.run(train)
        saver.save(session, sys.argv[1] + "/model", global_step=tf.train.get_global_step())
        print("saved", flush=True)
"""


def counting() -> tuple[Any, Any]:
    """A step after which every element of the matrices is the number of steps so far."""
    step = tf.train.get_or_create_global_step()
    matrices = [tf.get_variable(f"m{i}", [300, 300], initializer=tf.zeros_initializer(), use_resource=i > 0) for i in range(2)]
    updates = [tf.assign_add(matrix, tf.ones([300, 300])) for matrix in matrices]
    return tf.group(*updates, tf.assign_add(step, 1)), tf.train.Saver(max_to_keep=3)


def test_the_last_checkpoint_of_a_killed_process_restores(tmp_path: Path) -> None:
    command = [sys.executable, "-c", TRAINING, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        said = [process.stdout.readline() for _ in range(5)]
        process.kill()
    assert said == ["saved\n"] * 5
    path = tf.train.latest_checkpoint(str(tmp_path))
    train, saver = counting()
    for make in (tf.Session, device_session):
        with make() as session:
            saver.restore(session, path)
            values = session.run(tf.global_variables())
            assert values[0] >= 5
            assert all(np.all(value == values[0]) for value in values)
            session.run(train)
            assert all(np.all(value == values[0] + 1) for value in session.run(tf.global_variables()))
