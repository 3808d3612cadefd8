"""What is looked at in a program with branches: only steps that may see something dead."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from npu_runtime.executor.program import Task
from tests.runtime.device import device_of, device_session


@pytest.fixture(autouse=True)
def fresh_graph() -> None:
    tf.reset_default_graph()


def looked_at(session: tf.Session) -> dict[str, bool]:
    """Tasks of the session's programs: whether each may see something dead."""
    programs = [runner.program for plan in device_of(session)._plans.values() for runner in plan.runners.values()]
    return {step.node: step.may_see_dead for program in programs for step in program.steps if isinstance(step, Task)}


@pytest.mark.parametrize("taken", [True, False])
def test_steps_outside_of_a_branch_are_not_looked_at(taken: bool) -> None:
    p, x = tf.placeholder(tf.bool, []), tf.placeholder(tf.float32, [3, 3])
    before = tf.matmul(x, x, name="before")
    chosen = tf.cond(p, lambda: tf.matmul(before, x, name="inside"), lambda: before - 1.0)
    after = tf.matmul(chosen, x, name="after")
    feeds = {p: taken, x: np.arange(9, dtype=np.float32).reshape(3, 3)}
    with tf.Session() as plain, device_session() as device:
        np.testing.assert_allclose(device.run(after, feeds), plain.run(after, feeds), rtol=1e-6)
        found = looked_at(device)
    assert not found["before"] and not found["after"]
    assert found["cond/inside"]


def test_a_merge_of_sides_of_two_predicates_may_be_dead() -> None:
    """Where neither side runs nothing behind runs: TensorFlow says that the result does not have a value."""
    p, q, x = tf.placeholder(tf.bool, []), tf.placeholder(tf.bool, []), tf.placeholder(tf.float32, [3])
    sides = [tf.raw_ops.Switch(data=x + number, pred=choice).output_true for number, choice in ((1.0, p), (2.0, q))]
    y = tf.exp(tf.raw_ops.Merge(inputs=sides).output, name="behind")
    with tf.Session() as plain, device_session() as device:
        for a, b in itertools.product((True, False), repeat=2):
            if a and b:
                continue  # which of them comes first is nobody's promise
            feeds = {p: a, q: b, x: np.arange(3, dtype=np.float32)}
            if a or b:
                np.testing.assert_allclose(device.run(y, feeds), plain.run(y, feeds), rtol=1e-6)
                continue
            for session in (plain, device):
                with pytest.raises(tf.errors.InvalidArgumentError, match="does not have value"):
                    session.run(y, feeds)
        assert looked_at(device)["behind"]
