"""Errors inside of functions: the same type and first line as TensorFlow's, and the state that they leave."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from tests.legs.tf2.case import EXACT, case

ANY = tf.TensorSpec(None, tf.float32)


@case()
def product_of_sizes_that_do_not_fit() -> Any:
    return tf.function(lambda a, b: tf.matmul(a, b), input_signature=[ANY, ANY])(tf.ones([2, 3]), tf.ones([2, 3]))


@case()
def sum_of_shapes_that_do_not_fit() -> Any:
    return tf.function(lambda a, b: tf.nn.relu(a) + b, input_signature=[ANY, ANY])(tf.ones([2, 3]), tf.ones([2, 4]))


@case()
def reshape_to_another_size() -> Any:
    shape = tf.TensorSpec([None], tf.int32)
    return tf.function(lambda a, s: tf.reshape(a, s) * 2, input_signature=[ANY, shape])(tf.ones([2, 3]), tf.constant([4, 2]))


@case()
def concatenation_of_other_ranks() -> Any:
    return tf.function(lambda a, b: tf.concat([a, b], 0), input_signature=[ANY, ANY])(tf.ones([2, 3]), tf.ones([2]))


@case()
def assertion_that_fails() -> Any:
    @tf.function
    def f(a: tf.Tensor) -> tf.Tensor:
        tf.debugging.assert_less(a, 3.0, message="too large")
        return a + 1

    return f(tf.constant(1.0)), f(tf.constant(5.0))


@case()
def tensor_as_a_condition_of_python() -> Any:
    @tf.function(autograph=False)
    def f(a: tf.Tensor) -> tf.Tensor:
        return a if tf.reduce_sum(a) > 0 else -a

    return f(tf.constant([1.0]))


@case(EXACT)
def state_behind_an_assertion() -> Any:
    v, w = tf.Variable(1.0), tf.Variable(1.0)

    @tf.function
    def f(a: tf.Tensor) -> tf.Tensor:
        v.assign_add(a)
        tf.debugging.assert_less(v, 3.0)
        w.assign_add(a)
        return w.read_value()

    seen: list[Any] = [f(tf.constant(1.0))]
    try:
        f(tf.constant(5.0))
    except tf.errors.InvalidArgumentError as error:
        seen.append(type(error).__name__)
    seen.append(v.numpy())  # whether `w` was written is chance: TensorFlow's threads may have come that far
    v.assign(0.0)
    w.assign(0.0)
    return [*seen, f(tf.constant(1.0)), v, w]


@case()
def index_outside_of_a_table() -> Any:
    v = tf.Variable(tf.ones([4, 2]))
    return tf.function(lambda i: tf.gather(v, i) * 2)(tf.constant([1, 7]))


@case()
def index_of_scatter_outside() -> Any:
    v = tf.Variable(tf.ones([4]))
    return tf.function(lambda i: v.scatter_add(tf.IndexedSlices(tf.ones([1]), i)))(tf.constant([9]))


@case()
def slice_outside() -> Any:
    return tf.function(lambda a, i: tf.slice(a, [i], [3]) + 1)(tf.ones([4]), tf.constant(3))


@case()
def division_of_integers_by_zero() -> Any:
    return tf.function(lambda a, b: a // b)(tf.constant([4, 5]), tf.constant([2, 0]))


@case()
def division_of_floats_by_zero() -> Any:
    return tf.function(lambda a, b: (a / b, tf.math.divide_no_nan(a, b), tf.math.log(b - 1)))(
        tf.constant([4.0, 0.0]), tf.constant([0.0, 0.0])
    )


@case()
def numbers_that_are_checked() -> Any:
    return tf.function(lambda a: tf.debugging.check_numerics(tf.math.log(a), "the logarithm"))(tf.constant([1.0, -1.0]))


@case()
def numbers_that_are_all_checked() -> Any:
    tf.debugging.enable_check_numerics()
    try:
        return type(tf.function(lambda a: tf.math.log(a) * 2)(tf.constant([1.0, -1.0]))).__name__
    except tf.errors.InvalidArgumentError as error:
        return type(error).__name__
    finally:
        tf.debugging.disable_check_numerics()


@case()
def inverse_of_a_singular_matrix() -> Any:
    return tf.function(lambda a: tf.linalg.inv(a))(tf.zeros([2, 2]))


@case()
def string_that_is_no_number() -> Any:
    return tf.function(lambda s: tf.strings.to_number(s))(tf.constant(["1.5", "two"]))


@case()
def bytes_that_are_no_image() -> Any:
    return tf.function(lambda s: tf.io.decode_png(s))(tf.constant("nothing"))


@case()
def file_that_is_not_there() -> Any:
    return tf.function(lambda s: tf.io.read_file(s))(tf.constant("nowhere/nothing"))


@case()
def types_that_do_not_fit_while_tracing() -> Any:
    return tf.function(lambda a, b: a + b)(tf.constant(1), tf.constant(1.0))


@case()
def shapes_that_do_not_fit_while_tracing() -> Any:
    return tf.function(lambda a, b: tf.matmul(a, b))(tf.ones([2, 3]), tf.ones([2, 3]))


@case()
def name_that_only_one_branch_has() -> Any:
    @tf.function
    def f(a: tf.Tensor) -> tf.Tensor:
        if a > 0:
            b = a * 2
        return b

    return f(tf.constant(1.0))


@case()
def exception_of_python_while_tracing() -> Any:
    class OwnError(Exception):
        pass

    @tf.function
    def f(a: tf.Tensor) -> tf.Tensor:
        raise OwnError("while tracing")

    return f(tf.constant(1.0))


@case()
def argument_that_the_signature_refuses() -> Any:
    f = tf.function(lambda a: a * 2, input_signature=[tf.TensorSpec([2], tf.float32)])
    return f(tf.ones([3]))


@case()
def error_in_a_branch_of_a_loop() -> Any:
    v = tf.Variable([1.0, 2.0])

    @tf.function
    def f(n: tf.Tensor) -> tf.Tensor:
        total = tf.constant(0.0)
        for i in tf.range(n):
            total += tf.gather(v, i)
        return total

    return f(tf.constant(2)), f(tf.constant(4))


@case(EXACT)
def used_again_behind_an_error() -> Any:
    v = tf.Variable([1.0, 2.0, 3.0])

    @tf.function
    def f(i: tf.Tensor) -> tf.Tensor:
        v.assign_add(tf.ones([3]))
        return tf.gather(v, i)

    seen: list[Any] = [f(tf.constant(1))]
    for _ in range(3):
        try:
            f(tf.constant(30))
        except tf.errors.InvalidArgumentError as error:
            seen.append(type(error).__name__)
    v.assign([0.0, 0.0, 0.0])
    return [*seen, f(tf.constant(2)), v]


@case()
def error_under_a_tape() -> Any:
    v = tf.Variable([[1.0, 2.0]])
    f = tf.function(lambda a: tf.matmul(a, v), input_signature=[ANY])
    with tf.GradientTape() as tape:
        loss = f(tf.ones([2, 3]))
    return tape.gradient(loss, v)


@case()
def tape_that_was_used_up() -> Any:
    v = tf.Variable(2.0)
    f = tf.function(lambda: v * v)
    with tf.GradientTape() as tape:
        loss = f()
    return tape.gradient(loss, v), tape.gradient(loss, v)


@case()
def tensor_of_a_function_used_outside() -> Any:
    leaked: list[tf.Tensor] = []

    @tf.function
    def f(a: tf.Tensor) -> tf.Tensor:
        leaked.append(a * 2)
        return a

    f(tf.constant(1.0))
    try:
        return leaked[0] + 1
    except TypeError as error:
        return type(error).__name__


@case()
def assertion_in_a_function_of_a_function() -> Any:
    @tf.function
    def inner(a: tf.Tensor) -> None:
        tf.debugging.assert_positive(a, message="inner")

    @tf.function
    def outer(a: tf.Tensor) -> tf.Tensor:
        inner(a)
        return tf.identity(a)

    return outer(tf.constant(1.0)), outer(tf.constant(-1.0))
