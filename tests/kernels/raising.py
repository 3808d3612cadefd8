"""The same wrong call by our kernel and by TensorFlow's: the same error code and the same words."""

from __future__ import annotations

import pytest
import tensorflow.compat.v1 as tf

from npu_runtime.errors import DeviceError
from tests.kernels import oracle
from tests.kernels.harness import Case, call

PLACES = ("Detected", "  ", "Node:", "Graph", "\t")


def message_of(raised: Exception) -> tuple[str, str]:
    """(error code, message without the place) of TensorFlow's error or ours."""
    if isinstance(raised, DeviceError):
        return raised.code, raised.message
    lines = [line for line in raised.message.split("\n") if line and not line.startswith(PLACES)]
    return type(raised).__name__.removesuffix("Error"), lines[0].split(", node name:")[0]


def assert_raises_alike(one: Case) -> None:
    """A call that already fails when TensorFlow builds the graph only has to fail here."""
    with pytest.raises(DeviceError) as mine:
        call(one, one.flat())
    with pytest.raises((tf.errors.OpError, ValueError)) as theirs:
        oracle.run(one)
    if isinstance(theirs.value, tf.errors.OpError):
        assert message_of(mine.value) == message_of(theirs.value)
