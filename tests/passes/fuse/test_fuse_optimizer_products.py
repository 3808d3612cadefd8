"""Gradients that are products, made inside the optimizer that takes them: TensorFlow's values, and where it is left."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from npu_runtime.executor.program import Program, Task
from npu_runtime.kernels.fused.optimizer_products import APPLY_PRODUCT
from npu_runtime.kernels.threads import parallel
from npu_runtime.passes.fuse.fuse_optimizer_products import MOST_SUMMED
from tests.runtime.device import device_of, device_session

OPTIMIZERS: dict[str, Callable[[], Any]] = {
    "Adam": lambda: tf.train.AdamOptimizer(0.01, epsilon=0.1),
    "Momentum": lambda: tf.train.MomentumOptimizer(0.01, 0.9, use_nesterov=True),
    "GradientDescent": lambda: tf.train.GradientDescentOptimizer(0.1),
    "RMSProp": lambda: tf.train.RMSPropOptimizer(0.01, momentum=0.5),
    "Ftrl": lambda: tf.train.FtrlOptimizer(0.1),
}
LARGE = (1500, 211)
"""Several tiles of whole rows, none of them a multiple of what a vector holds."""


@pytest.fixture(autouse=True)
def fresh_graph():
    with tf.Graph().as_default():
        yield


def _variable(shape: tuple[int, ...] = LARGE, is_resource: bool = False, name: str = "v") -> tf.Variable:
    return tf.get_variable(name, shape, initializer=tf.random_normal_initializer(seed=1), use_resource=is_resource)


def _rows(count: int, width: int, seed: int = 0) -> tf.Tensor:
    """Rows that a feed could hold, so that they are not folded into a constant."""
    return tf.placeholder_with_default(np.random.default_rng(seed).normal(size=(count, width)).astype(np.float32), (count, width))


def _step(name: str, variable: tf.Variable, count: int = 5) -> Any:
    x = _rows(count, variable.shape[0].value)
    return OPTIMIZERS[name]().minimize(tf.reduce_mean(tf.square(tf.matmul(x, variable) - 1.0)), var_list=[variable])


def _trained(session: tf.Session, step: Any) -> list[np.ndarray]:
    session.run(tf.global_variables_initializer())
    for _ in range(3):
        session.run(step)
    return session.run(tf.global_variables())


def _program(session: tf.Session) -> Program:
    programs = [runner.program for plan in device_of(session)._plans.values() for runner in plan.runners.values()]
    return max(programs, key=lambda program: sum("Apply" in op for op in _ops(program)))


def _compare(step: Any) -> tuple[Program, Program]:
    """The programs with and without fusion; what they train is what TensorFlow trains."""
    with tf.Session() as session:
        theirs = _trained(session, step)
    programs = []
    for options in ({}, {"track_nan": "log"}):  # nothing is fused then, and constants are folded all the same
        with device_session(**options) as session:
            for mine, expected in zip(_trained(session, step), theirs, strict=True):
                np.testing.assert_allclose(mine, expected, rtol=2e-5, atol=4e-6)
            programs.append(_program(session))
    return programs[0], programs[1]


def _ops(program: Program) -> list[str]:
    return [step.op for step in program.steps if isinstance(step, Task)]


@pytest.mark.parametrize("is_resource", [False, True], ids=["ref", "resource"])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_product_is_made_in_the_optimizer_s_tiles(name: str, is_resource: bool) -> None:
    program, plain = _compare(_step(name, _variable(is_resource=is_resource)))
    assert _ops(program).count(APPLY_PRODUCT) == 1
    assert APPLY_PRODUCT not in _ops(plain)
    assert program.device_flops + sum(program.unread_flops.values()) == plain.device_flops + sum(plain.unread_flops.values())


def test_a_layer_s_variable_is_read_for_the_gradient_of_its_input_before_it_is_updated() -> None:
    """TensorFlow makes each gradient of an op wait for the others (tf.tuple), as some of them read what is updated."""
    first, second = _variable((300, 400), name="first"), _variable((400, 211), name="second")
    out = tf.matmul(tf.tanh(tf.matmul(_rows(5, 300) * 0.03, first)), second) * 0.03
    step = tf.train.GradientDescentOptimizer(0.5).minimize(tf.reduce_mean(tf.square(out - 1.0)))
    program, _ = _compare(step)
    assert _ops(program).count(APPLY_PRODUCT) == 2


@pytest.mark.parametrize("turned", [(False, False), (True, False), (False, True), (True, True)], ids=str)
def test_factors_lie_as_the_graph_has_them(turned: tuple[bool, bool]) -> None:
    variable = _variable((400, 301))
    factors = [_rows(*((count, width) if not is_turned else (width, count)), seed=count)
               for (count, width), is_turned in zip(((400, 7), (7, 301)), turned, strict=True)]  # fmt: skip
    gradient = tf.matmul(*factors, transpose_a=turned[0], transpose_b=turned[1])
    program, _ = _compare(tf.train.MomentumOptimizer(0.1, 0.5).apply_gradients([(gradient, variable)]))
    assert APPLY_PRODUCT in _ops(program)


def test_rows_longer_than_half_of_the_variable_and_a_single_one_each_tile() -> None:
    program, _ = _compare(_step("Adam", _variable((3, 150_000)), count=1))
    assert APPLY_PRODUCT in _ops(program)


def test_the_number_of_threads_does_not_show() -> None:
    step, found = _step("Adam", _variable((700, 900)), count=64), []
    threads = parallel.n_threads()
    try:
        for count in (1, 2, 3):
            parallel.set_n_threads(count)
            with device_session() as session:
                found.append(_trained(session, step))
    finally:
        parallel.set_n_threads(threads)
    for other in found[1:]:
        for mine, expected in zip(other, found[0], strict=True):
            np.testing.assert_array_equal(mine, expected)


def _gradient(variable: tf.Variable) -> tf.Tensor:
    return tf.gradients(tf.reduce_mean(tf.square(tf.matmul(_rows(5, LARGE[0]), variable) - 1.0)), variable)[0]


def _fetched(variable: tf.Variable) -> Any:
    gradient = _gradient(variable)
    return [OPTIMIZERS["Adam"]().apply_gradients([(gradient, variable)]), gradient]


def _read_twice(variable: tf.Variable) -> Any:
    gradient = _gradient(variable)
    total = tf.reduce_sum(gradient)
    return [OPTIMIZERS["Adam"]().apply_gradients([(gradient, variable)]), total]


def _waited_for(variable: tf.Variable) -> Any:
    gradient = _gradient(variable)
    with tf.control_dependencies([gradient]):
        counted = _rows(1, 1) + 1.0
    return [OPTIMIZERS["Adam"]().apply_gradients([(gradient, variable)]), counted]


def _of_many_rows(variable: tf.Variable) -> Any:
    return _step("Adam", variable, count=MOST_SUMMED + 1)


def _small(variable: tf.Variable) -> Any:
    return _step("Adam", _variable((30, 20), name="small"))


def _of_a_variable(variable: tf.Variable) -> Any:
    """A factor that is a variable's memory, which may change before the update."""
    other = _variable((LARGE[0], 5), name="other")
    gradient = tf.matmul(other.value(), _rows(5, LARGE[1]))
    return OPTIMIZERS["GradientDescent"]().apply_gradients([(gradient, variable)])


@pytest.mark.parametrize("build", [_fetched, _read_twice, _waited_for, _of_many_rows, _small, _of_a_variable])
def test_other_products_stay_by_themselves(build: Callable[[tf.Variable], Any]) -> None:
    program, _ = _compare(build(_variable()))
    assert APPLY_PRODUCT not in _ops(program)


def test_a_gradient_of_another_shape_is_an_error() -> None:
    factors = [tf.placeholder(tf.float32) for _ in range(2)]
    step = tf.raw_ops.ApplyGradientDescent(var=_variable()._ref(), alpha=0.5, delta=tf.matmul(*factors))
    given = {factors[0]: np.ones((1500, 5), np.float32), factors[1]: np.ones((5, 210), np.float32)}
    with device_session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="do not have the same shape"):
        session.run(tf.global_variables_initializer())
        session.run(step, given)
