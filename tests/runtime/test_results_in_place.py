"""Results of a step stay as they are: results that are views of others, constants that are folded."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tests.runtime.device import device_session


def test_a_result_of_unknown_shape_that_shows_its_input_keeps_it() -> None:
    """BatchToSpaceND with blocks of 1 and nothing to crop returns its input, which then must not be written over."""
    with tf.Graph().as_default():
        fed = tf.placeholder(tf.float32, [2, 8, 8, 4])
        blocks, crops = tf.placeholder(tf.int32, [2]), tf.placeholder(tf.int32, [2, 2])
        shown = tf.batch_to_space_nd(tf.sin(fed), blocks, crops)
        other = fed
        with tf.control_dependencies([shown]):
            for index in range(6):
                other = tf.matmul(other, tf.ones([2, 8, 4, 4])) + float(index)
        with tf.control_dependencies([other]):
            read_late = shown * 2.0
        x = np.random.RandomState(0).rand(2, 8, 8, 4).astype(np.float32)
        feeds = {fed: x, blocks: [1, 1], crops: np.zeros((2, 2), np.int32)}
        with device_session() as session:
            late, _ = session.run([read_late, other], feeds)
    np.testing.assert_allclose(late, 2 * np.sin(x), rtol=1e-6)


@pytest.mark.parametrize("size", [100, 600_000])
def test_folded_constants_flush_denormals_on_every_thread(size: int) -> None:
    with tf.Graph().as_default():
        small = tf.constant(np.full(size, 1e-20, np.float32)) * tf.constant(np.float32(1e-20))
        with tf.Session() as session:
            wanted = session.run(small)
        for _ in range(3):
            with device_session() as session:
                np.testing.assert_array_equal(session.run(small), wanted)


def test_folding_overflows_as_a_step_does() -> None:
    with tf.Graph().as_default(), np.errstate(all="raise"), warnings.catch_warnings():
        warnings.simplefilter("error")
        made = tf.exp(tf.constant([100.0, -200.0])) * tf.placeholder_with_default(np.float32(1), [])
        with device_session() as session:
            np.testing.assert_array_equal(session.run(made), [np.inf, 0])
