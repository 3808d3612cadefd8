"""Gradients: tapes inside and outside of functions, of higher orders, of control flow, and those that a script defines."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from tests.legs.tf2.case import TRAINED, case


@case()
def tape_inside() -> Any:
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])

    @tf.function
    def f(a: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(a)
            loss = tf.reduce_sum(tf.tanh(a @ v) ** 2)
        return [loss, *tape.gradient(loss, [a, v])]

    return f(tf.constant([[0.1, 0.2]])), f(tf.constant([[0.3, -0.2], [0.5, 0.1]]))


@case()
def tape_outside() -> Any:
    v, w = tf.Variable([[1.0, 2.0], [3.0, 4.0]]), tf.Variable([0.5, 0.25])
    f = tf.function(lambda a: tf.reduce_mean((tf.tanh(a @ v) + w) ** 2))
    seen = []
    for step in range(3):
        with tf.GradientTape() as tape:
            loss = f(tf.constant([[0.1, 0.2 + 0.1 * step]]))
        gradients = tape.gradient(loss, [v, w])
        v.assign_sub(gradients[0])
        w.assign_sub(0.5 * gradients[1])
        seen += [loss, *gradients]
    return seen, v, w


@case()
def tape_outside_of_two_functions_and_eager_code() -> Any:
    v = tf.Variable([1.0, 2.0])
    first, second = tf.function(lambda a: tf.sin(a * v)), tf.function(lambda a: tf.reduce_sum(a**3 * v))
    with tf.GradientTape(persistent=True) as tape:
        hidden = first(tf.constant([0.5, 0.25])) + v
        loss = second(hidden * 2)
    v.assign([5.0, 5.0])
    return loss, tape.gradient(loss, v), tape.gradient(loss, hidden), tape.gradient(hidden, v)


@case()
def second_order() -> Any:
    v = tf.Variable([1.0, 2.0])

    @tf.function
    def f(a: tf.Tensor) -> Any:
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                loss = tf.reduce_sum(tf.exp(a * v) * v)
            gradient = inner.gradient(loss, v)
        return gradient, outer.gradient(gradient, v)

    return f(tf.constant([0.5, 0.25]))


@case()
def second_order_outside() -> Any:
    v = tf.Variable([1.0, 2.0])
    f = tf.function(lambda a: tf.reduce_sum(tf.exp(a * v) * v))
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            loss = f(tf.constant([0.5, 0.25]))
        gradient = inner.gradient(loss, v)
    return loss, gradient, outer.gradient(gradient, v)


@case()
def jacobians() -> Any:
    @tf.function
    def f(a: tf.Tensor) -> Any:
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(a)
            b = tf.stack([a[:, 0] * a[:, 1], tf.sin(a[:, 0]), a[:, 1] ** 2], 1)
        return tape.batch_jacobian(b, a), tape.jacobian(b, a, experimental_use_pfor=False)

    return f(tf.constant([[1.0, 2.0], [3.0, 4.0]]))


@case()
def jacobian_outside() -> Any:
    f, a = tf.function(lambda a: tf.sin(a) * tf.reduce_sum(a)), tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(a)
        b = f(a)
    return tape.jacobian(b, a)


@case()
def forward_mode() -> Any:
    f, a = tf.function(lambda a: tf.reduce_sum(tf.sin(a) * a)), tf.constant([1.0, 2.0])
    with tf.autodiff.ForwardAccumulator(a, tf.constant([1.0, 0.5])) as accumulator:
        b = f(a)
    return b, accumulator.jvp(b)


@case()
def of_a_loop() -> Any:
    v = tf.Variable([[0.5, 0.1], [0.2, 0.4]])

    @tf.function
    def f(a: tf.Tensor, n: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            state = a
            for _ in tf.range(n):
                state = tf.tanh(state @ v)
            loss = tf.reduce_sum(state)
        return loss, tape.gradient(loss, v)

    a = tf.constant([[1.0, 2.0]])
    return f(a, tf.constant(1)), f(a, tf.constant(6)), f(a, tf.constant(0))


@case()
def of_a_loop_outside() -> Any:
    v = tf.Variable([[0.5, 0.1], [0.2, 0.4]])

    @tf.function
    def f(a: tf.Tensor, n: tf.Tensor) -> Any:
        for _ in tf.range(n):
            a = tf.tanh(a @ v)
        return tf.reduce_sum(a)

    with tf.GradientTape() as tape:
        loss = f(tf.constant([[1.0, 2.0]]), tf.constant(4))
    return loss, tape.gradient(loss, v)


@case()
def of_a_branch() -> Any:
    v, w = tf.Variable(2.0), tf.Variable(3.0)

    @tf.function
    def f(a: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            loss = a * v * v if a > 0 else tf.sin(w) * a
        return loss, tape.gradient(loss, [v, w], unconnected_gradients="zero")

    return f(tf.constant(2.0)), f(tf.constant(-2.0))


@case()
def none_where_nothing_leads() -> Any:
    v, w = tf.Variable(2.0), tf.Variable(3.0)
    f = tf.function(lambda: v * 2)
    with tf.GradientTape(persistent=True) as tape:
        loss = f()
        cut = tf.stop_gradient(f()) * w
    return tape.gradient(loss, [v, w]), tape.gradient(cut, [v, w])


@case()
def defined_by_the_script() -> Any:
    @tf.custom_gradient
    def clipped(a: tf.Tensor) -> Any:
        return a * 2, lambda upstream: tf.clip_by_value(upstream, -0.1, 0.1)

    v = tf.Variable([1.0, 2.0])
    inner = tf.function(lambda a: clipped(a * v))

    @tf.function
    def f(a: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(inner(a) ** 2)
        return loss, tape.gradient(loss, v)

    with tf.GradientTape() as tape:
        outside = tf.reduce_sum(inner(tf.constant([3.0, 4.0])))
    return f(tf.constant([3.0, 4.0])), tape.gradient(outside, v)


@case()
def defined_with_variables() -> Any:
    v = tf.Variable([1.0, 2.0])

    @tf.custom_gradient
    def scaled(a: tf.Tensor) -> Any:
        def gradient(upstream: tf.Tensor, variables: Any = None) -> Any:
            return upstream * 10, [upstream * 100 for _ in variables]

        return a * v, gradient

    @tf.function
    def f(a: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(a)
            loss = tf.reduce_sum(scaled(a))
        return tape.gradient(loss, [a, v])

    return f(tf.constant([3.0, 4.0]))


@case()
def computed_again_on_the_way_back() -> Any:
    v = tf.Variable([[0.5, 0.1], [0.2, 0.4]])
    block = tf.recompute_grad(lambda a: tf.tanh(tf.tanh(a @ v) @ v))

    @tf.function
    def f(a: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(block(block(a)))
        return loss, tape.gradient(loss, v)

    return f(tf.constant([[1.0, 2.0]]))


@case()
def of_rows_of_a_table() -> Any:
    v = tf.Variable(tf.reshape(tf.range(12.0), [6, 2]))

    @tf.function
    def f(ids: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.nn.embedding_lookup(v, ids) ** 2)
        gradient = tape.gradient(loss, v)
        v.scatter_sub(tf.IndexedSlices(gradient.values * 0.1, gradient.indices))
        return gradient

    first = f(tf.constant([1, 1, 4]))
    return first.values, first.indices, v, tf.convert_to_tensor(f(tf.constant([0, 5, 5])))


@case()
def by_tf_gradients() -> Any:
    v = tf.Variable([1.0, 2.0])

    @tf.function
    def f(a: tf.Tensor) -> Any:
        loss = tf.reduce_sum(tf.math.softplus(a * v))
        return tf.gradients(loss, [a]) + tf.hessians(loss, a)

    return f(tf.constant([0.5, -0.5]))


@case()
def accumulated_over_calls() -> Any:
    v, total = tf.Variable([1.0, 2.0]), tf.Variable([0.0, 0.0], trainable=False)

    @tf.function
    def accumulate(a: tf.Tensor) -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((a * v) ** 2)
        total.assign_add(tape.gradient(loss, v))

    @tf.function
    def apply() -> None:
        v.assign_sub(0.01 * total)
        total.assign(tf.zeros_like(total))

    seen = []
    for step in range(6):
        accumulate(tf.constant([1.0 + step, 0.5]))
        if step % 3 == 2:
            apply()
            seen.append(v.numpy().copy())
    return seen, total


@case(TRAINED)
def of_many_operators() -> Any:
    image, kernel = tf.Variable(tf.random.normal([2, 6, 6, 3])), tf.Variable(tf.random.normal([3, 3, 3, 4]) * 0.3)

    @tf.function
    def f() -> Any:
        with tf.GradientTape() as tape:
            hidden = tf.nn.max_pool2d(tf.nn.relu6(tf.nn.conv2d(image, kernel, 1, "SAME")), 2, 2, "VALID")
            normal = (hidden - tf.reduce_mean(hidden, [1, 2], keepdims=True)) / (
                tf.math.reduce_std(hidden, [1, 2], keepdims=True) + 0.1
            )
            loss = tf.reduce_sum(tf.nn.log_softmax(tf.reshape(normal, [2, -1]))[:, 3]) + tf.linalg.det(normal[0, :3, :3, 0])
        return [loss, *tape.gradient(loss, [image, kernel])]

    return f()
