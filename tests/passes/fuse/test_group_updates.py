"""Updates of small variables as one node: TensorFlow's values, the bits of single nodes, and where they are left alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from npu_runtime.executor.program import Task
from npu_runtime.kernels.fused.update_groups import APPLY_GROUP
from npu_runtime.passes.fuse.group_updates import LARGEST
from tests.runtime.device import device_of, device_session

SHAPES = ((3, 5), (7,), (), (LARGEST,), (LARGEST + 1,))
OPTIMIZERS: dict[str, Callable[[], Any]] = {
    "Adam": lambda: tf.train.AdamOptimizer(0.01, epsilon=0.1),
    "Momentum": lambda: tf.train.MomentumOptimizer(0.01, 0.9, use_nesterov=True),
    "GradientDescent": lambda: tf.train.GradientDescentOptimizer(0.1),
    "RMSProp": lambda: tf.train.RMSPropOptimizer(0.01, momentum=0.5),
    "Ftrl": lambda: tf.train.FtrlOptimizer(0.1),
    "Adagrad": lambda: tf.train.AdagradOptimizer(0.1),
}


@pytest.fixture(autouse=True)
def fresh_graph():
    with tf.Graph().as_default():
        yield


def _variables(shapes: Any = SHAPES, is_resource: bool = True) -> list[tf.Variable]:
    make = tf.random_normal_initializer(seed=1)
    return [tf.get_variable(f"v{i}", shape, initializer=make, use_resource=is_resource) for i, shape in enumerate(shapes)]


def _loss(variables: list[tf.Variable]) -> tf.Tensor:
    return tf.add_n([tf.reduce_sum(tf.square(one)) for one in variables])


def _trained(session: tf.Session, step: Any) -> list[np.ndarray]:
    session.run(tf.global_variables_initializer())
    for _ in range(3):
        session.run(step)
    values: list[np.ndarray] = session.run(tf.global_variables())
    return values


def _groups(session: tf.Session) -> list[int]:
    """The numbers of inputs of the groups of all programs."""
    programs = [runner.program for plan in device_of(session)._plans.values() for runner in plan.runners.values()]
    steps = [step for program in programs for step in program.steps if isinstance(step, Task) and step.op == APPLY_GROUP]
    return [len(step.ins) for step in steps]


def _both(step: Any) -> tuple[list[np.ndarray], list[np.ndarray], list[np.ndarray], list[int]]:
    with tf.Session() as session:
        theirs = _trained(session, step)
    with device_session(fusion="off") as session:
        single = _trained(session, step)
    with device_session() as session:
        ours = _trained(session, step)
        return ours, single, theirs, _groups(session)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_small_variables_are_updated_together_with_the_bits_of_single_nodes(name: str) -> None:
    ours, single, theirs, groups = _both(OPTIMIZERS[name]().minimize(_loss(_variables())))
    assert len(groups) == 1
    for mine, one, given in zip(ours, single, theirs, strict=True):
        np.testing.assert_array_equal(mine, one)
        np.testing.assert_allclose(mine, given, rtol=2e-6, atol=1e-7)


def test_updates_of_other_rates_make_other_groups() -> None:
    variables = _variables(((3,), (4,), (5,), (6,)))
    steps = [tf.train.GradientDescentOptimizer(rate).minimize(_loss(variables[i : i + 2])) for i, rate in ((0, 0.1), (2, 0.2))]
    ours, single, theirs, groups = _both(tf.group(*steps))
    assert len(groups) == 2
    for mine, one, given in zip(ours, single, theirs, strict=True):
        np.testing.assert_array_equal(mine, one)
        np.testing.assert_allclose(mine, given, rtol=2e-6)


def test_an_update_that_waits_for_another_one_stays_behind_it() -> None:
    """Each gradient needs the variable that was updated before."""
    step: Any = tf.no_op()
    for one in (variables := _variables(((3,), (3,), (3,)))):
        with tf.control_dependencies([step]):
            seen = tf.add_n([other.read_value() for other in variables])
        step = tf.raw_ops.ResourceApplyGradientDescent(var=one.handle, alpha=0.1, delta=seen)
    ours, _, theirs, groups = _both(step)
    assert not groups
    for mine, given in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(mine, given, rtol=2e-6)


def test_two_updates_of_one_variable_are_both_made() -> None:
    a, b = _variables(((3,), (3,)))
    apply = tf.raw_ops.ResourceApplyGradientDescent
    steps = [apply(var=one.handle, alpha=0.1, delta=[1.0, 2.0, 3.0]) for one in (a, b, a)]
    ours, _, theirs, _ = _both(tf.group(*steps))
    for mine, given in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(mine, given, rtol=2e-6)


def test_an_update_in_a_branch_is_left_there() -> None:
    variables, is_taken = _variables(((3,), (4,))), tf.placeholder_with_default(False, ())
    step = tf.cond(is_taken, lambda: OPTIMIZERS["Adam"]().minimize(_loss(variables)), tf.no_op)
    ours, _, theirs, groups = _both(step)
    assert not groups
    for mine, given in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(mine, given)


@pytest.mark.parametrize("is_set", [True, False])
def test_a_variable_that_does_not_fit_is_refused_as_tensorflow_does(is_set: bool) -> None:
    a, b = _variables(((3,), (4,)))
    steps = [tf.raw_ops.ResourceApplyGradientDescent(var=v.handle, alpha=0.1, delta=np.ones(n, np.float32))
             for v, n in ((a, 3), (b, 4))]  # fmt: skip
    assign = tf.raw_ops.AssignVariableOp(resource=b.handle, value=tf.placeholder_with_default(np.ones(5, np.float32), None))
    raised = []
    for make in (tf.Session, device_session):
        with make() as session:
            session.run([a.initializer, *([assign] if is_set else [])])
            with pytest.raises(tf.errors.OpError) as caught:
                session.run(steps)
            raised.append(type(caught.value))
    assert raised[0] is raised[1]
