"""Devices that a graph names: a session refuses those that it has not got, as TensorFlow's placer does."""

from __future__ import annotations

from typing import Any

import pytest
import tensorflow.compat.v1 as tf

from tests.runtime.device import device_config, hooks

NAMES = [
    "/cpu:0", "/cpu:1", "/cpu:*", "/GPU:0", "/device:GPU:*", "/device:NPU:0", "/job:worker/task:3", "/job:localhost",
    "/job:localhost/replica:0/task:0/cpu:0", "/task:1", "/replica:0", "/replica:1/gpu:0", "/job:ps/cpu:0",
]  # fmt: skip


def outcome(config: tf.ConfigProto, named: str, is_run: bool) -> Any:
    """The result of a run of a graph with an operation on the device; or the class of the error and what is refused.

    is_run: whether the run needs the operation.
    """
    with tf.Graph().as_default():
        other = tf.constant(2.0)
        with tf.device(named):
            placed = tf.placeholder_with_default(1.0, [], "placed")
        with tf.Session(config=config) as session:
            try:
                return session.run(placed if is_run else other)
            except tf.errors.OpError as error:
                assert "Cannot assign a device for operation placed" in error.message
                return type(error)


@pytest.mark.parametrize("is_soft", [False, True], ids=["", "soft"])
@pytest.mark.parametrize("n_cpus", [None, 2], ids=["", "two"])
@pytest.mark.parametrize("named", NAMES)
def test_a_device(named: str, n_cpus: int | None, is_soft: bool) -> None:
    hooks.install()
    for is_run in (True, False):
        found = []
        for config in (tf.ConfigProto(), device_config()):
            config.allow_soft_placement = is_soft
            if n_cpus is not None:
                config.device_count["CPU"] = n_cpus
            found.append(outcome(config, named, is_run))
        assert found[0] == found[1]


def test_a_graph_that_grows_by_a_device_that_there_is_not() -> None:
    """Nodes that ran before do not run any more, either: a session places its whole graph."""
    hooks.install()
    for config in (tf.ConfigProto(), device_config()):
        with tf.Graph().as_default(), tf.Session(config=config) as session:
            one = tf.constant(1.0)
            assert session.run(one) == 1.0
            with tf.device("/gpu:3"):
                tf.constant(2.0)
            for _ in range(2):
                with pytest.raises(tf.errors.InvalidArgumentError, match="Cannot assign a device"):
                    session.run(one + 1.0)
