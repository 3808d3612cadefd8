"""Loops, branches and arrays of tensors inside of each other, with gradients of first and higher order."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from tests.legs.tf2.case import TRAINED, case

ROWS = tf.constant([[0.1, 0.2], [0.3, -0.4], [0.5, 0.6]])


def _weights() -> tf.Variable:
    return tf.Variable([[0.5, 0.1], [0.2, 0.4]])


@case()
def arrays_of_arrays_by_two_loops() -> Any:
    v = _weights()

    @tf.function
    def f(a: tf.Tensor, n: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            outer = tf.TensorArray(tf.float32, 0, dynamic_size=True, clear_after_read=False)
            for i in tf.range(n):
                inner, state = tf.TensorArray(tf.float32, n), a
                for j in tf.range(n):
                    state = tf.tanh(state @ v) if (i + j) % 2 == 0 else state * 0.9
                    inner = inner.write(j, tf.reduce_sum(state))
                outer = outer.write(i, inner.stack())
            loss = tf.reduce_sum(outer.stack() ** 2)
        return loss, tape.gradient(loss, v), outer.read(0)

    return f(ROWS, tf.constant(3)), f(ROWS, tf.constant(2))


@case()
def array_filled_in_branches() -> Any:
    @tf.function
    def f(a: tf.Tensor, k: tf.Tensor) -> Any:
        made = tf.TensorArray(tf.float32, 2)
        made = made.write(0, a).write(1, a * 2) if k > 0 else made.write(0, a * 3).write(1, a * 4)
        return made.stack(), made.size()

    return f(ROWS, tf.constant(1)), f(ROWS, tf.constant(-1))


@case()
def gradients_of_maps_and_scans() -> Any:
    v = _weights()

    @tf.function
    def f(a: tf.Tensor) -> Any:
        with tf.GradientTape(persistent=True) as tape:
            mapped = tf.reduce_sum(tf.map_fn(lambda row: tf.tanh(tf.linalg.matvec(v, row)), a) ** 2)
            scanned = tf.scan(lambda state, row: tf.tanh(tf.linalg.matvec(v, state)) + row, a, tf.zeros([2]))
            loss = tf.reduce_sum(scanned**2)
        return mapped, tape.gradient(mapped, v), scanned, tape.gradient(loss, v)

    return f(ROWS)


@case()
def loop_with_the_most_turns() -> Any:
    @tf.function
    def f(a: tf.Tensor) -> Any:
        turns, state = tf.while_loop(
            lambda i, s: tf.reduce_sum(s) < 50,
            lambda i, s: (i + 1, s * 1.5 + 0.1),
            (tf.constant(0), a),
            maximum_iterations=7,
            shape_invariants=(tf.TensorShape([]), tf.TensorShape([None, 2])),
        )
        return turns, state, tf.gradients(state, a)

    return f(ROWS)


@case()
def gradients_of_each_of_three_branches() -> Any:
    v = _weights()

    @tf.function
    def f(k: tf.Tensor, a: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.switch_case(k, [lambda: a @ v, lambda: tf.sin(a @ v), lambda: tf.exp(a) @ v]))
        return loss, tape.gradient(loss, v)

    return [f(tf.constant(k), ROWS) for k in range(3)]


@case()
def computed_again_with_a_branch_inside() -> Any:
    v = _weights()
    block = tf.recompute_grad(lambda a: tf.cond(tf.reduce_sum(a) > 0, lambda: tf.tanh(a @ v), lambda: a @ v))

    @tf.function
    def f(a: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(block(block(a)))
        return loss, tape.gradient(loss, v)

    return f(ROWS), f(-ROWS)


@case(TRAINED)
def penalty_on_a_gradient() -> Any:
    layers = tf.keras.layers
    inner = [layers.Conv2D(3, 3, padding="same"), layers.BatchNormalization(), layers.LeakyReLU(), layers.Flatten()]
    model = tf.keras.Sequential([tf.keras.Input((6, 6, 2)), *inner, layers.Dense(1)])

    @tf.function
    def f(images: tf.Tensor) -> Any:
        with tf.GradientTape() as outer:
            with tf.GradientTape() as tape:
                tape.watch(images)
                said = model(images, training=True)
            slope = tf.reshape(tape.gradient(said, images), [2, -1])
            penalty = tf.reduce_mean((tf.norm(slope, axis=1) - 1) ** 2)
        return penalty, outer.gradient(penalty, model.trainable_variables, unconnected_gradients="zero")

    return f(tf.reshape(tf.range(144.0), [2, 6, 6, 2]) / 144)


@case(TRAINED)
def gradient_of_what_a_recurrent_layer_is_given() -> Any:
    layer = tf.keras.layers.GRU(3)

    @tf.function
    def f(a: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(a)
            loss = tf.reduce_sum(layer(a) ** 2)
        return loss, tape.gradient(loss, a)

    return f(tf.reshape(tf.range(24.0), [2, 4, 3]) / 24)
