"""Small networks of the benchmarks' second generator train on the device as on TensorFlow, and none of their ops on the host."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from benchmarks.models.drawn import Draws
from benchmarks.models.drawn_tasks.generator import KINDS, network
from benchmarks.models.model import Model
from tests.runtime.device import device_of, device_session

N_STEPS = 5
TOLERANCE = 1e-4
"""Difference of losses over the loss, as for the other graphs of this folder."""


class SmallDraws(Draws):
    """Sizes near the least, other choices as they are."""

    def size(self, least: int, most: int) -> int:
        return super().size(least, min(most, least + 2))


def losses(session: tf.Session, model: Model) -> list[float]:
    """The loss of each step from the initial variables."""
    session.run(tf.global_variables_initializer())
    return [float(session.run([model.loss, model.train], model.feeds)[0]) for _ in range(N_STEPS)]


@pytest.mark.parametrize("index", range(len(KINDS)), ids=[kind.__name__ for kind in KINDS])
def test_trains_as_on_tensorflow(index: int) -> None:
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        _, model = network(index, SmallDraws)
        with tf.Session() as session:
            theirs = losses(session, model)
        with device_session() as session:
            mine = losses(session, model)
            programs = device_of(session)._state.record.programs
    assert len(set(theirs)) == N_STEPS
    np.testing.assert_allclose(mine, theirs, rtol=TOLERANCE)
    assert {name: reason for program in programs for name, reason in program.host_nodes.items()} == {}
