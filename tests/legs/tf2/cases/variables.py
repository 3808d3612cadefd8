"""Variables that a script reads, writes, copies and drops outside of its functions."""

from __future__ import annotations

import copy
import gc
from typing import Any

import numpy as np
import tensorflow as tf

from tests.legs.tf2.case import EXACT, case


def _adder(variable: tf.Variable) -> Any:
    """A function that adds its argument to a variable, and gives the sum."""

    @tf.function
    def add(amount: tf.Tensor) -> tf.Tensor:
        variable.assign_add(amount)
        return variable.read_value()

    return add


@case(EXACT)
def read_by_numpy_after_each_call() -> Any:
    v = tf.Variable([1.0, 2.0])
    add = _adder(v)
    seen = []
    for _ in range(3):
        add(tf.constant([0.5, 1.0]))
        seen.append(v.numpy().copy())
    return seen


@case(EXACT)
def array_that_was_read_is_not_changed_later() -> Any:
    v = tf.Variable(tf.zeros([4]))
    add = _adder(v)
    add(tf.ones([4]))
    before, tensor = v.numpy(), v.read_value()
    add(tf.ones([4]))
    return before, tensor, v.numpy()


@case(EXACT)
def assigned_between_calls() -> Any:
    v = tf.Variable([1.0, 2.0])
    add = _adder(v)
    seen = [add(tf.ones([2]))]
    v.assign([10.0, 20.0])
    seen.append(add(tf.ones([2])))
    v.assign_sub([1.0, 1.0])
    v.assign_add([0.25, 0.25])
    return [*seen, add(tf.zeros([2])), v]


@case()
def multiplied_eagerly() -> Any:
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    add = _adder(v)
    x = tf.constant([[1.0, -1.0]])
    seen = [tf.matmul(x, v)]
    add(tf.ones([2, 2]))
    seen.append(tf.matmul(x, v))
    add(tf.ones([2, 2]))
    return [*seen, tf.matmul(x, v), x @ v, tf.reduce_sum(v), tf.linalg.matvec(v, x[0])]


@case()
def used_by_python_operators() -> Any:
    v, w = tf.Variable([4.0, 9.0]), tf.Variable(3)
    _adder(v)(tf.ones([2]))
    _adder(w)(tf.constant(2))
    said = [v + 1, 2 * v, v / v, -v, abs(v), v**2, v > 5.0, v[1:], v[0], int(w), float(w), len(v.shape), bool(w > 1)]
    return [*said, w == 5, list(range(w.numpy())), v.numpy().sum(), np.asarray(v), np.sum(v)]


@case()
def in_lists() -> Any:
    v, w = tf.Variable([1.0, 2.0]), tf.Variable([3.0, 4.0])
    for one in (v, w):
        _adder(one)(tf.constant([10.0, 20.0]))
    return tf.add_n([v, w]), tf.concat([v, w, [5.0]], 0), tf.stack([v, w]), tf.tuple([v, w]), tf.linalg.global_norm([v, w])


@case(EXACT)
def shown_as_text() -> Any:
    v = tf.Variable([1.0, 2.0], name="shown")
    _adder(v)(tf.ones([2]))
    return repr(v).partition("numpy=")[2], str(v.numpy()), f"{v[0]:.2f}" if hasattr(v[0], "__format__") else "", v.name, v.shape


@case(EXACT)
def converted() -> Any:
    v = tf.Variable([1.0, 2.5])
    _adder(v)(tf.ones([2]))
    other = tf.Variable(v)
    _adder(v)(tf.ones([2]))
    return tf.convert_to_tensor(v), tf.identity(v), v.value(), other, tf.cast(v, tf.int32), tf.constant(v.numpy()), v.read_value()


@case(EXACT)
def copied_deep() -> Any:
    v = tf.Variable([1.0, 2.0])
    add = _adder(v)
    add(tf.ones([2]))
    copied = copy.deepcopy(v)
    add(tf.ones([2]))
    _adder(copied)(tf.constant([100.0, 100.0]))
    return v, copied


@case(EXACT)
def parts_assigned_eagerly() -> Any:
    v = tf.Variable(tf.zeros([4, 2]))
    add = _adder(v)
    add(tf.ones([4, 2]))
    v[1].assign([5.0, 6.0])
    v[2:, 0].assign([7.0, 8.0])
    add(tf.ones([4, 2]))
    v.scatter_nd_update([[0, 1], [3, 1]], [50.0, 60.0])
    v.scatter_add(tf.IndexedSlices([[1.0, 1.0]], [2]))
    v.scatter_sub(tf.IndexedSlices([[0.5, 0.5]], [3]))
    add(tf.ones([4, 2]))
    return v, v.sparse_read([0, 2]), tf.gather(v, [3]), v.gather_nd([[1, 1]])


@case(EXACT)
def parts_assigned_in_a_function() -> Any:
    v = tf.Variable(tf.zeros([4, 2]))

    @tf.function
    def f(i: tf.Tensor) -> tf.Tensor:
        v[i].assign([5.0, 6.0])
        v.scatter_nd_add([[0, 1]], [2.0])
        v.scatter_update(tf.IndexedSlices([[3.0, 3.0]], [3]))
        return v.sparse_read([i, 0])

    return f(tf.constant(1)), f(tf.constant(2)), v


@case(EXACT)
def of_many_types() -> Any:
    seen = []
    kinds = ("float16", "bfloat16", "float32", "float64", "int8", "uint8", "int16", "int32", "int64", "complex64", "complex128")
    for kind in kinds:
        v = tf.Variable(tf.cast([1, 2, 3], kind))
        f = tf.function(lambda x, v=v: v.assign(v * x))
        seen += [f(tf.cast(2, kind)), v.numpy()]
        v.assign(tf.cast([5, 6, 7], kind))
        seen += [f(tf.cast(3, kind)), v.dtype.name]
    return seen


@case(EXACT)
def of_bool_and_string() -> Any:
    flag, text = tf.Variable([True, False]), tf.Variable("a")

    @tf.function
    def f() -> tuple[tf.Tensor, tf.Tensor]:
        return flag.assign(~flag), text.assign(tf.strings.join([text, "b"]))

    seen = [f(), f()]
    text.assign("c")
    return [*seen, f(), flag, text, text.numpy().decode()]


@case(EXACT)
def of_variant() -> Any:
    empty = tf.raw_ops.EmptyTensorList(element_shape=tf.constant([], tf.int32), max_num_elements=-1, element_dtype=tf.float32)
    v = tf.Variable(empty)

    @tf.function
    def push(x: tf.Tensor) -> tf.Tensor:
        v.assign(tf.raw_ops.TensorListPushBack(input_handle=v, tensor=x))
        return tf.raw_ops.TensorListLength(input_handle=v)

    seen = [push(tf.constant(1.0)), push(tf.constant(2.0))]
    return [*seen, tf.raw_ops.TensorListLength(input_handle=v.read_value())]


@case(EXACT)
def of_no_fixed_shape() -> Any:
    v = tf.Variable([1.0], shape=tf.TensorShape([None]))

    @tf.function
    def double() -> tf.Tensor:
        v.assign(tf.concat([v, v * 2], 0))
        return tf.size(v)

    seen = [double(), double(), v.numpy()]
    v.assign([3.0, 4.0, 5.0])
    return [*seen, double(), v]


@case(EXACT)
def of_no_elements_and_of_no_dimensions() -> Any:
    empty, number = tf.Variable(tf.zeros([0, 3])), tf.Variable(2.0)
    return tf.function(lambda: (tf.shape(empty.assign(empty + 1)), number.assign(number * 3)))(), empty.numpy().shape, number


@case(EXACT)
def attributes_of_a_module() -> Any:
    class Counter(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.count, self.rows = tf.Variable(0), [tf.Variable([1.0]), {"deep": tf.Variable([2.0])}]
            self.late: tf.Variable | None = None

        @tf.function
        def __call__(self, x: tf.Tensor) -> tf.Tensor:
            if self.late is None:
                self.late = tf.Variable(10.0)
            self.count.assign_add(1)
            self.late.assign_add(x)
            return self.late + self.rows[0][0]

    one, other = Counter(), Counter()
    seen = [one(tf.constant(1.0)), other(tf.constant(5.0)), one(tf.constant(2.0))]
    one.rows[0].assign([100.0])
    return [*seen, one(tf.constant(0.0)), one.count, other.count, len(one.variables), [v.numpy() for v in one.variables]]


@case(EXACT)
def created_in_the_first_call_only() -> Any:
    made: list[tf.Variable] = []

    @tf.function
    def f(x: tf.Tensor) -> tf.Tensor:
        if not made:
            made.append(tf.Variable(3.0))
        return made[0].assign_add(x)

    return f(tf.constant(1.0)), f(tf.constant(2.0)), made[0]


@case()
def created_in_a_second_call() -> Any:
    f = tf.function(lambda: tf.Variable(1.0))
    f()
    return f()


@case(EXACT)
def passed_as_an_argument() -> Any:
    v, w = tf.Variable(1.0), tf.Variable(10.0)
    f = tf.function(lambda variable, x: variable.assign_add(x * variable))
    return f(v, tf.constant(2.0)), f(w, tf.constant(2.0)), f(v, tf.constant(1.0)), v, w


@case(EXACT)
def returned_from_a_function() -> Any:
    v = tf.Variable([1.0, 2.0])
    same = tf.function(lambda: v)()
    _adder(v)(tf.ones([2]))
    return same, v


@case(EXACT)
def handle_returned_from_a_function() -> Any:
    v = tf.Variable([1.0, 2.0])
    add = _adder(v)
    add(tf.ones([2]))
    handle = tf.function(lambda: v.handle)()
    seen = [tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.float32)]
    add(tf.ones([2]))
    seen.append(tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.float32))
    tf.raw_ops.AssignVariableOp(resource=handle, value=tf.constant([7.0, 8.0]))
    return [*seen, add(tf.ones([2])), handle.dtype.name]


@case(EXACT)
def many_of_one_name_made_and_dropped() -> Any:
    seen = []
    for i in range(30):
        v = tf.Variable([float(i)], name="same")
        seen.append(_adder(v)(tf.ones([1])))
        seen.append(v.numpy())
        del v
        gc.collect() if i % 10 == 0 else None
    return seen


@case(EXACT)
def shared_by_two_functions() -> Any:
    v = tf.Variable([1.0, 1.0])
    double, add = tf.function(lambda: v.assign(v * 2)), _adder(v)
    return double(), add(tf.ones([2])), double(), double(), add(tf.ones([2])), v


@case(EXACT)
def read_and_written_in_order() -> Any:
    v = tf.Variable(1.0)

    @tf.function
    def f(x: tf.Tensor) -> list[tf.Tensor]:
        first = v.read_value()
        v.assign(x)
        second = v.read_value()
        v.assign_add(second)
        third = tf.identity(v)
        v.assign(v * first)
        return [first, second, third, v.read_value()]

    return f(tf.constant(3.0)), f(tf.constant(4.0)), v


@case(EXACT)
def one_value_assigned_to_two() -> Any:
    v, w = tf.Variable([1.0, 2.0]), tf.Variable([0.0, 0.0])

    @tf.function
    def f(x: tf.Tensor) -> None:
        v.assign(x)
        w.assign(v)
        v.assign_add(x)

    x = tf.constant([3.0, 4.0])
    f(x)
    w.assign_add([1.0, 1.0])
    return v, w, x


@case(EXACT)
def assigned_from_each_other_eagerly() -> Any:
    v, w = tf.Variable([1.0, 2.0]), tf.Variable([0.0, 0.0])
    add = _adder(v)
    add(tf.ones([2]))
    w.assign(v)
    add(tf.ones([2]))
    v.assign(w)
    add(tf.ones([2]))
    return v, w


@case(EXACT)
def read_before_it_has_a_value() -> Any:
    handle = tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[2], shared_name="nothing_yet")
    return tf.function(lambda: tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.float32) + 1)()


@case(EXACT)
def assigned_a_wrong_shape() -> Any:
    v = tf.Variable([1.0, 2.0])
    add = _adder(v)
    add(tf.ones([2]))
    try:
        v.assign([1.0, 2.0, 3.0])
    except ValueError as error:
        return str(error).split(";")[0].replace(v.name, ""), v, add(tf.ones([2]))
    return "assigned"


@case()
def moving_averages() -> Any:
    v = tf.Variable([1.0, 2.0])
    average = tf.train.ExponentialMovingAverage(0.9)
    add = _adder(v)
    average.apply([v])
    seen = []
    for _ in range(3):
        add(tf.ones([2]))
        average.apply([v])
        seen.append(average.average(v).numpy().copy())
    return seen


@case(EXACT)
def held_for_a_while_by_the_caller() -> Any:
    v = tf.Variable(tf.range(5.0))
    before = v.value()
    add = _adder(v)
    add(tf.ones([5]))
    middle = v.value()
    add(tf.ones([5]))
    v.assign_add(tf.ones([5]))
    return before, middle, v.value()


@case(EXACT)
def not_trainable_and_under_a_device() -> Any:
    with tf.device("CPU:0"):
        v = tf.Variable([1.0, 2.0], trainable=False)
    add = _adder(v)
    with tf.device("CPU:0"):
        seen = [add(tf.ones([2])), v.numpy()]
    return [*seen, tf.function(lambda: v * 2)(), "CPU" in v.device or "NPU" in v.device]


@case(EXACT)
def counter_of_int64_from_two_sides() -> Any:
    v = tf.Variable(0, dtype=tf.int64)
    f = tf.function(lambda: v.assign_add(1))
    seen = []
    for turn in range(6):
        seen.append(f() if turn % 2 else v.assign_add(10))
    return [*[int(one) for one in seen], int(v), v.numpy() + 1]


@case(EXACT)
def freed_while_a_function_knows_them() -> Any:
    cells = [tf.Variable(float(i)) for i in range(3)]

    @tf.function
    def f(v: tf.Variable) -> tf.Tensor:
        return v.assign_add(1.0)

    seen = [f(v) for v in cells]
    del cells[1]
    gc.collect()
    cells.append(tf.Variable(50.0))
    return [*seen, *[f(v) for v in cells]]
