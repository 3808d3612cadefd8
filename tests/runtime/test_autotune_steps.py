"""The first runs of a program, which find out what is faster: their results are those of every other run."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from npu_runtime.executor import autotune_steps
from npu_runtime.executor.autotune_steps import Setting, Times
from npu_runtime.kernels.threads.parallel import alone, n_sections, n_threads, parallel_ranges, set_n_threads
from npu_runtime.passes.schedule import plan_overlap
from tests.runtime.device import device_session

N_TRIALS = 2 + 4 * autotune_steps.REPEATS
HALF = 1 << 16


@pytest.fixture(autouse=True)
def fresh_graph() -> Iterator[None]:
    with tf.Graph().as_default():
        tf.set_random_seed(5)
        yield


@pytest.fixture
def two_threads() -> Iterator[None]:
    before = n_threads()
    set_n_threads(2)
    yield
    set_n_threads(before)


def _convolutions() -> tuple[Any, Any]:
    """A small network whose steps have work for two threads, and what trains it."""
    x = tf.random_uniform([32, 16, 16, 8], seed=3)
    net = tf.layers.max_pooling2d(tf.layers.conv2d(x, 16, 3, padding="same", activation=tf.nn.relu), 2, 2)
    net = tf.layers.dense(tf.layers.flatten(tf.nn.dropout(net, keep_prob=0.7)), 10)
    loss = tf.reduce_mean(tf.square(net - 0.3))
    return tf.train.AdamOptimizer(0.01).minimize(loss), loss


@pytest.mark.parametrize("n", [1, 2])
def test_every_trial_gives_what_tensorflow_does(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan_overlap, "LEAST_SECONDS", 0.0)
    before = n_threads()
    set_n_threads(n)
    train, loss = _convolutions()
    curves = []
    for make in (tf.Session, device_session):
        with make() as session:
            session.run(tf.global_variables_initializer())
            curves.append([session.run([loss, train])[0] for _ in range(N_TRIALS + 3)])
    set_n_threads(before)
    np.testing.assert_allclose(curves[1], curves[0], rtol=1e-4)


def test_a_run_that_fails_is_no_trial(two_threads: None) -> None:
    table, rows = tf.constant(np.random.default_rng(1).random((600, 600), np.float32)), tf.placeholder(tf.int32, [2])
    total = tf.reduce_sum(tf.gather(tf.matmul(table, table), rows))
    with tf.Session() as plain, device_session() as session:
        for index in range(2 * N_TRIALS):
            if index % 2:
                with pytest.raises(tf.errors.InvalidArgumentError, match=r"= 700 is not in \[0, 600\)"):
                    session.run(total, {rows: [700, 1]})
            else:
                np.testing.assert_allclose(session.run(total, {rows: [3, 4]}), plain.run(total, {rows: [3, 4]}), rtol=1e-4)


def test_threads_that_run_one_program_do_not_wait_for_its_trials(two_threads: None) -> None:
    x = tf.placeholder(tf.float32, [64, 16, 16, 8])
    made = tf.nn.conv2d(x, tf.ones([3, 3, 8, 16]) / 72, 1, "SAME")
    found: list[np.ndarray] = []
    with device_session() as session:

        def work(value: float) -> None:
            for _ in range(N_TRIALS):
                found.append(session.run(made, {x: np.full((64, 16, 16, 8), value, "f")})[:, 1:-1, 1:-1] / value)

        threads = [threading.Thread(target=work, args=(value,)) for value in (1.0, 2.0, 4.0)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(found) == 3 * N_TRIALS
    np.testing.assert_allclose(np.stack(found), 1.0, rtol=1e-5)


class _Clock:
    """A program whose step i takes shared[i] or alone[i] seconds, and all of it `gain` less if some steps run beside others."""

    def __init__(self, shared: list[float], alone: list[float], gain: float) -> None:
        self.shared, self.alone, self.gain = shared, alone, gain

    def run(self, setting: Setting) -> Times:
        steps = [a if i in setting.alone else s for i, (s, a) in enumerate(zip(self.shared, self.alone, strict=True))]
        beside = self.gain if setting.is_beside else 0.0
        return Times(steps, sum(steps) - beside, frozenset(i for i in range(3) if i not in setting.alone))

    def found(self, overlaps: bool) -> Setting:
        search = autotune_steps._search(overlaps)
        setting = next(search)
        while True:
            try:
                setting = search.send(self.run(setting))
            except StopIteration as end:
                return end.value


def test_a_program_of_long_runs_is_left_as_it_is(two_threads: None) -> None:
    assert _Clock([0.001, 0.001, 0.1, 0.001], [0.0005] * 4, -0.001).found(True) == Setting()


@pytest.mark.parametrize("gain", [0.001, -0.001])
def test_what_is_faster_is_chosen(gain: float, two_threads: None) -> None:
    """The first step gains from two threads, the second loses, the third is too long to be tried, the fourth has one piece."""
    found = _Clock([0.001, 0.001, 0.01, 0.001], [0.002, 0.0008, 0.001, 0.0005], gain).found(True)
    assert found == Setting(frozenset({1}), gain > 0)


def test_a_function_alone_has_its_ranges_on_its_own_thread(two_threads: None) -> None:
    """All pieces of them, and those of the next function are shared again."""
    seen: set[int] = set()

    def body(start: int, stop: int) -> None:
        seen.add(threading.get_ident())
        np.add(np.ones(HALF), 1)

    before = n_sections()
    alone(lambda _: parallel_ranges(64, body))(None)
    assert seen == {threading.get_ident()}
    assert n_sections() == before
    parallel_ranges(64, body)
    assert n_sections() == before + 1
