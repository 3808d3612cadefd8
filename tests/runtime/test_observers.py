"""Observers of sessions: each is told of every moment that it has a method for, in order, and of no other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from npu_formats.device.chip import load_chip
from npu_runtime.config import load_config
from npu_runtime.importers.tensorflow.graphdef import GraphImporter
from npu_runtime.importers.tensorflow.host import HostSide
from npu_runtime.lowering.lower import untuned
from npu_runtime.observers.base import OF_ALL_SESSIONS, Observers, SessionObserver
from npu_runtime.session import Request
from npu_runtime.session.device_session import session_observers
from npu_runtime.session.observed_session import ObservedSession
from npu_runtime.session.session_state import SessionState
from tests.runtime.device import device_of, device_session

tf.disable_v2_behavior()


class Follower(SessionObserver):
    """Writes down the moments that it is told of, with its name."""

    def __init__(self, name: str, said: list[str]) -> None:
        self._name, self._said = name, said

    def _say(self, moment: str) -> None:
        self._said.append(f"{self._name} {moment}")

    @contextmanager
    def _around(self, moment: str) -> Iterator[None]:
        self._say(f"{moment} [")
        try:
            yield
        finally:
            self._say(f"] {moment}")

    def around_step(self) -> Any:
        return self._around("step")

    def planned(self, record: Any) -> None:
        self._say(f"planned {record.fetches[0]}")

    def compiling(self, loading: Any) -> None:
        self._say(f"compiling {','.join(loading.inputs)}")

    def compiled(self, loading: Any, program: Any) -> None:
        self._say(f"compiled {len(program.steps)}")

    def loaded(self, loading: Any, loaded: Any) -> None:
        assert loaded.record is loading.record
        self._say(f"loaded {loaded.request.fetches[0]}")

    def before(self, step: Any) -> None:
        self._say(f"before {step.shapes}")

    def around_run(self, loaded: Any) -> Any:
        return self._around(f"run {loaded.request.fetches[0]}")

    def after(self, step: Any) -> None:
        self._say(f"after {step.graph.fetches[0]}")

    def close(self) -> None:
        self._say("close")


OF_A_STEP = ["step [", "before ((2,),)", "run double:0 [", "] run double:0", "after double:0", "] step"]
OF_COMPILING = ["planned double:0", "compiling x:0", "compiled 1", "loaded double:0"]


def _run(observers: Sequence[SessionObserver], steps: int = 1) -> None:
    with tf.Graph().as_default() as graph:
        tf.add(tf.placeholder(tf.float32, [2], "x"), 1.0, name="double")
        importer, state = (
            GraphImporter(graph),
            SessionState.opened(load_config({}), lambda config, chip: (observers, ("a line",))),
        )
        session = ObservedSession(importer, HostSide(graph, importer.definition, None), state)
        for _ in range(steps):
            (result,) = session.run(Request(("double:0",), (), ("x:0",)), [np.float32([1, 2])])
            np.testing.assert_array_equal(result, [2, 3])
        session.close()


def test_an_observer_is_told_of_every_moment_in_order() -> None:
    said: list[str] = []
    _run([Follower("a", said)], steps=2)
    first = [OF_A_STEP[0], *OF_COMPILING, *OF_A_STEP[1:]]
    assert [line.removeprefix("a ") for line in said] == [*first, *OF_A_STEP, "close"]


def test_the_first_observer_is_told_first_and_lies_outermost() -> None:
    said: list[str] = []
    _run([Follower("a", said), Follower("b", said)])
    assert said[:2] == ["a step [", "b step ["] and said[-4:] == ["b ] step", "a ] step", "a close", "b close"]


def test_what_an_observer_raises_ends_the_step_and_the_contexts_around_it() -> None:
    class Stopping(SessionObserver):
        def after(self, step: Any) -> None:
            raise SystemExit(3)

    said: list[str] = []
    with pytest.raises(SystemExit):
        _run([Follower("a", said), Stopping()])
    assert said[-1] == "a ] step"


def test_moments_at_which_nobody_looks_have_no_method() -> None:
    observers = Observers([SessionObserver()])
    assert observers.before == () and observers.after == () and observers.choose is untuned and observers.computes
    assert observers.host_call(len, ["MatMul"]) is len
    assert observers.around_run(None) is observers.around_step()


def test_an_observer_of_all_sessions_is_told_of_sessions_that_are_open_already(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    with tf.Graph().as_default(), device_session() as session:
        doubled = tf.constant([1.0]) * 2
        session.run(doubled)
        OF_ALL_SESSIONS.append(Follower("all", said))
        try:
            session.run(doubled)
        finally:
            OF_ALL_SESSIONS.clear()
        session.run(doubled)
    assert len(said) == 1 and said[0].startswith("all after ")


def test_a_session_without_options_has_no_observers() -> None:
    assert session_observers(load_config({}), load_chip("Ascend910A")) == ((), ())
    with tf.Graph().as_default(), device_session() as session:
        assert device_of(session)._state.observers.after == ()
