"""Errors on the device are raised as TensorFlow raises them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from npu_runtime.session import run_log
from tests.runtime.device import device_of, device_session


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


def same_error_anywhere(fetches: Any, feeds: Any) -> tf.errors.OpError:
    """The same, of an operation that the device knows by another name."""
    theirs, mine = error_of(tf.Session(), fetches, feeds), error_of(device_session(), fetches, feeds)
    assert type(mine) is type(theirs)
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


def test_shapes_that_do_not_fit_a_result_of_known_shape() -> None:
    x = tf.placeholder(tf.float32, [None])
    y = tf.placeholder_with_default(tf.constant([1.0, 2.0]), [2])
    error = same_error(x + y, {x: np.ones(3, np.float32)})
    assert "Incompatible shapes: [3] vs. [2]" in error.message


def test_a_loop_whose_test_is_no_scalar() -> None:
    start, shape = tf.placeholder(tf.int32), [tf.TensorShape(None)]
    error = same_error_anywhere(tf.while_loop(lambda i: i < 3, lambda i: i + 1, [start], shape), {start: [0]})
    assert "The second input must be a scalar, but it has shape [1]" in error.message


def test_a_conditional_whose_predicate_is_no_scalar() -> None:
    flag, x = tf.placeholder(tf.bool), tf.placeholder(tf.float32, [])
    error = same_error_anywhere(tf.raw_ops.Switch(data=x, pred=flag).output_true, {flag: [True], x: 1.0})
    assert "The second input must be a scalar, but it has shape [1]" in error.message


@pytest.mark.parametrize("number", [0.0, np.nan])
def test_a_matrix_that_has_no_inverse(number: float) -> None:
    x = tf.placeholder(tf.float32, [2, 2])
    for result, words in (
        (tf.linalg.inv(x), "Input is not invertible."),
        (tf.linalg.solve(x, x), "Input matrix is not invertible."),
    ):
        theirs = error_of(tf.Session(), result, {x: np.full((2, 2), number)})
        assert words in theirs.message and words in same_error(result, {x: np.full((2, 2), number)}).message


MISFITS = {
    "Tile": lambda x, n: tf.tile(x, n),
    "Transpose": lambda x, n: tf.transpose(x, n),
    "Cholesky": lambda x, n: tf.linalg.cholesky(x),
    "Pad": lambda x, n: tf.pad(x, tf.reshape(n, [-1, 2])),
    "Fill": lambda x, n: tf.fill(n, x),
}


@pytest.mark.parametrize("op", MISFITS)
def test_ranks_that_do_not_fit(op: str) -> None:
    """As wrong arguments on TensorFlow; not as whatever Python raises, and not at all in a branch that is not taken."""
    x, n, flag = tf.placeholder(tf.float32), tf.placeholder(tf.int32), tf.placeholder(tf.bool, [])
    wrong = MISFITS[op](x, n)
    known = tf.reshape([1.0, 2.0], tf.shape(x))
    of_constants = tf.cond(flag, lambda: tf.to_float(tf.size(MISFITS[op](known, n))), lambda: 7.0)
    feed = {x: np.ones(2, np.float32), n: np.array([2, 2, 2, 2])}
    for session in (tf.Session(), device_session()):
        with session:
            with pytest.raises(tf.errors.InvalidArgumentError) as raised:
                session.run(wrong, feed)
            assert raised.value.op is not None
            assert session.run(of_constants, {**feed, flag: False}) == 7.0
    assert raised.value.op.type == op


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
    x = tf.fill([1 << 16, 1 << 16], tf.placeholder_with_default(1.0, []), name="large")
    y = tf.matmul(x, tf.fill([1 << 16, 8], 2.0), name="small")
    z = tf.matmul(x, tf.transpose(x, name="turned"), name="product")
    error = error_of(device_session(), tf.reduce_sum(z) + tf.reduce_sum(y))
    assert isinstance(error, tf.errors.ResourceExhaustedError)
    assert error.op.name in ("turned", "product")
    assert "Ascend910A has 34.36 GB" in error.message
    assert "large:0 float32[65536,65536], 17.18 GB" in error.message
    assert "turned:0 float32[65536,65536], 17.18 GB" in error.message


def test_more_memory_than_this_machine_has_for_a_shape_that_only_the_step_tells() -> None:
    for made, feeds in too_large():
        error = error_of(device_session(), made, feeds)
        assert type(error) is tf.errors.ResourceExhaustedError
        assert "this machine has not the memory" in error.message


@pytest.mark.whole
def test_tensorflow_raises_the_same_class_where_memory_is_short() -> None:
    """It waits ten seconds for somebody to free some."""
    for made, feeds in too_large():
        assert type(error_of(tf.Session(), made, feeds)) is tf.errors.ResourceExhaustedError


def too_large() -> list[tuple[tf.Tensor, dict[tf.Tensor, Any]]]:
    """Tensors of 256 TiB, and what is fed for them."""
    shape = tf.placeholder(tf.int64, [1])
    return [(made, {shape: [1 << 46]}) for made in (tf.fill(shape, 1.0), tf.random.uniform(shape))]


def test_variables_larger_than_device_memory_and_a_larger_chip() -> None:
    for name, n_rows in (("a", 1 << 16), ("b", 1 << 16), ("c", 1)):
        tf.get_variable(name, [n_rows, 1 << 16], use_resource=True)
    read = [v.read_value() for v in tf.global_variables()]
    error = error_of(device_session(), read)
    assert isinstance(error, tf.errors.ResourceExhaustedError)
    assert "beside 34.36 GB of variables" in error.message
    assert isinstance(error_of(device_session(soc="Ascend910B2"), read), tf.errors.FailedPreconditionError)


def test_nan_is_tracked_to_where_it_comes_from(capsys: pytest.CaptureFixture[str]) -> None:
    x = tf.placeholder(tf.float32, [3])
    y = tf.reduce_sum(tf.exp(tf.log(x, name="origin") * 2.0) + 1.0, name="sum")
    good, bad = [1.0, 2.0, 3.0], [1.0, -2.0, 3.0]
    with device_session(track_nan="raise") as session:
        session.run(y, {x: good})
        with pytest.raises(tf.errors.InvalidArgumentError, match="1 element of its results are NaN") as caught:
            session.run(y, {x: bad})
        assert caught.value.op.name == "origin"
        session.run(y, {x: [float("nan")] * 3})
    with device_session(track_nan="log") as session:
        assert np.isnan(session.run(y, {x: bad}))
        (line,) = device_of(session)._state.record.programs[-1].nan_origins
    assert line.startswith("origin: 1 element") and line.endswith("(step 1)")
    assert any("NaN first comes from origin" in text for text in run_log().digest())


def test_nan_is_tracked_into_loops_and_variables() -> None:
    v = tf.get_variable("v", initializer=[1.0, 4.0], use_resource=True)
    _, y = tf.while_loop(lambda i, a: i < 4, lambda i, a: (i + 1, tf.sqrt(a, name="root") - 1.0), [0, tf.constant(2.0)])
    down = v.assign_sub([float("inf"), 1.0])
    again = v.assign_sub([-float("inf"), 1.0])
    with device_session(track_nan="raise") as session:
        session.run([v.initializer, down.op])
        for fetch, name in ((y, "while/root"), (again.op, again.op.name)):
            with pytest.raises(tf.errors.InvalidArgumentError) as caught:
                session.run(fetch)
            assert caught.value.op.name == name


def test_switched_off_entry_stays_on_tensorflow() -> None:
    from tests.runtime.device import hooks

    with device_session(use_off_line=False) as session:
        assert session.run(tf.constant(2.0)) == 2.0
        assert hooks.device_of(session) is None


def test_gradients_that_change_a_call_which_has_run() -> None:
    """TensorFlow gives the call more outputs, which sessions that have run it do not see; new sessions do."""
    x = tf.placeholder(tf.float32, [2], name="x")
    scale = tf.get_variable("scale", [2], initializer=tf.ones_initializer, use_resource=True)
    y = tf.function(lambda a: tf.reduce_sum(tf.tanh(a * scale)))(x) * 2.0
    feeds, errors = {x: np.float32([0.5, -2.0])}, []
    theirs, mine = tf.Session(), device_session()
    with theirs, mine:
        for session in (theirs, mine):
            session.run(scale.initializer)
            session.run(y, feeds)
        gradients = tf.gradients(y, [x, scale])
        for session in (theirs, mine):
            for fetches in (gradients, y):
                with pytest.raises(tf.errors.InvalidArgumentError) as caught:
                    session.run(fetches, feeds)
                errors.append(caught.value.message)
    said = "Connecting to invalid output 1 of source node StatefulPartitionedCall which has 1 outputs"
    assert all(said in message for message in errors)
    assert "changed after this session had run it; take gradients first, or make a new session" in errors[-1]
    results = []
    for session in (tf.Session(), device_session()):
        with session:
            session.run(scale.initializer)
            results.append(session.run([*gradients, y], feeds))
    for expected, made in zip(*results, strict=True):
        np.testing.assert_allclose(made, expected, rtol=1e-6)


def chain(last: Callable[[tf.Tensor], tf.Tensor]) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    x = tf.placeholder_with_default([1.0, 2.0], [2], name="x")
    a = tf.tanh(x, name="a")
    b = tf.sin(a, name="b")
    return a, b, last(b)


@pytest.mark.parametrize("edge", ["data", "control", "itself"])
@pytest.mark.parametrize("place", ["device", "host"])
def test_nodes_that_wait_for_each_other(edge: str, place: str) -> None:
    a, _, c = chain(lambda b: tf.cos(b if place == "device" else tf.cast(tf.cast(b, tf.float64), tf.float32), name="c"))
    if edge == "data":
        a.op._update_input(0, c)
    else:
        a.op._add_control_input(c.op if edge == "control" else a.op)
    theirs, mine = (error_of(session, c) for session in (tf.Session(), device_session()))
    assert type(mine) is type(theirs) is tf.errors.InvalidArgumentError
    assert "cycle" in theirs.message and "cycle" in mine.message
    named = ["a"] if edge == "itself" else ["a", "b", "c"]
    assert all(name in mine.message.rsplit(": ", 1)[1].replace(" -> ", " ").split() for name in named)


@pytest.mark.parametrize(
    "handle",
    [lambda: tf.TFRecordReader().reader_ref, lambda: tf.FIFOQueue(3, tf.float32).queue_ref],
    ids=["reader", "queue"],
)
def test_a_handle_cannot_be_fetched_and_the_error_says_what_can(handle: Callable[[], tf.Tensor]) -> None:
    tensor = handle()
    error = error_of(device_session(), tensor)
    assert isinstance(error, tf.errors.InvalidArgumentError)
    assert error.op is not None and error.op.name == tensor.op.name
    assert "fetch what is read from the resource" in error.message
