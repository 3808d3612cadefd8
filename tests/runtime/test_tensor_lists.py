"""Tensor lists, tensor arrays and optionals, op by op: TensorFlow's values and TensorFlow's errors."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tests.kernels.oracle import plain_session
from tests.kernels.raising import message_of
from tests.runtime.device import device_of, device_session
from tests.runtime.test_session import same_on_both

raw = tf.raw_ops
ROWS = np.arange(6, dtype=np.float32).reshape(3, 2)


@pytest.fixture(autouse=True)
def fresh_graph():
    with tf.Graph().as_default():
        yield


def rows(value: Any = ROWS, shape: Any = (2,)) -> Any:
    """A list of the rows of a value that no pass can fold."""
    fed = tf.placeholder_with_default(value, np.shape(value))
    return raw.TensorListFromTensor(tensor=fed, element_shape=np.array(shape, np.int32))


def stacked(handle: Any, shape: Any = (2,), n: int = -1) -> Any:
    shape = np.array(shape, np.int32)
    return raw.TensorListStack(input_handle=handle, element_shape=shape, element_dtype=tf.float32, num_elements=n)


def item(handle: Any, index: int, shape: Any = (2,)) -> Any:
    shape = np.array(shape, np.int32)
    return raw.TensorListGetItem(input_handle=handle, index=index, element_shape=shape, element_dtype=tf.float32)


def popped(handle: Any, shape: Any = (2,)) -> Any:
    return raw.TensorListPopBack(input_handle=handle, element_shape=np.array(shape, np.int32), element_dtype=tf.float32)


def reserved(n: int, shape: Any = (2,)) -> Any:
    return raw.TensorListReserve(element_shape=np.array(shape, np.int32), num_elements=n, element_dtype=tf.float32)


def empty(limit: int = -1, shape: Any = (2,)) -> Any:
    return raw.EmptyTensorList(element_shape=np.array(shape, np.int32), max_num_elements=limit, element_dtype=tf.float32)


def scattered(indices: list[int], n: int) -> Any:
    fed = tf.placeholder_with_default(ROWS, [3, 2])
    return raw.TensorListScatterV2(tensor=fed, indices=indices, element_shape=np.array([2], np.int32), num_elements=n)


def concat(handle: Any, shape: Any, leading: Any = ()) -> Any:
    leading = np.array(leading, np.int64)
    return raw.TensorListConcatV2(
        input_handle=handle, element_shape=np.array(shape, np.int32), leading_dims=leading, element_dtype=tf.float32
    )


def split(lengths: list[int]) -> Any:
    fed = tf.placeholder_with_default(ROWS, [3, 2])
    return raw.TensorListSplit(tensor=fed, element_shape=np.array([-1, 2], np.int32), lengths=np.array(lengths, np.int64))


def put(handle: Any, index: int, value: Any, **attrs: Any) -> Any:
    return raw.TensorListSetItem(input_handle=handle, index=index, item=tf.convert_to_tensor(value), **attrs)


def push(handle: Any, value: Any) -> Any:
    return raw.TensorListPushBack(input_handle=handle, tensor=tf.convert_to_tensor(value))


def fed(value: Any) -> Any:
    """A tensor whose shape nobody knows when the graph is built."""
    return tf.placeholder_with_default(np.array(value, np.float32), None)


def array(size: int, **options: Any) -> Any:
    return tf.TensorArray(tf.float32, size, **options)


def gathered(handle: Any, indices: list[int]) -> Any:
    shape = np.array([2], np.int32)
    return raw.TensorListGather(input_handle=handle, indices=indices, element_shape=shape, element_dtype=tf.float32)


def shape_of(handle: Any) -> Any:
    return raw.TensorListElementShape(input_handle=handle, shape_type=tf.int64)


def added(a: Any, b: Any) -> Any:
    return stacked(tf.add_n([a, b]))


VALUES: dict[str, Callable[[], Any]] = {
    "stack": lambda: stacked(rows()),
    "stack of none": lambda: stacked(empty()),
    "item": lambda: [item(rows(), i) for i in (0, 2)],
    "not set": lambda: [item(reserved(2), 1), item(put(reserved(2, (-1,)), 0, [1.0, 2.0]), 1, (-1,)), stacked(reserved(2))],
    "length": lambda: [raw.TensorListLength(input_handle=h) for h in (rows(), empty(), reserved(4))],
    "shape": lambda: [shape_of(empty(shape=s)) for s in ((2, 3), (-1, 2), -1)],
    "push and pop": lambda: [popped(push(push(empty(2), [1.0, 2.0]), [3.0, 4.0]))[1], popped(rows())[1]],
    "a list is a value": lambda: (lambda h: [stacked(push(h, [9.0, 9.0])), stacked(put(h, 1, [8.0, 8.0])), stacked(h)])(rows()),
    "put beyond the end": lambda: stacked(put(rows(), 4, [7.0, 7.0], resize_if_index_out_of_bounds=True)),
    "gather": lambda: [gathered(rows(), [2, 0, 2]), gathered(rows(), [])],
    "scatter": lambda: [stacked(scattered([2, 0, 1], -1)), stacked(scattered([3, 0, 1], 5))],
    "resize": lambda: [stacked(raw.TensorListResize(input_handle=rows(), size=n)) for n in (2, 5)],
    "concat": lambda: list(concat(split([1, 2]), (-1, 2)) + concat(empty(shape=(0, 2)), (0, 2))),
    "split": lambda: [item(split([1, 0, 2]), i, (-1, 2)) for i in range(3)],
    "lists joined": lambda: stacked(raw.TensorListConcatLists(input_a=rows(), input_b=rows(), element_dtype=tf.float32)),
    "lists added": lambda: [added(rows(), rows(ROWS * 2)), added(rows(), put(reserved(3), 1, [1.0, 1.0]))],
    "zeros": lambda: stacked(tf.raw_ops.ZerosLike(x=rows())),
    "scatter into": lambda: stacked(
        raw.TensorListScatterIntoExistingList(input_handle=rows(), tensor=tf.constant([[5.0, 5.0]]), indices=[1])
    ),
}

ERRORS: dict[str, Callable[[], Any]] = {
    "item outside": lambda: item(rows(), 3),
    "put outside": lambda: stacked(put(rows(), 3, [1.0, 1.0])),
    "pop of none": lambda: popped(empty())[1],
    "full": lambda: stacked(push(push(empty(1), [1.0, 2.0]), [1.0, 2.0])),
    "other number": lambda: stacked(rows(), n=2),
    "not set, no shape": lambda: item(reserved(2, -1), 0, -1),
    "gather outside": lambda: gathered(rows(), [4]),
    "other lengths": lambda: added(rows(), rows(ROWS[:2])),
    "never any": lambda: stacked(push(empty(0), [1.0, 2.0])),
    "put another shape": lambda: stacked(put(reserved(2), 0, fed([1.0]))),
    "push another shape": lambda: stacked(push(empty(), fed([1.0]))),
    "shapes differ": lambda: stacked(push(push(empty(shape=-1), [1.0]), fed([1.0, 2.0])), -1),
    "stack of nothing set": lambda: stacked(reserved(2, -1), -1),
    "split too long": lambda: concat(split([1, 3]), (-1, 2))[0],
    "split too short": lambda: concat(split([1, 1]), (-1, 2))[0],
    "array written twice": lambda: array(2).write(0, [1.0]).write(0, [2.0]).stack(),
    "array read twice": lambda: array(2).unstack(ROWS[:2]).gather([1, 0, 1]),
    "array written behind its end": lambda: array(2).write(2, [1.0]).stack(),
    "array scattered behind its end": lambda: array(2).unstack(ROWS).stack(),
    "array never written": lambda: array(2, infer_shape=False).write(0, [1.0]).stack(),
    "array of two shapes": lambda: array(2, infer_shape=False).write(0, [1.0]).write(1, [1.0, 2.0]).stack(),
    "array of another shape": lambda: array(2).write(0, [1.0]).write(1, fed([1.0, 2.0])).stack(),
    "array of none": lambda: array(0).stack(),
    "array of none joined": lambda: array(0).concat(),
    "array of numbers joined": lambda: array(1, infer_shape=False).write(0, 1.0).concat(),
    "array of rows joined": lambda: array(2, infer_shape=False).write(0, ROWS).write(1, ROWS[:, :1]).concat(),
    "array split into more": lambda: array(1, infer_shape=False).split(fed([1.0, 2.0]), [1, 1]).concat(),
    "array split too short": lambda: array(2, infer_shape=False).split(fed([1.0, 2.0]), [1, 0]).concat(),
}


@pytest.mark.parametrize("name", VALUES)
def test_values(name: str) -> None:
    fetches = VALUES[name]()
    same_on_both([(fetches, {})])
    with device_session() as session:
        session.run(fetches)
        assert device_of(session)._state.record.programs[-1].host_nodes == {}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name: str) -> None:
    """TensorFlow numbers its arrays, which has no meaning."""
    fetches = ERRORS[name]()
    found = []
    for make in (plain_session, device_session):
        with make() as session, pytest.raises(tf.errors.OpError) as caught:
            session.run(fetches)
        code, text = message_of(caught.value)
        found.append((code, re.sub(r"^TensorArray \S*: ", "", text.strip())))
    assert found[0] == found[1]


def test_optionals() -> None:
    x = tf.placeholder_with_default([1.0, 2.0], [2])
    some = raw.OptionalFromValue(components=[x, tf.constant(3)])
    got = raw.OptionalGetValue(optional=some, output_types=[tf.float32, tf.int32], output_shapes=[[2], []])
    has = [raw.OptionalHasValue(optional=optional) for optional in (some, raw.OptionalNone())]
    same_on_both([([got[0], got[1], has], {})])


def test_lists_of_strings_stay_on_the_host() -> None:
    words = tf.placeholder_with_default(["a", "b"], [2])
    handle = raw.TensorListFromTensor(tensor=words, element_shape=np.array([], np.int32))
    got = raw.TensorListGetItem(input_handle=handle, index=1, element_shape=np.array([], np.int32), element_dtype=tf.string)
    same_on_both([(got, {})])
