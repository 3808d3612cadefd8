"""A row number that a variable has not: the step fails, and what TensorFlow wrote before it came there stays written."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from tensorflow.python.framework import op_def_registry

from tests.kernels.oracle import plain_session
from tests.runtime.device import device_session

ROWS = np.array([1, 0, 9, 2], np.int32)
"""The third is none of a variable of four rows."""
SCATTERS = ["update", "add", "sub", "mul", "div", "min", "max", "nd_update", "nd_add", "nd_sub"]
SPARSE: dict[str, tuple[str, ...]] = {
    "Momentum": ("var", "accum"), "KerasMomentum": ("var", "accum"), "Adagrad": ("var", "accum"),
    "AdagradV2": ("var", "accum"), "AdagradDA": ("var", "gradient_accumulator", "gradient_squared_accumulator"),
    "Adadelta": ("var", "accum", "accum_update"), "RMSProp": ("var", "ms", "mom"),
    "CenteredRMSProp": ("var", "mg", "ms", "mom"), "ProximalGradientDescent": ("var",), "ProximalAdagrad": ("var", "accum"),
    "Ftrl": ("var", "accum", "linear"), "FtrlV2": ("var", "accum", "linear"),
}  # fmt: skip
"""The variables of each sparse optimizer."""
SCALARS = {
    "lr": 0.5, "momentum": 0.9, "epsilon": 0.1, "rho": 0.9, "l1": 0.1, "l2": 0.2, "l2_shrinkage": 0.1, "lr_power": -0.5,
    "alpha": 0.5,
}  # fmt: skip


def variables(number: int, width: int, use_resource: bool) -> list[Any]:
    return [
        tf.get_variable(f"v{i}", initializer=tf.ones([4, width]) * (i + 1.0), use_resource=use_resource) for i in range(number)
    ]


def left_alike(made: list[Any], step: Any) -> None:
    """The step fails on both sides, and leaves the variables alike."""
    left = []
    for session in (plain_session(), device_session()):
        with session:
            session.run(tf.global_variables_initializer())
            with pytest.raises(tf.errors.InvalidArgumentError):
                session.run(step)
            left.append(session.run(made))
    for theirs, mine in zip(*left, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-5)


@pytest.mark.parametrize("use_resource", [False, True], ids=["ref", "resource"])
@pytest.mark.parametrize("name", SCATTERS)
def test_scatter(name: str, use_resource: bool) -> None:
    with tf.Graph().as_default():
        made = variables(1, 2, use_resource)
        rows = tf.placeholder_with_default(ROWS[:, None] if name.startswith("nd_") else ROWS, None)
        updates = tf.constant(np.arange(3, 11, dtype=np.float32).reshape(4, 2) / 4)
        step = getattr(tf, f"scatter_{name}")(made[0], rows, updates)
        left_alike(made, getattr(step, "op", step))


@pytest.mark.parametrize("width", [1, 2])
@pytest.mark.parametrize("use_resource", [False, True], ids=["ref", "resource"])
@pytest.mark.parametrize("name", SPARSE)
def test_sparse_optimizer(name: str, use_resource: bool, width: int) -> None:
    if name == "KerasMomentum" and not use_resource:
        return  # the optimizers of Keras have resources only
    make = getattr(tf.raw_ops, f"{'Resource' if use_resource else ''}SparseApply{name}")
    asked = {argument.name for argument in op_def_registry.get(f"ResourceSparseApply{name}").input_arg}
    with tf.Graph().as_default():
        made = variables(len(SPARSE[name]), width, use_resource)
        given = {key: v.handle if use_resource else v._ref() for key, v in zip(SPARSE[name], made, strict=True)}
        given["grad"] = np.arange(1, 1 + 4 * width, dtype=np.float32).reshape(4, width)
        given["indices"] = tf.placeholder_with_default(ROWS, [4])
        if "global_step" in asked:
            given["global_step"] = tf.constant(3, tf.int64)
        step = make(**given, **{key: value for key, value in SCALARS.items() if key in asked})
        left_alike(made, getattr(step, "op", step))
