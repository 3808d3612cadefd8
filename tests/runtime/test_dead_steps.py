"""Steps that are looked at in a program with branches: only those that may see something dead."""

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
    """Nothing behind the Merge runs if neither side does: TensorFlow says that the result does not have a value."""
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


def only_under(waited: tf.Tensor, make):
    """A node that `make` makes, which has no input and only waits."""
    with tf.control_dependencies([waited]):
        return make()


def waiting_branches(x: tf.Tensor) -> dict[str, tf.Tensor]:
    """Conditionals whose second branch is a value without an input that waits for another conditional of the branch."""
    q, taken = x < 10, x < 5
    chosen = lambda: tf.cond(q, lambda: tf.constant(0), lambda: tf.constant(1))  # noqa: E731
    checked = lambda: tf.debugging.assert_positive(x)  # noqa: E731
    return {
        "conditional": tf.cond(taken, lambda: tf.constant(1.0), lambda: only_under(chosen(), lambda: tf.constant(2.0))),
        "assertion": tf.cond(taken, lambda: tf.constant(1.0), lambda: only_under(checked(), lambda: tf.constant(7.0))),
        "case": tf.case([(taken, lambda: tf.constant(1)), (q, lambda: tf.constant(2))]),
        "three cases": tf.case([(taken, lambda: tf.constant(1)), (q, lambda: tf.constant(2)), (x > 20, lambda: tf.constant(3))]),
        "fill": tf.cond(taken, lambda: tf.ones([2]), lambda: only_under(chosen(), lambda: tf.fill([2], 3.0))),
    }


@pytest.mark.parametrize("kind", ["conditional", "assertion", "case", "three cases", "fill"])
def test_a_branch_that_is_not_taken_stays_dead_through_what_its_conditionals_make_wait(kind: str) -> None:
    x = tf.placeholder(tf.float32, [])
    y = waiting_branches(x)[kind]
    with tf.Session() as plain, device_session() as device:
        for value in (3.0, 7.0):
            np.testing.assert_array_equal(device.run(y, {x: value}), plain.run(y, {x: value}))


def test_a_python_function_of_a_branch_that_is_not_taken_is_not_called() -> None:
    x, calls = tf.placeholder(tf.float32, []), []

    def called() -> tf.Tensor:
        inner = tf.cond(x < 10, lambda: tf.constant(0), lambda: tf.constant(1))
        return only_under(inner, lambda: tf.py_func(lambda: (calls.append(1), np.float32(2))[1], [], tf.float32))

    y = tf.cond(x < 5, lambda: tf.constant(1.0), called)
    with device_session() as device:
        assert (device.run(y, {x: 3.0}), len(calls)) == (1.0, 0)
        assert (device.run(y, {x: 7.0}), len(calls)) == (2.0, 1)


def test_a_merge_with_both_sides_dead_is_dead_for_what_waits_for_it_and_not_for_what_it_waits_for() -> None:
    """Source: TensorFlow's executor counts the dead among a Merge's data inputs only, and hands its death on to control edges."""
    p, q = tf.placeholder(tf.bool, []), tf.placeholder(tf.bool, [])
    one = tf.constant(1.0)
    side = tf.raw_ops.Switch(data=one, pred=p).output_true
    with tf.control_dependencies([tf.raw_ops.Switch(data=one, pred=q).output_true]):
        merged = tf.raw_ops.Merge(inputs=[side, tf.raw_ops.Switch(data=one + 1.0, pred=p).output_false]).output
    undecided = tf.raw_ops.Merge(inputs=[side, tf.raw_ops.Switch(data=one, pred=q).output_true]).output
    behind = tf.raw_ops.Merge(
        inputs=[only_under(undecided, lambda: tf.constant(5.0)), tf.raw_ops.Switch(data=one, pred=p).output_false]
    )
    with tf.Session() as plain, device_session() as device:
        for feeds in ({p: True, q: False}, {p: False, q: False}):
            assert device.run([merged, behind.output], feeds) == plain.run([merged, behind.output], feeds)
