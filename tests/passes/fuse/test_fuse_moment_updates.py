"""Keras' formula of Adam as one kernel: TensorFlow's values, one node a variable, and where it is left."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from npu_runtime.executor.program import Task
from npu_runtime.kernels.fused.moments_update import APPLY_MOMENTS
from npu_runtime.kernels.fused.optimizer_regions import APPLY_REGION
from npu_runtime.kernels.fused.update_groups import APPLY_GROUP
from tests.runtime.device import device_of, device_session

SHAPES = ((3, 5), (211, 190), (1,))


def _slots(shape: tuple[int, ...], name: str) -> list[tf.Variable]:
    make = [tf.random_normal_initializer(seed=3), tf.zeros_initializer(), tf.ones_initializer()]
    return [tf.get_variable(f"{name}{i}", shape, initializer=one, use_resource=True) for i, one in enumerate(make)]


def _rate(step: tf.Variable) -> tf.Tensor:
    """The rate with the correction of both biases, from a number that each variable reads anew."""
    number = tf.cast(_read(step) + 1, tf.float32)
    return 0.01 * tf.sqrt(1 - tf.pow(0.999, number)) / (1 - tf.pow(0.9, number))


def _read(variable: tf.Variable) -> tf.Tensor:
    """The read alone, as in functions of eager code; `read_value` of a session's graph has an Identity behind it."""
    return tf.raw_ops.ReadVariableOp(resource=variable.handle, dtype=variable.dtype)


def _update(slots: list[tf.Variable], grad: Any, alpha: Any, *, watched: bool = False) -> list[Any]:
    """The operations of Keras: what it reads behind a write waits for the write.  Returns what has to run."""
    var, m, v = slots
    add_m = m.assign_add((grad - _read(m)) * (1 - 0.9), read_value=False)
    add_v = v.assign_add((tf.square(grad) - _read(v)) * (1 - 0.999), read_value=False)
    with tf.control_dependencies([add_m]):
        new_m = _read(m)
    with tf.control_dependencies([add_v]):
        new_v = _read(v)
    seen = [tf.get_variable(f"{m.op.name}_seen", [], use_resource=True).assign(tf.reduce_sum(new_m))] if watched else []
    return [var.assign_sub(new_m * alpha / (tf.sqrt(new_v) + 1e-7), read_value=False), *seen]


def _step(watched: bool = False) -> Any:
    step = tf.get_variable("step", [], tf.int64, tf.zeros_initializer(), use_resource=True)
    updates: list[Any] = []
    for number, shape in enumerate(SHAPES):
        slots = _slots(shape, f"v{number}_")
        grad = tf.tanh(_read(slots[0]) * 0.5) + 0.1
        updates += _update(slots, grad, _rate(step), watched=watched)
    with tf.control_dependencies([one if isinstance(one, tf.Operation) else one.op for one in updates]):
        return step.assign_add(1, read_value=False)


def _trained(session: tf.Session, train: Any) -> list[np.ndarray]:
    session.run(tf.global_variables_initializer())
    for _ in range(4):
        session.run(train)
    values: list[np.ndarray] = session.run(tf.global_variables())
    return values


def _agree(ours: list[np.ndarray], theirs: list[np.ndarray]) -> None:
    for mine, given in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(mine, given, rtol=2e-6, atol=1e-7)


def _ops(session: tf.Session) -> list[str]:
    programs = [runner.program for plan in device_of(session)._plans.values() for runner in plan.runners.values()]
    tasks = [[step.op for step in program.steps if isinstance(step, Task)] for program in programs]
    return next((ops for ops in tasks if "Pow" in ops or APPLY_MOMENTS in ops), [])


def test_an_update_is_one_node_with_the_bits_of_single_nodes() -> None:
    train = _step()
    with tf.Session() as session:
        theirs = _trained(session, train)
    with device_session(fusion="off") as session:
        single = _trained(session, train)
        flops = max(r.program.device_flops for p in device_of(session)._plans.values() for r in p.runners.values())
    with device_session() as session:
        ours = _trained(session, train)
        ops = _ops(session)
        fused = max(
            r.program.device_flops + sum(r.program.unread_flops.values())
            for p in device_of(session)._plans.values() for r in p.runners.values()
        )  # fmt: skip
    assert (ops.count(APPLY_GROUP), ops.count(APPLY_MOMENTS), ops.count(APPLY_REGION)) == (1, 0, 1), (
        "small variables are updated together, and a large gradient is made inside, as for other optimizers"
    )
    assert "AssignSubVariableOp" not in ops
    assert ops.count("Pow") == 2, "what all variables compute of the step's number is computed once"
    assert fused == flops
    for mine, one, given in zip(ours, single, theirs, strict=True):
        np.testing.assert_array_equal(mine, one)
        np.testing.assert_allclose(mine, given, rtol=2e-6, atol=1e-7)


def test_a_slot_that_somebody_else_reads_keeps_its_nodes() -> None:
    train = _step(watched=True)
    with device_session() as session:
        ours, ops = _trained(session, train), _ops(session)
    with tf.Session() as session:
        theirs = _trained(session, train)
    assert not {APPLY_MOMENTS, APPLY_GROUP} & {*ops}
    _agree(ours, theirs)


def test_a_read_behind_another_variables_update_stays_behind_it() -> None:
    """The second update's gradient waits for the first update, and the first one's for nothing: both may be fused, in order."""
    first, second = _slots((4,), "a"), _slots((4,), "b")
    updates = _update(first, tf.ones([4]), tf.constant(0.1))
    with tf.control_dependencies(updates):
        moved = _read(first[0])
    updates += _update(second, moved * 2, tf.constant(0.1))
    train = tf.group(*updates)
    with device_session() as session:
        ours = _trained(session, train)
    with tf.Session() as session:
        theirs = _trained(session, train)
    _agree(ours, theirs)


@pytest.mark.parametrize("dtype", [tf.float16, tf.float64])
def test_other_types_keep_their_nodes(dtype: Any) -> None:
    slots = [tf.get_variable(f"v{i}", initializer=np.ones(3, dtype.as_numpy_dtype), use_resource=True) for i in range(3)]
    train = _update(slots, tf.ones([3], dtype), tf.constant(0.1, dtype))[0]
    with device_session() as session:
        ours, ops = _trained(session, train), _ops(session)
    with tf.Session() as session:
        theirs = _trained(session, train)
    assert not {APPLY_MOMENTS, APPLY_GROUP} & {*ops}
    for mine, given in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(mine, given, rtol=2e-3)
