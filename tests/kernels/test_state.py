"""Variables beyond one call: what TensorFlow raises, and what a reader sees after a write."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from npu_runtime.device.variable import Variable
from npu_runtime.errors import DeviceError
from npu_runtime.kernels.base import all_kernels
from tests.kernels.harness import Case, Var, arr, case, i32, scalar
from tests.kernels.raising import assert_raises_alike, message_of

F = {"dtype": "float32"}
V = arr(2, 3)


def both(op: str, *inputs: Any, **attrs: Any) -> list[Case]:
    """The op on a ref and, with a resource, its Resource counterpart."""
    return [
        case(op, *[Var(v.value, "ref") if isinstance(v, Var) else v for v in inputs], **attrs),
        case(f"Resource{op}", *inputs, **attrs),
    ]


WRONG = [
    case("Assign", Var(V, "ref"), arr(3, 2)),
    case("AssignVariableOp", Var(V), arr(3, 2), validate_shape=True, **F),
    case("AssignAdd", Var(V, "ref"), arr(3)),
    case("AssignSubVariableOp", Var(V), arr(3), **F),
    case("CountUpTo", Var(scalar(4, "int32"), "ref"), limit=4),
    case("ResourceCountUpTo", Var(scalar(4, "int32")), limit=4, T="int32"),
    *both("ApplyGradientDescent", Var(V), scalar(0.1), arr(3, 3)),
    *both("ApplyGradientDescent", Var(V), arr(2), arr(2, 3)),
    *both("ApplyMomentum", Var(V), Var(arr(3, 2)), scalar(0.1), arr(2, 3), scalar(0.9)),
    *both("ApplyMomentum", Var(V), Var(V), scalar(0.1), arr(3), scalar(0.9)),
    *both("ApplyAdam", Var(V), Var(V), Var(V), *[scalar(0.5)] * 6, arr(6)),
    *both("ApplyAdam", Var(V), Var(V), Var(V), *[scalar(0.5)] * 3, arr(1), *[scalar(0.5)] * 2, arr(2, 3)),
    *both("ApplyFtrl", Var(V), Var(arr(2, 2)), Var(V), V, *[scalar(0.5)] * 4),
    *both("SparseApplyMomentum", Var(V), Var(V), scalar(0.1), arr(2, 3), i32(0, 7), scalar(0.9)),
    *both("SparseApplyMomentum", Var(V), Var(V), scalar(0.1), arr(1, 3), i32(0, 1), scalar(0.9)),
    *both("SparseApplyMomentum", Var(V), Var(V), scalar(0.1), arr(2, 2), i32(0, 1), scalar(0.9)),
    *both("SparseApplyAdagrad", Var(V), Var(V), scalar(0.1), arr(2, 3), i32(-1, 1)),
    *both("ScatterAdd", Var(V), i32(0, 2), arr(2, 3)),
    *both("ScatterAdd", Var(V), i32(0, 1), arr(3, 3)),
    *both("ScatterUpdate", Var(V), i32([[0, 1], [-1, 1]]), arr(2, 2, 3)),
    *both("ScatterNdAdd", Var(V), i32([[0, 1], [1, 3]]), arr(2)),
    *both("ScatterNdUpdate", Var(V), i32([[0], [1]]), arr(3, 3)),
    case("ResourceGather", Var(V), i32(0, 5), **F),
]


@pytest.mark.parametrize("one", WRONG, ids=lambda c: c.op)
def test_raises_what_tensorflow_raises(one: Case) -> None:
    assert_raises_alike(one)


READERS: list[tuple[str, Callable[[tf.Variable], Any]]] = [
    ("ReadVariableOp", lambda v: v.read_value()),
    ("AssignAddVariableOp", lambda v: v.assign_add([1.0], read_value=False)),
    ("VariableShape", lambda v: tf.raw_ops.VariableShape(input=v.handle)),
    ("ResourceGather", lambda v: tf.raw_ops.ResourceGather(resource=v.handle, indices=[0], dtype=tf.float32)),
    ("ResourceScatterAdd", lambda v: tf.raw_ops.ResourceScatterAdd(resource=v.handle, indices=[0], updates=[1.0])),
    ("AssignAdd", lambda v: tf.assign_add(v, [1.0])),
    ("ScatterAdd", lambda v: tf.scatter_add(v, [0], [1.0])),
]
BEFORE_DEBUG_INFO = re.compile(r"error message=|Resource|Container")
INPUTS = {
    "AssignAddVariableOp": [arr(1)],
    "AssignAdd": [arr(1)],
    "ResourceGather": [i32(0)],
    "ReadVariableOp": [],
    "VariableShape": [],
}


@pytest.mark.parametrize(("op", "use"), READERS, ids=[op for op, _ in READERS])
def test_uninitialized(op: str, use: Callable[[tf.Variable], Any]) -> None:
    is_ref = op in ("AssignAdd", "ScatterAdd")
    with pytest.raises(DeviceError) as mine:
        all_kernels()[op].function(Variable("v", np.dtype("float32"), is_ref), *INPUTS.get(op, [i32(0), arr(1)]))
    with tf.Graph().as_default(), tf.Session() as sess, pytest.raises(tf.errors.OpError) as theirs:
        sess.run(use(tf.Variable([1.0], use_resource=not is_ref, name="v")))
    (code, text), (expected_code, expected) = message_of(mine.value), message_of(theirs.value)
    assert code == expected_code
    assert BEFORE_DEBUG_INFO.split(text)[0] == BEFORE_DEBUG_INFO.split(expected)[0]


def test_a_resource_read_stays_and_a_ref_read_follows() -> None:
    update = all_kernels()["AssignAdd"].function
    for is_ref, expected in ((True, 3.0), (False, 2.0)):
        variable = Variable("v", np.dtype("float32"), is_ref)
        variable.assign(np.float32([2.0]))
        seen = variable.read()
        (update if is_ref else all_kernels()["AssignAddVariableOp"].function)(variable, np.float32([1.0]))
        assert seen[0] == expected
        assert variable.read()[0] == 3.0


def test_an_optimizer_does_not_change_what_was_read() -> None:
    variable, accumulator = (Variable(name, np.dtype("float32"), False) for name in "va")
    variable.assign(V)
    accumulator.assign(np.zeros_like(V))
    seen = variable.read()
    all_kernels()["ResourceApplyMomentum"].function(variable, accumulator, scalar(0.5), np.ones_like(V), scalar(0.9))
    np.testing.assert_array_equal(seen, V)
    np.testing.assert_array_equal(variable.read(), V - np.float32(0.5))
