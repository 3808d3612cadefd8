"""Feeds of ever new shapes: their programs do not fill the memory, and every one gives TensorFlow's values."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from npu_runtime.executor import programs
from npu_runtime.session import run_log
from tests.runtime.device import device_of, device_session


@pytest.mark.parametrize("kept", [1, 3])
def test_only_the_programs_that_were_used_last_are_kept(kept: int, monkeypatch: pytest.MonkeyPatch) -> None:
    with tf.Graph().as_default(), tf.Session() as plain, device_session() as session:
        x = tf.placeholder(tf.float32, [None, 3])
        made = tf.reduce_sum(tf.nn.softmax(x * 2.0) * x, axis=1)
        session.run(made, {x: np.ones((1, 3), "f")})
        (plan,) = device_of(session)._plans.values()
        (first,) = plan.runners.values()
        monkeypatch.setattr(programs, "MOST_STEPS", kept * len(first.program.steps))
        for n in (2, 3, 4, 2, 3, 4, 5, 1, 2):
            value = np.random.default_rng(n).normal(size=(n, 3)).astype("f")
            np.testing.assert_allclose(session.run(made, {x: value}), plain.run(made, {x: value}), rtol=1e-6)
            assert len(plan.runners.values()) <= kept
        session.run(made, {x: np.ones((2, 3), "f")})  # there still
        assert plan.record.n_compilations == {1: 10, 3: 7}[kept]
        assert plan.record.n_dropped == plan.record.n_compilations - kept
        assert f"{plan.record.n_dropped} programs dropped" in run_log().digest()[0] or len(run_log().sessions) > 1


def test_a_program_that_is_used_again_and_again_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    with tf.Graph().as_default(), device_session() as session:
        x = tf.placeholder(tf.float32, [None])
        made = tf.exp(x) * 2.0
        session.run(made, {x: np.zeros(1, "f")})
        (plan,) = device_of(session)._plans.values()
        (first,) = plan.runners.values()
        monkeypatch.setattr(programs, "MOST_STEPS", 2 * len(first.program.steps))
        for n in range(2, 9):
            session.run(made, {x: np.zeros(n, "f")})
            session.run(made, {x: np.zeros(1, "f")})
        assert plan.record.n_compilations == 8
        assert first in plan.runners.values()
