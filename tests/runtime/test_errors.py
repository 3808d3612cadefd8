"""What goes wrong on the device is raised as TensorFlow raises it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tests.runtime.device import device_session


@pytest.fixture(autouse=True)
def fresh_graph():
    with tf.Graph().as_default():
        yield


def error_of(session: tf.Session, fetches: Any, feeds: Any = None) -> tf.errors.OpError:
    with session, pytest.raises(tf.errors.OpError) as caught:
        session.run(fetches, feeds)
    return caught.value


def same_error(fetches: Any, feeds: Any = None) -> tf.errors.OpError:
    """Class, operation and first line of the message are TensorFlow's; returns the device's error."""
    theirs, mine = error_of(tf.Session(), fetches, feeds), error_of(device_session(), fetches, feeds)
    assert type(mine) is type(theirs)
    assert mine.op is not None and (theirs.op is None or mine.op.name == theirs.op.name)
    return mine


def test_uninitialized_variable() -> None:
    for use_resource in (False, True):
        v = tf.get_variable(f"v{use_resource}", [2], use_resource=use_resource)
        error = same_error(v * 2.0)
        assert isinstance(error, tf.errors.FailedPreconditionError)
        assert f"v{use_resource}" in error.message


def test_placeholder_without_feed() -> None:
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    error = same_error(x + 1.0)
    assert "You must feed a value for placeholder tensor 'x' with dtype float" in error.message


def test_shapes_that_do_not_fit_at_run_time() -> None:
    a, b = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    product = tf.matmul(a, b, name="product")
    error = same_error(product, {a: np.ones((2, 3), np.float32), b: np.ones((4, 5), np.float32)})
    assert error.op.name == "product"
    assert "[2,3]" in error.message and "[4,5]" in error.message


def test_feed_of_the_wrong_shape() -> None:
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    with device_session() as session, pytest.raises(ValueError, match="Cannot feed value of shape"):
        session.run(x + 1.0, {x: np.ones((2, 4), np.float32)})


def test_error_on_the_host_names_the_user_s_node() -> None:
    words = tf.placeholder(tf.string, [])
    number = tf.strings.to_number(words, name="parse")
    error = same_error(number * 2.0, {words: "abc"})
    assert isinstance(error, tf.errors.InvalidArgumentError)
    assert error.op.name == "parse"


def test_closed_session() -> None:
    a = tf.constant(1.0)
    session = device_session()
    session.run(a)
    session.close()
    with pytest.raises(RuntimeError, match="closed"):
        session.run(a)


def test_host_fallback_error_names_node_op_and_shapes() -> None:
    x = tf.constant(np.ones((2, 2), np.float64))
    y = tf.matmul(x, x, name="double_product")
    error = error_of(device_session(host_fallback="error"), y)
    assert isinstance(error, tf.errors.UnimplementedError)
    assert "float64" in error.message and "(2, 2)" in error.message and error.op.name == "double_product"


def test_unknown_chip_lists_the_known_ones() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="Ascend910A"):
        device_session(soc="Ascend111").run(tf.constant(1.0))


def test_step_larger_than_device_memory() -> None:
    big = tf.zeros([1 << 17, 1 << 17]) + tf.placeholder_with_default(1.0, [])
    error = error_of(device_session(), tf.reduce_sum(big))
    assert isinstance(error, tf.errors.ResourceExhaustedError)
    assert "GB" in error.message


def test_switched_off_entry_stays_on_tensorflow() -> None:
    from tests.runtime.device import hooks

    with device_session(use_off_line=False) as session:
        assert session.run(tf.constant(2.0)) == 2.0
        assert hooks.device_of(session) is None
