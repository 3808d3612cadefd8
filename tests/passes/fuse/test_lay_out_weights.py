"""Weights that many products of few rows share are laid out once: TensorFlow's values, and never a weight that has changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from npu_runtime.executor.program import Task
from npu_runtime.passes.fuse import lay_out_weights
from tests.runtime.device import device_of, device_session

ROWS, UNITS = 5, 150


@pytest.fixture(autouse=True)
def small_weights(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Whatever the processor's kernels, and without weights of megabytes."""
    monkeypatch.setattr(lay_out_weights, "ROWS", range(2, 65))
    monkeypatch.setattr(lay_out_weights, "LEAST_BYTES", 0)
    with tf.Graph().as_default():
        tf.set_random_seed(3)
        yield


def steps_of(session: tf.Session) -> tuple[Counter[str], Counter[str]]:
    """Steps of the last request by op: outside of loops, and inside of them."""
    runners = [runner for plan in list(device_of(session)._plans.values())[-1:] for runner in plan.runners.values()]
    programs = [(runner.program, 0) for runner in runners]
    found = Counter[str](), Counter[str]()
    while programs:
        program, is_inside = programs.pop()
        programs += [(loop.program, 1) for loop in program.loops]
        found[is_inside].update(step.op for step in program.steps if isinstance(step, Task))
    return found


def compare(fetches: Any, n_runs: int = 3) -> tuple[Counter[str], Counter[str]]:
    """Some runs of the same fetches on TensorFlow and on the device.  Returns: see `steps_of`."""
    with tf.Session() as plain, device_session() as session:
        for one in (plain, session):
            one.run(tf.global_variables_initializer())
        for _ in range(n_runs):
            for theirs, mine in zip(plain.run(fetches), session.run(fetches), strict=True):
                np.testing.assert_allclose(mine, theirs, rtol=0, atol=3e-5 * np.abs(theirs).max())
        return steps_of(session)


def inputs(n_steps: int) -> tf.Tensor:
    return tf.constant(np.random.default_rng(1).standard_normal((ROWS, n_steps, 40)).astype(np.float32))


def trained(outputs: tf.Tensor) -> list[Any]:
    loss = tf.reduce_mean(tf.square(outputs))
    with tf.control_dependencies([tf.train.MomentumOptimizer(0.5, 0.9).minimize(loss)]):
        return [loss, tf.identity(outputs), *[variable.read_value() for variable in tf.trainable_variables()]]


@pytest.mark.whole(beyond=2)
@pytest.mark.parametrize("is_resource", [False, True])
@pytest.mark.parametrize(("n_steps", "n_laid_out", "n_products"), [(9, 1, 9), (17, 2, 33)])
def test_the_weight_of_an_unrolled_network(n_steps: int, n_laid_out: int, n_products: int, is_resource: bool) -> None:
    """The first step has no state that a gradient would go to; fewer of the gradient's products do not repay panels."""
    with tf.variable_scope("net", use_resource=is_resource):
        outputs, _ = tf.nn.static_rnn(tf.nn.rnn_cell.LSTMCell(UNITS), tf.unstack(inputs(n_steps), axis=1), dtype=tf.float32)
        outside, _ = compare(trained(tf.stack(outputs)))
    assert (outside["_Panels"], outside["_PanelMatMul"]) == (n_laid_out, n_products)


@pytest.mark.parametrize("cell", [tf.nn.rnn_cell.LSTMCell, tf.nn.rnn_cell.GRUCell])
def test_the_weights_of_a_loop(cell: Callable[..., Any]) -> None:
    """Of one that stays a loop: no known cell has a sine."""
    outputs, _ = tf.nn.dynamic_rnn(cell(UNITS, activation=tf.sin), inputs(4), dtype=tf.float32)
    outside, inside = compare(trained(outputs))
    assert outside["_Panels"] == inside["_PanelMatMul"] == (2 if cell is tf.nn.rnn_cell.LSTMCell else 4)


def test_the_weight_of_a_loop_in_a_loop() -> None:
    w = tf.get_variable("w", [UNITS, UNITS], initializer=tf.random_normal_initializer(stddev=0.05, seed=1))
    start = tf.constant(np.random.default_rng(2).standard_normal((ROWS, UNITS)).astype(np.float32))

    def inner(x: tf.Tensor) -> tf.Tensor:
        return tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, tf.tanh(tf.matmul(x, w))), (0, x))[1]

    made = tf.while_loop(lambda i, x: i < 2, lambda i, x: (i + 1, inner(x) * 2.0), (0, start))[1]
    _, inside = compare([made, *tf.gradients(made, [w, start])])
    assert inside["_Panels"] == inside["_PanelMatMul"] == 2


@pytest.mark.parametrize("is_resource", [False, True])
def test_a_weight_that_a_loop_reads_both_ways(is_resource: bool) -> None:
    start = tf.random_normal_initializer(stddev=0.05, seed=1)
    w = tf.get_variable("w", [UNITS, UNITS + 20], initializer=start, use_resource=is_resource)
    x = tf.constant(np.random.default_rng(2).standard_normal((ROWS, UNITS)).astype(np.float32))
    made = tf.while_loop(
        lambda i, x: i < 3, lambda i, x: (i + 1, tf.matmul(tf.tanh(tf.matmul(x, w)), w, transpose_b=True)), (0, x)
    )
    outside, inside = compare([made[1]])
    assert outside["_Panels"] == inside["_PanelMatMul"] == 2


def test_few_products_read_a_weight_as_it_is() -> None:
    w = tf.get_variable("w", [UNITS, UNITS], initializer=tf.random_normal_initializer(stddev=0.05, seed=1))
    made = [tf.matmul(tf.fill([ROWS, UNITS], float(i)), w) for i in range(7)]
    outside, _ = compare(made)
    assert not outside["_Panels"]


def test_a_weight_that_changes_between_products_is_read_again() -> None:
    w = tf.get_variable("w", [UNITS, UNITS], initializer=tf.random_normal_initializer(stddev=0.05, seed=1), use_resource=False)
    x, made = tf.ones([ROWS, UNITS]), []
    for i in range(10):
        with tf.control_dependencies([made[-1]] if made else []):
            product = tf.matmul(x + float(i), w)
        with tf.control_dependencies([product]), tf.control_dependencies([w.assign_add(tf.ones_like(w))] if i == 4 else []):
            made.append(tf.identity(product))
    outside, _ = compare(made)
    assert not outside["_Panels"]


def test_a_weight_that_its_loop_changes_is_read_again() -> None:
    w = tf.get_variable("w", [UNITS, UNITS], initializer=tf.random_normal_initializer(stddev=0.05, seed=1), use_resource=False)
    start = tf.constant(np.random.default_rng(2).standard_normal((ROWS, UNITS)).astype(np.float32))

    def body(i: tf.Tensor, x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        product = tf.matmul(x, w)
        with tf.control_dependencies([product]), tf.control_dependencies([w.assign(w * 0.5)]):
            return i + 1, tf.identity(product)

    _, made = tf.while_loop(lambda i, x: i < 3, body, (0, start), parallel_iterations=1)
    outside, inside = compare([made])
    assert not outside["_Panels"]
    assert not inside["_PanelMatMul"]


@pytest.mark.parametrize("is_resource", [False, True])
@pytest.mark.parametrize("is_taken", [False, True])
def test_the_weight_of_a_branch(is_resource: bool, is_taken: bool) -> None:
    """Laid out or not, what is dead makes nothing else dead."""
    start = tf.random_normal_initializer(stddev=0.05, seed=1)
    w = tf.get_variable("w", [UNITS, UNITS], initializer=start, use_resource=is_resource)
    x, p = tf.ones([ROWS, UNITS]), tf.get_variable("p", [], tf.bool, tf.constant_initializer(is_taken))
    products = lambda: tf.add_n([tf.matmul(x * float(i), w) for i in range(9)])  # noqa: E731
    compare([tf.cond(p, products, lambda: x * 3.0), products()])


def test_the_weights_that_a_layer_reads_in_its_loop() -> None:
    outside, inside = compare(trained(tf.keras.layers.SimpleRNN(UNITS, return_sequences=True)(inputs(4))))
    assert outside["_Panels"] == inside["_PanelMatMul"] == 2


@pytest.mark.parametrize("is_before", [False, True])
def test_a_resource_variable_that_is_written_between_its_reads_is_read_again(is_before: bool) -> None:
    w = tf.get_variable("w", [UNITS, UNITS], initializer=tf.random_normal_initializer(stddev=0.05, seed=1), use_resource=True)
    x, made = tf.ones([ROWS, UNITS]), []
    for i in range(10):
        with tf.control_dependencies([made[-1]] if made else []):
            product = tf.matmul(x + float(i), w)
        writes = i == 4 or (is_before and i == 0)
        with tf.control_dependencies([product]), tf.control_dependencies([w.assign_add(tf.ones_like(w))] if writes else []):
            made.append(tf.identity(product))
    outside, _ = compare(made)
    assert not outside["_Panels"]


def test_a_resource_variable_that_its_loop_writes_is_read_again() -> None:
    w = tf.get_variable("w", [UNITS, UNITS], initializer=tf.random_normal_initializer(stddev=0.05, seed=1), use_resource=True)
    start = tf.constant(np.random.default_rng(2).standard_normal((ROWS, UNITS)).astype(np.float32))

    def body(i: tf.Tensor, x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        product = tf.matmul(x, w)
        with tf.control_dependencies([product]), tf.control_dependencies([w.assign(w * 0.5)]):
            return i + 1, tf.identity(product)

    _, made = tf.while_loop(lambda i, x: i < 3, body, (0, start), parallel_iterations=1)
    outside, inside = compare([made])
    assert not outside["_Panels"]
    assert not inside["_PanelMatMul"]


def test_a_loop_reads_a_weight_after_what_it_waits_for() -> None:
    w = tf.get_variable("w", [UNITS, UNITS], initializer=tf.random_normal_initializer(stddev=0.05, seed=1), use_resource=True)
    with tf.control_dependencies([w.assign(w * 0.5)]):
        first = tf.identity(0)
        start = tf.identity(np.random.default_rng(2).standard_normal((ROWS, UNITS)).astype(np.float32))
    made = tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, tf.tanh(tf.matmul(x, w))), (first, start))[1]
    outside, inside = compare([made])
    assert outside["_Panels"] == inside["_PanelMatMul"] == 1
