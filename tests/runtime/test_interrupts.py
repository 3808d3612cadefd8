"""Ctrl-C in the middle of a step: every variable is whole, the step happened or did not, and the session goes on."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from npu_runtime.executor import autotune_steps
from npu_runtime.interrupts import Interrupts
from tests.runtime.device import device_of, device_session

N_TRIALS = 2 + 4 * autotune_steps.REPEATS
X = np.random.default_rng(0).normal(size=(16, 4)).astype(np.float32)


@pytest.fixture(autouse=True)
def fresh_graph():
    with tf.Graph().as_default():
        yield


@pytest.fixture(autouse=True)
def handler_of_python():
    """A process that a shell has put into the background ignores SIGINT from its start, and so do those that it starts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@contextmanager
def ctrl_c_at(line: int) -> Iterator[list[int]]:
    """SIGINT at the given line of the runtime that is run inside, counted from 0; gives the number of lines seen."""
    seen = [0]

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        if "npu_runtime" not in frame.f_code.co_filename:
            return None
        if event == "line":
            seen[0] += 1
            if seen[0] == line + 1:
                signal.raise_signal(signal.SIGINT)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield seen
    finally:
        sys.settrace(before)


def model(use_resource: bool) -> tuple[Any, Any]:
    w = tf.get_variable("w", [4, 3], initializer=tf.constant_initializer(X[:3].T), use_resource=use_resource)
    b = tf.get_variable("b", [3], initializer=tf.zeros_initializer(), use_resource=use_resource)
    x = tf.placeholder(tf.float32, [None, 4])
    optimizer = tf.train.AdamOptimizer(0.1)
    step = tf.train.get_or_create_global_step()
    return x, optimizer.minimize(tf.reduce_mean(tf.square(tf.nn.relu(x @ w + b) - 1.0)), step)


def states(session: Any) -> list[np.ndarray]:
    return session.run(tf.global_variables())


def same(one: list[np.ndarray], other: list[np.ndarray]) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


@pytest.mark.whole(beyond=2)
@pytest.mark.parametrize("is_settled", [False, True], ids=["in trials", "settled"])
@pytest.mark.parametrize("use_resource", [False, True], ids=["ref", "resource"])
def test_an_interrupted_step_happened_or_did_not(use_resource: bool, is_settled: bool) -> None:
    """One of the first runs may have fewer lines than the one that was counted; in all others Ctrl-C comes."""
    x, train = model(use_resource)
    initialize = tf.global_variables_initializer()
    with device_session() as session:
        session.run(initialize)
        before = states(session)
        session.run(train, {x: X})
        after = states(session)
        for _ in range(N_TRIALS if is_settled else 0):
            session.run(train, {x: X})
        with ctrl_c_at(10**9) as n_lines:
            session.run(train, {x: X})
        kinds = set()
        for line in range(0, n_lines[0], 7):
            session.run(initialize)
            with pytest.raises(KeyboardInterrupt) if is_settled else suppress(KeyboardInterrupt), ctrl_c_at(line):
                session.run(train, {x: X})
            now = states(session)
            assert same(now, before) or same(now, after), line
            kinds.add(same(now, after))
            if not same(now, after):
                session.run(train, {x: X})
                assert same(states(session), after), line
    assert kinds == {False, True}


def test_an_interrupted_compilation_leaves_the_session_usable() -> None:
    for line in range(0, 6000, 450):
        with tf.Graph().as_default(), device_session() as session:
            x, train = model(use_resource=True)

            @tf.function
            def doubled(a: Any) -> Any:
                return a * 2.0

            y = doubled(x)
            with pytest.raises(KeyboardInterrupt), ctrl_c_at(line):
                session.run([tf.global_variables_initializer(), y], {x: X})
            session.run(tf.global_variables_initializer())
            session.run(train, {x: X})
            np.testing.assert_array_equal(session.run(y, {x: X}), X * 2.0)


def test_an_endless_loop_can_be_left() -> None:
    v = tf.Variable(1.0)
    loop = tf.while_loop(lambda i: i >= 0, lambda i: (i + 1) % 1000, [tf.constant(0)])
    with device_session() as session:
        session.run(v.initializer)
        with pytest.raises(KeyboardInterrupt), ctrl_c_at(20_000):
            session.run(loop)
        assert session.run(v) == 1.0


def test_handlers_of_the_script_are_called_and_stay() -> None:
    v = tf.Variable(1.0)
    up = tf.assign_add(v, 1.0)
    seen: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        seen.append(number)
        signal.signal(number, signal.SIG_IGN)

    before = signal.signal(signal.SIGTERM, note)
    try:
        with device_session() as session:
            session.run(v.initializer)
            with Interrupts():
                signal.raise_signal(signal.SIGTERM)
                assert session.run(up) == 2.0
                assert not seen
            assert seen == [signal.SIGTERM]
            assert signal.getsignal(signal.SIGTERM) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGTERM, before)


def test_other_threads_run_without_handlers() -> None:
    v = tf.Variable(1.0)
    got: list[Any] = []
    with device_session() as session:
        session.run(v.initializer)
        thread = threading.Thread(target=lambda: got.append(session.run(tf.assign_add(v, 1.0))))
        thread.start()
        thread.join()
    assert got == [2.0]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert device_of(session)
