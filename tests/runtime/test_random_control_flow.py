"""Random programs of nested conditionals, loops and calls, of both kinds of control flow: TensorFlow's values and gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from hypothesis import Phase, given, reject, settings
from hypothesis import strategies as st

from tests.how_many import drawn
from tests.runtime.device import device_of, device_session, leave_extents_open

Value = Any
Program = Callable[[Value, Value, Value], Value]
"""(x, n, v) -> a vector of the shape of x.  n: an integer scalar.  v: a variable."""

LEAVES: list[Program] = [
    lambda x, n, v: tf.sin(x) + v,
    lambda x, n, v: x * v - 0.5,
    lambda x, n, v: tf.concat([x[1:], x[:1]], 0) * 0.7,
    lambda x, n, v: x / (1.0 + tf.square(x)) + tf.cast(n, tf.float32) * 0.1,
    lambda x, n, v: tf.constant([0.3, -0.2, 0.9]),
]


def chain(first: Program, second: Program) -> Program:
    return lambda x, n, v: second(first(x, n, v), n, v)


def branch(then: Program, other: Program, limit: int) -> Program:
    return lambda x, n, v: tf.cond(n > limit, lambda: then(x, n, v), lambda: other(x, n, v))


def by_value(then: Program, other: Program) -> Program:
    return lambda x, n, v: tf.cond(tf.reduce_sum(x) > 0.4, lambda: then(x, n, v), lambda: other(x, n, v))


def case(programs: list[Program]) -> Program:
    """In a loop of TensorFlow 1 its gradient fails on TensorFlow, too; so there are conditionals in its place."""

    def program(x: Value, n: Value, v: Value) -> Value:
        if tf.control_flow_v2_enabled():
            return tf.switch_case(n, [lambda p=p: p(x, n, v) for p in programs])
        return branch(programs[0], programs[-1], 1)(x, n, v)

    return program


def loop(body: Program, times: int) -> Program:
    def program(x: Value, n: Value, v: Value) -> Value:
        state = [tf.constant(0), x]
        return tf.while_loop(lambda i, a: i < n + times, lambda i, a: (i + 1, 0.5 * body(a, i, v)), state)[1]

    return program


def call(body: Program) -> Program:
    """Of a function that reads its input: TensorFlow 2.15 runs one that returns a constant in the branch not taken, too
    ("Merge op has more than one valid input"), and takes whichever value comes first.
    """
    return lambda x, n, v: tf.function(lambda x, n: body(x, n, v) + 0.0 * x)(x, n)


def scan(body: Program) -> Program:
    def program(x: Value, n: Value, v: Value) -> Value:
        return tf.reduce_sum(tf.scan(lambda a, row: body(a, n, v) * 0.3 + row, tf.stack([x, x * 0.5])), 0)

    return program


def wider(inner: st.SearchStrategy[Program]) -> st.SearchStrategy[Program]:
    return st.one_of(
        st.builds(chain, inner, inner),
        st.builds(branch, inner, inner, st.integers(-1, 2)),
        st.builds(by_value, inner, inner),
        st.builds(case, st.lists(inner, min_size=1, max_size=3)),
        st.builds(loop, inner, st.integers(-1, 2)),
        st.builds(call, inner),
        st.builds(scan, inner),
    )


def _on_tensorflow(session: tf.Session, fetches: list[Value], feed: Any) -> list[Any]:
    """TensorFlow's values; a program that TensorFlow 2.15 itself makes a broken graph of is none to compare with."""
    try:
        return session.run(fetches, feed)
    except tf.errors.InternalError as error:  # the gradient of a conditional with a call in it, in a loop of TensorFlow 1
        assert "Invalid loop structure" in str(error)
        reject()


PROGRAMS = st.recursive(st.sampled_from(LEAVES), wider, max_leaves=5)


@given(PROGRAMS, st.booleans(), st.booleans(), st.booleans())
@settings(max_examples=drawn(20), deadline=None, phases=[Phase.explicit, Phase.generate])
def test_same_as_tensorflow(program: Program, is_functional: bool, use_resource: bool, is_open: bool) -> None:
    """is_open: as compiled for feeds of any extent."""
    (tf.enable_control_flow_v2 if is_functional else tf.disable_control_flow_v2)()
    try:
        with tf.Graph().as_default():
            x, n = tf.placeholder(tf.float32, [3]), tf.placeholder(tf.int32, [])
            v = tf.get_variable("v", initializer=0.8, use_resource=use_resource or is_functional)
            y = program(x, n, v)
            fetches = [y, *(g for g in tf.gradients(y, [x, v]) if g is not None)]
            feeds = [{x: [0.1, -0.4, 0.7], n: number} for number in (0, 1, 2, 5)]
            with tf.Session() as session:
                session.run(v.initializer)
                theirs = [_on_tensorflow(session, fetches, feed) for feed in feeds]
            with device_session() as session, pytest.MonkeyPatch.context() as patch:
                if is_open:
                    leave_extents_open(patch)
                session.run(v.initializer)
                mine = [session.run(fetches, feed) for feed in feeds]
                assert device_of(session)._state.record.programs[-1].host_nodes == {}
    finally:
        tf.disable_control_flow_v2()
    for expected, found in zip(theirs, mine, strict=True):
        for a, b in zip(expected, found, strict=True):
            np.testing.assert_allclose(b, a, rtol=2e-5, atol=1e-6)
