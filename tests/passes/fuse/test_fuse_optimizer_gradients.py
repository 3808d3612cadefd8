"""Gradients made inside the optimizer that takes them: the bits of single nodes, TensorFlow's values, and where it is left."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from npu_runtime.executor.program import Program, Task
from npu_runtime.kernels.fused.optimizer_regions import APPLY_REGION
from tests.runtime.device import device_of, device_session

LARGE, MEDIUM, SMALL = (1500, 211), (181, 182), (7, 3)
"""Several tiles, one tile, and too small to be worth it."""
OPTIMIZERS: dict[str, Callable[[], Any]] = {
    "Adam": lambda: tf.train.AdamOptimizer(0.01, epsilon=0.1),
    "Momentum": lambda: tf.train.MomentumOptimizer(0.01, 0.9, use_nesterov=True),
    "GradientDescent": lambda: tf.train.GradientDescentOptimizer(0.1),
    "RMSProp": lambda: tf.train.RMSPropOptimizer(0.01, momentum=0.5),
    "Adagrad": lambda: tf.train.AdagradOptimizer(0.1),
    "Ftrl": lambda: tf.train.FtrlOptimizer(0.1),
}
Gradients = Callable[[list[tf.Tensor], list[tf.Variable]], list[tf.Tensor]]


@pytest.fixture(autouse=True)
def fresh_graph():
    with tf.Graph().as_default():
        yield


def _variables(is_resource: bool, shapes: Any = (LARGE, MEDIUM, SMALL)) -> list[tf.Variable]:
    make = tf.random_normal_initializer
    return [
        tf.get_variable(f"v{i}", shape, initializer=make(seed=i + 1), use_resource=is_resource) for i, shape in enumerate(shapes)
    ]


def _clipped(gradients: list[tf.Tensor], variables: list[tf.Variable]) -> list[tf.Tensor]:
    return tf.clip_by_global_norm(gradients, 1.5)[0]


def _decayed(gradients: list[tf.Tensor], variables: list[tf.Variable]) -> list[tf.Tensor]:
    return [tf.add_n([g, v.value() * 0.3]) for g, v in zip(gradients, variables, strict=True)]


def _as_they_are(gradients: list[tf.Tensor], variables: list[tf.Variable]) -> list[tf.Tensor]:
    return gradients


def _step(optimizer: Any, variables: list[tf.Variable], change: Gradients) -> Any:
    """Gradients that come out of matrix products, changed, then applied."""
    loss = tf.add_n([tf.reduce_sum(tf.tanh(tf.matmul(v, tf.ones([v.shape[1], 3]) * 0.1))) for v in variables])
    gradients = change(tf.gradients(loss, variables), variables)
    return optimizer.apply_gradients(list(zip(gradients, variables, strict=True)))


def _trained(session: tf.Session, step: Any, values: list[Any]) -> list[np.ndarray]:
    session.run(tf.global_variables_initializer())
    for _ in range(3):
        session.run(step)
    return session.run(values)


def _program(session: tf.Session, step: Any) -> Program:
    """The program of a step."""
    session.run(step)
    programs = [runner.program for plan in device_of(session)._plans.values() for runner in plan.runners.values()]
    return max(programs, key=lambda program: sum("Apply" in op for op in _ops(program)))


def _compare(step: Any) -> tuple[Program, Program]:
    """The programs with and without fusion, whose values are the same and TensorFlow's."""
    values = tf.global_variables()
    with tf.Session() as session:
        theirs = _trained(session, step, values)
    with device_session() as session:
        fused, program = _trained(session, step, values), _program(session, step)
    with device_session(track_nan="log") as session:  # nothing is fused then, and constants are folded all the same
        single, plain = _trained(session, step, values), _program(session, step)
    for mine, other, expected in zip(fused, single, theirs, strict=True):
        np.testing.assert_array_equal(mine, other)
        np.testing.assert_allclose(mine, expected, rtol=2e-5, atol=2e-6)
    return program, plain


def _ops(program: Program) -> list[str]:
    return [step.op for step in program.steps if isinstance(step, Task)]


@pytest.mark.whole(beyond=4)
@pytest.mark.parametrize("change", [_clipped, _decayed], ids=["clipped", "decayed"])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_gradients_are_made_in_the_optimizer_s_tiles(name: str, change: Gradients) -> None:
    program, plain = _compare(_step(OPTIMIZERS[name](), _variables(is_resource=False), change))
    assert _ops(program).count(APPLY_REGION) == 2
    assert _ops(program).count(f"Apply{name}") == 1
    flops = program.device_flops + sum(program.unread_flops.values())
    assert flops == plain.device_flops + sum(plain.unread_flops.values())


def test_resource_variables_are_read_before_they_are_updated() -> None:
    """Weight decay holds what the variable was, so that an update in the same kernel would copy it first: two kernels."""
    variables = _variables(is_resource=True)
    clipped, _ = _compare(_step(tf.train.AdamOptimizer(0.01, epsilon=0.1), variables, _clipped))
    assert _ops(clipped).count(APPLY_REGION) == 2
    decayed, _ = _compare(_step(tf.train.MomentumOptimizer(0.01, 0.9), variables, _decayed))
    assert APPLY_REGION not in _ops(decayed)
    alone, _ = _compare(tf.train.GradientDescentOptimizer(0.1).apply_gradients([(v.value() * 0.5, v) for v in variables]))
    assert APPLY_REGION not in _ops(alone)


def test_what_others_see_or_wait_for_stays() -> None:
    variables = _variables(is_resource=False, shapes=(LARGE, MEDIUM, MEDIUM))
    seen: list[tf.Tensor] = []

    def doubled(gradients: list[tf.Tensor], variables: list[tf.Variable]) -> list[tf.Tensor]:
        seen.extend(g * 2.0 for g in gradients)
        return seen

    step = _step(tf.train.GradientDescentOptimizer(0.1), variables, doubled)
    norm = tf.reduce_sum(tf.square(seen[0]))
    with tf.control_dependencies([seen[1]]):
        counted = tf.constant(1.0) + norm
    program, _ = _compare([step, seen[2], counted])
    assert APPLY_REGION not in _ops(program)


def test_gradients_of_two_large_values_or_of_vectors_are_made_before() -> None:
    """The two would have to stay in memory until the update; a vector is not cut as the variable is."""
    variables = _variables(is_resource=False, shapes=(LARGE, LARGE, LARGE))

    def changed(gradients: list[tf.Tensor], variables: list[tf.Variable]) -> list[tf.Tensor]:
        slope = tf.linspace(0.0, 1.0, LARGE[1])
        return [gradients[0] * 0.5 + tf.square(gradients[1]), gradients[1] * slope, variables[2].value() * slope]

    program, _ = _compare(_step(tf.train.GradientDescentOptimizer(0.1), variables, changed))
    assert APPLY_REGION not in _ops(program)


def test_another_variable_is_read_where_nothing_writes_it_before() -> None:
    first, second = _variables(is_resource=False, shapes=(LARGE, LARGE))
    program, _ = _compare(tf.train.GradientDescentOptimizer(1.0).apply_gradients([(second.value() * 0.5, first)]))
    assert APPLY_REGION in _ops(program)


def test_another_variable_is_read_before_it_is_written() -> None:
    """The update waits for an assignment that waits for the gradient's reading."""
    first, second = _variables(is_resource=False, shapes=(LARGE, LARGE))
    gradient = second.value() * 0.5
    with tf.control_dependencies([second.value() * 2.0, gradient]):
        changed = tf.assign(second, tf.zeros(LARGE))
    alone = tf.identity(second.value(), name="alone")
    with tf.control_dependencies([changed]):
        step = tf.train.GradientDescentOptimizer(1.0).apply_gradients([(gradient, first)])
    program, _ = _compare([step, alone.op])
    assert APPLY_REGION not in _ops(program)


def test_a_variable_that_somebody_may_write_meanwhile_is_read_before() -> None:
    """Both variables are read for each other's update; nothing says which comes first."""
    first, second = _variables(is_resource=False, shapes=(LARGE, LARGE))
    gradients = [second.value() * 0.5, first.value() * 0.25]
    apply = tf.raw_ops.ApplyGradientDescent
    with tf.control_dependencies([g.op.inputs[0] for g in gradients]):
        steps = [apply(var=v._ref(), alpha=1.0, delta=g) for v, g in zip((first, second), gradients, strict=True)]
    with device_session() as session:
        session.run(tf.global_variables_initializer())
        program = _program(session, steps)
    assert APPLY_REGION not in _ops(program)


def test_control_edges_of_the_gradient_are_the_update_s() -> None:
    """The rate that the gradient is scaled by is set by a node that was made after the update."""
    (variable,) = _variables(is_resource=False, shapes=(LARGE,))
    rate = tf.get_variable("rate", [], initializer=tf.zeros_initializer(), use_resource=False)
    gradient = tf.random_uniform(LARGE, seed=1) * rate._ref()
    step = tf.train.GradientDescentOptimizer(1.0).apply_gradients([(gradient, variable)])
    gradient.op._add_control_input(tf.assign_add(rate, 2.0).op)
    program, _ = _compare(step)
    assert _ops(program).index("AssignAdd") < _ops(program).index(APPLY_REGION)


def test_a_gradient_of_another_shape_is_an_error() -> None:
    (variable,) = _variables(is_resource=False, shapes=(LARGE,))
    gradient = tf.placeholder(tf.float32) * 2.0
    step = tf.raw_ops.ApplyGradientDescent(var=variable._ref(), alpha=0.5, delta=gradient)
    with device_session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="do not have the same shape"):
        session.run(variable.initializer)
        session.run(step, {gradient.op.inputs[0]: np.ones(LARGE[::-1], np.float32)})
