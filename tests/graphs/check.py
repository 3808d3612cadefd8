"""Runs a graph on TensorFlow and on the device, and says how far apart they are and what ran where."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from npu_runtime.importers.tensorflow.host import HOST_CALL_OBSERVERS
from npu_runtime.trace.run_log import ProgramRecord
from tests.graphs.training import Training
from tests.runtime.device import device_of, device_session


@dataclass
class Step:
    """before and after: variables by name.  loss: of the step."""

    before: dict[str, np.ndarray]
    loss: float
    after: dict[str, np.ndarray]


@dataclass
class Outcome:
    """theirs, mine: each step from TensorFlow's variables.  initial: what init gave on the device.  record: of all programs
    together, but for the saver's.  seconds: the median of a step, TensorFlow and device.  executed: nodes that TensorFlow
    ran beside the device, as its own trace tells.
    """

    training: Training
    theirs: list[Step]
    mine: list[Step]
    initial: dict[str, np.ndarray]
    record: ProgramRecord
    seconds: tuple[float, float]
    op_types: dict[str, str] = field(default_factory=dict)
    executed: set[str] = field(default_factory=set)


def all_variables(training: Training) -> list[Any]:
    found = [*tf.global_variables(), *tf.local_variables(), *training.more_variables]
    return list({v.name: v for v in found}.values())


def read(session: tf.Session, variables: list[Any]) -> dict[str, np.ndarray]:
    return dict(zip([v.name for v in variables], session.run(variables), strict=True))


def load(session: tf.Session, variables: list[Any], values: dict[str, np.ndarray]) -> None:
    """Set every variable through its initializer; no op is added to the graph."""
    feeds = {v.initializer.inputs[1]: values[v.name] for v in variables}
    assert len(feeds) == len(variables)
    session.run([v.initializer for v in variables], feeds)


def initialize(session: tf.Session, variables: list[Any]) -> None:
    session.run([v.initializer for v in variables])


def step_of(training: Training, session: tf.Session, variables: list[Any], number: int) -> tuple[Step, float]:
    """One step and its seconds."""
    before = read(session, variables)
    feeds = training.feeds(number)
    start = time.perf_counter()
    loss = training.step(session, feeds)
    seconds = time.perf_counter() - start
    return Step(before, float(loss), read(session, variables)), seconds


def compare(build: Callable[[], Training], n_steps: int, folder: Path) -> Outcome:
    """Build the graph and run n_steps on both sides, the device restarted from TensorFlow's variables in every step.

    folder: gets the device's checkpoint "model" where the graph has a saver.
    """
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(1)
        training = build()
        variables = all_variables(training)
        with tf.Session() as session:
            initialize(session, variables)
            theirs, their_seconds = steps_of(training, session, variables, n_steps, None)
        with device_session() as session, watch_host() as executed:
            initialize(session, variables)
            initial = read(session, variables)
            mine, my_seconds = steps_of(training, session, variables, n_steps, theirs)
            record = _together(device_of(session)._state.record.programs)
            seen = set(executed)
            if training.saver is not None:
                training.saver.save(session, str(folder / "model"))
        op_types = {op.name: op.type for op in graph.get_operations()}
    return Outcome(training, theirs, mine, initial, record, (their_seconds, my_seconds), op_types, seen)


@contextmanager
def watch_host() -> Iterator[set[str]]:
    """Collects the nodes that TensorFlow executes for device sessions."""
    executed: set[str] = set()

    def observe(metadata: Any) -> None:
        executed.update(node.node_name for device in metadata.step_stats.dev_stats for node in device.node_stats)

    HOST_CALL_OBSERVERS.append(observe)
    try:
        yield executed
    finally:
        HOST_CALL_OBSERVERS.remove(observe)


def _together(records: list[ProgramRecord]) -> ProgramRecord:
    device = dict.fromkeys(name for record in records for name in record.device_nodes)
    host = {name: reason for record in records for name, reason in record.host_nodes.items()}
    flops = sum(record.device_flops for record in records), sum(record.host_flops for record in records)
    return ProgramRecord((), tuple(device), host, *flops)


def steps_of(
    training: Training, session: tf.Session, variables: list[Any], n_steps: int, restarts: list[Step] | None
) -> tuple[list[Step], float]:
    """The steps, each from the variables of one in `restarts` if there are any, and the median of their seconds."""
    made, seconds = [], []
    for number in range(n_steps):
        if restarts is not None:
            load(session, variables, restarts[number].before)
        step, taken = step_of(training, session, variables, number)
        made.append(step)
        seconds.append(taken)
    return made, float(np.median(seconds))


def free_run(build: Callable[[], Training], n_steps: int) -> tuple[list[float], list[float]]:
    """Losses of TensorFlow and of the device, each going its own way from the same start."""
    curves = []
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        training = build()
        variables = all_variables(training)
        for make in (tf.Session, device_session):
            with make() as session:
                initialize(session, variables)
                curves.append([float(training.step(session, training.feeds(number))) for number in range(n_steps)])
    return curves[0], curves[1]


def distance(mine: Any, theirs: Any) -> float:
    """Norm of the difference over the norm of TensorFlow's value; 0 where both are the same."""
    difference = np.linalg.norm(np.asarray(mine, np.float64) - np.asarray(theirs, np.float64))
    return float(difference / np.linalg.norm(np.asarray(theirs, np.float64))) if difference else 0.0
