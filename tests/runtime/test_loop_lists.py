"""Lists that a loop pushes to and pops from: TensorFlow's values, gradients and errors, whether they are kept open or not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf2
import tensorflow.compat.v1 as tf

from npu_runtime.executor.loop import LoopRunner
from npu_runtime.executor.program import Task
from tests.runtime.device import device_of, device_session

raw = tf2.raw_ops


@pytest.fixture(autouse=True)
def fresh_graph():
    tf.enable_control_flow_v2()
    with tf.Graph().as_default():
        yield
    tf.disable_control_flow_v2()


def _list(limit: int = -1, shape: Any = (2,)) -> tf.Tensor:
    return raw.EmptyTensorList(element_shape=np.array(shape, np.int32), max_num_elements=limit, element_dtype=tf.float32)


def _pushing(handle: tf.Tensor, turns: Any, item: Any) -> tf.Tensor:
    """The list after some turns, each of which pushes one element."""

    def body(i: tf.Tensor, given: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        return i + 1, raw.TensorListPushBack(input_handle=given, tensor=item(i))

    return tf.while_loop(lambda i, _: i < turns, body, [0, handle])[1]  # fmt: skip


def _stacked(handle: tf.Tensor, shape: Any = (2,)) -> tf.Tensor:
    return raw.TensorListStack(input_handle=handle, element_shape=np.array(shape, np.int32), element_dtype=tf.float32)


def _popped(handle: tf.Tensor, turns: Any) -> tuple[tf.Tensor, tf.Tensor]:
    """The sum of so many last elements, each times the number of the turn, and what is left."""

    def body(i: tf.Tensor, total: tf.Tensor, given: tf.Tensor) -> tuple[Any, ...]:
        rest, last = raw.TensorListPopBack(input_handle=given, element_shape=np.array([2], np.int32), element_dtype=tf.float32)
        return i + 1, total + last * tf.cast(i + 1, tf.float32), rest

    return tf.while_loop(lambda i, *_: i < turns, body, [0, tf.zeros([2]), handle])[1:]  # fmt: skip


def _item(i: tf.Tensor) -> tf.Tensor:
    return tf.stack([tf.cast(i, tf.float32), 0.5])


def _opened(session: tf.Session) -> int:
    """The number of lists that the loops of all programs keep open."""
    programs = [runner.program for plan in device_of(session)._plans.values() for runner in plan.runners.values()]
    steps = [step.function for program in programs for step in program.steps if isinstance(step, Task)]
    return sum(len(one._open.slots) for one in steps if isinstance(one, LoopRunner))


def _agree(fetches: Any, feeds: Any = None) -> int:
    with tf.Session() as session:
        theirs = session.run(fetches, feeds)
    with device_session() as session:
        ours = [session.run(fetches, feeds) for _ in range(2)]  # the second run begins with the same lists
        opened = _opened(session)
    for one in ours:
        for mine, given in zip(one, theirs, strict=True):
            np.testing.assert_array_equal(mine, given)
    return opened


@pytest.mark.parametrize("turns", [0, 1, 5])
def test_what_one_loop_pushes_another_one_pops(turns: int) -> None:
    count = tf.placeholder_with_default(turns, ())
    pushed = _pushing(_list(), count, _item)
    total, rest = _popped(pushed, count)
    assert _agree([_stacked(pushed), total, _stacked(rest), _stacked(_popped(pushed, count // 2)[1])]) == 3


def test_a_list_that_somebody_reads_in_the_loop_stays_a_value() -> None:
    def body(i: tf.Tensor, given: tf.Tensor, lengths: tf.Tensor) -> tuple[Any, ...]:
        made = raw.TensorListPushBack(input_handle=given, tensor=_item(i))
        return i + 1, made, lengths + raw.TensorListLength(input_handle=made) * 10 + raw.TensorListLength(input_handle=given)

    _, made, lengths = tf.while_loop(lambda i, *_: i < tf.placeholder_with_default(4, ()), body, [0, _list(), 0])
    assert _agree([_stacked(made), lengths]) == 0


def test_elements_that_are_not_set_are_popped_as_zeros() -> None:
    reserved = raw.TensorListReserve(element_shape=np.array([2], np.int32), num_elements=3, element_dtype=tf.float32)
    pushed = _pushing(reserved, tf.placeholder_with_default(2, ()), _item)
    assert _agree([*_popped(pushed, tf.placeholder_with_default(5, ()))[:1]]) == 2


def test_gradients_of_a_loop_go_through_its_lists() -> None:
    x = tf.placeholder_with_default(np.array([0.5, -0.25], np.float32), (2,))
    state = tf.while_loop(lambda i, _: i < 6, lambda i, s: (i + 1, tf.tanh(s * x + 0.1)), [0, x])[1]
    gradient = tf.gradients(state, x)[0]
    with tf.Session() as session:
        theirs = session.run([state, gradient])
    with device_session() as session:
        ours = session.run([state, gradient])
        assert _opened(session) >= 2
    for mine, given in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(mine, given, rtol=1e-5)


@pytest.mark.parametrize(("limit", "shape", "pops"), [(2, (2,), 0), (-1, (3,), 0), (-1, (2,), 5)])
def test_a_push_or_pop_that_tensorflow_refuses_is_refused(limit: int, shape: Any, pops: int) -> None:
    """A full list, elements of another shape, and a list without elements."""
    pushed = _pushing(_list(limit, (-1,)), tf.placeholder_with_default(3, ()),
                      lambda i: tf.reshape(tf.tile(_item(i), [3]), tf.placeholder_with_default([6], (1,))))  # fmt: skip
    if shape == (3,):
        pushed = _pushing(_list(limit, shape), tf.placeholder_with_default(3, ()),
                          lambda i: tf.reshape(_item(i), tf.placeholder_with_default([2], (1,))))  # fmt: skip
    fetch = _popped(_pushing(_list(), tf.placeholder_with_default(3, ()), _item), pops)[0] if pops else _stacked(pushed, (-1,))
    said = []
    for make in (tf.Session, device_session):
        with make() as session, pytest.raises(tf.errors.InvalidArgumentError) as caught:
            session.run(fetch)
        said.append(caught.value.message.splitlines()[0].partition("[[")[0].strip())
    assert said[1].startswith(said[0][:40])
