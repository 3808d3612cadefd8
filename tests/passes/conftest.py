"""Every test of a pass begins with an empty TensorFlow graph."""

from __future__ import annotations

import pytest
import tensorflow.compat.v1 as tf


@pytest.fixture(autouse=True)
def fresh_graph():
    with tf.Graph().as_default():
        yield
