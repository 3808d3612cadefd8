"""Programs of nested control flow, drawn from seeds, on the device as on TensorFlow: values, types, variables, calls of Python.

TF2NPU_CONTROL_FLOW_PROGRAMS=3000 (make acceptance) draws so many instead of 15. One alone: -k program17.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tests.how_many import drawn
from tests.runtime.control_flow_programs import Program, draw
from tests.runtime.device import compile_in_another_way, device_session

N_PROGRAMS = int(os.environ.get("TF2NPU_CONTROL_FLOW_PROGRAMS", str(drawn(60))))


@dataclass
class Outcome:
    """values: what a run gave, or the class of its error.  calls: of each Python function.  totals: the variables behind it."""

    values: Any
    calls: dict[int, int]
    totals: list[Any]


def outcome(session: tf.Session, made: Program, fetches: Any, feeds: Any) -> Outcome:
    made.calls.update({number: -count for number, count in made.calls.items()})
    try:
        values = session.run(fetches, feeds)
    except (tf.errors.OpError, ValueError) as error:
        values = type(error)
    return Outcome(values, dict(made.calls), session.run(made.totals))


def outcomes(session: tf.Session, made: Program) -> list[Outcome]:
    """Of each feed; then with a value in the middle fed."""
    session.run(tf.global_variables_initializer())
    found = [outcome(session, made, made.fetches, feeds) for feeds in made.feeds]
    fed = [{**feeds, made.middle[-1]: 0.25} for feeds in made.feeds[:2]]
    return found + [outcome(session, made, made.fetches[0], feeds) for feeds in fed]


def can_run(session: tf.Session) -> bool:
    """False for a graph that TensorFlow 2.15 has made itself and refuses: of a functional loop that waits for others."""
    try:
        session.run(tf.no_op())
    except tf.errors.InvalidArgumentError as error:
        assert "Control dependencies must come after regular dependencies" in str(error)
        return False
    return True


def plain_session() -> tf.Session:
    """TensorFlow's executor, without the optimizer of graphs, which may leave calls out."""
    config = tf.ConfigProto()
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    return tf.Session(config=config)


@pytest.mark.parametrize("seed", range(N_PROGRAMS), ids=lambda seed: f"program{seed}")
def test_a_program_does_what_it_does_on_tensorflow(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    compile_in_another_way(seed, monkeypatch)
    (tf.enable_control_flow_v2 if seed % 2 else tf.disable_control_flow_v2)()
    try:
        with tf.Graph().as_default():
            tf.set_random_seed(seed)
            made = draw(seed)
            with plain_session() as session:
                if not can_run(session):
                    return
                theirs = outcomes(session, made)
            with device_session() as session:
                ours = outcomes(session, made)
    finally:
        tf.disable_control_flow_v2()
    for number, (expected, found) in enumerate(zip(theirs, ours, strict=True)):
        assert_same(expected, found, f"run {number}")


def assert_same(expected: Outcome, found: Outcome, where: str) -> None:
    if isinstance(expected.values, type):
        assert found.values is expected.values, f"{where}: TensorFlow raises {expected.values}, the device gave {found.values}"
        return  # what has run before an error is nobody's promise
    assert not isinstance(found.values, type), f"{where}: {found.values}"
    for ours, theirs in zip(as_list(found.values), as_list(expected.values), strict=True):
        assert (ours is None) == (theirs is None), where
        if theirs is not None:
            assert np.asarray(ours).dtype == np.asarray(theirs).dtype
            np.testing.assert_allclose(ours, theirs, rtol=2e-5, atol=1e-6, err_msg=where)
    assert found.calls == expected.calls, f"{where}: calls of Python functions"
    assert found.totals == expected.totals, f"{where}: variables"


def as_list(values: Any) -> list[Any]:
    return values if isinstance(values, list) else [values]
