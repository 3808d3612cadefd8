"""Calls that do not fit and odd calls that do, with shapes that only the run tells: the device answers as TensorFlow's kernels.

What raises there raises the same class here, by a check of the kernel and not by numpy's; what does not gives the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from tensorflow.python.framework import op_def_registry
from tensorflow.python.framework.op_def_library import apply_op

from tests.kernels.harness import Case, Var, arr, case, case_ids, i32, scalar
from tests.kernels.oracle import plain_session
from tests.runtime.device import device_session

NOTHING = np.zeros(0, np.int32)
REFUSED = [
    *[
        case(op, *(arr(*shape) for shape in shapes))
        for op in ("ReluGrad", "Relu6Grad", "LeakyReluGrad", "EluGrad", "SeluGrad", "SoftplusGrad", "SoftsignGrad")
        for shapes in (((3,), (2, 3)), ((2, 3), (3,)), ((0,), (3,)), ((2, 3), (6,)))
    ],
    *[
        case(op, *(arr(*shape) for shape in shapes))
        for op in ("SigmoidGrad", "TanhGrad", "SqrtGrad", "RsqrtGrad", "ReciprocalGrad", "InvGrad")
        for shapes in (((3,), (2, 3)), ((2, 3), (3,)), ((0,), (3,)))
    ],
    case("ReluGrad", arr(300, 400), arr(400)),
    case("ReverseV2", arr(2, 2), scalar(0, "int32")),
    case("ReverseV2", arr(*(1,) * 8, 2), i32(0)),
    case("Reverse", arr(2, 2), np.array([True])),
    case("Reverse", arr(2, 2), np.array([[True]])),
    case("Bincount", i32(1, 2, 1), scalar(3, "int32"), arr(2)),
    case("Bincount", i32(1, 2, 1), scalar(3, "int32"), scalar(1.0)),
    case("DenseBincount", i32([[1, 2, 1]]), scalar(3, "int32"), arr(3)),
    case("DenseBincount", i32(1, 2, 1), scalar(3, "int32"), arr(2)),
    case("DenseBincount", i32(1, 2, 1), scalar(3, "int32"), scalar(1.0)),
    case("Fill", i32([[1, 2]]), scalar(1.0)),
    case("Fill", i32(2, 2), arr(2)),
    case("Fill", i32(2, 2), arr(1, 1)),
    case("Reshape", arr(2), i32([[1, 2]])),
    case("Reshape", arr(4), i32(-2, -2)),
    case("RGBToHSV", arr(2, 2)),
    case("RGBToHSV", scalar(1.0)),
    case("HSVToRGB", arr(2, 2)),
    case("AdjustHue", arr(2, 2, 3), arr(1)),
    case("AdjustSaturation", arr(2, 2, 3), arr(1)),
    case("Cross", arr(2, 2), arr(2, 2)),
    case("Cross", scalar(1.0), scalar(1.0)),
    *[case("SplitV", arr(6, 4), sizes, scalar(0, "int32"), num_split=2) for sizes in (i32(4, 0, 2), i32([[3, 3]]), i32(-2, 8))],
    case("SplitV", arr(6, 4), scalar(6, "int32"), scalar(0, "int32"), num_split=1),
    case("Split", i32(0), arr(6, 4), num_split=2),
    case("CTCGreedyDecoder", arr(6, 3, 4), i32(6, 0)),
    case("CTCGreedyDecoder", arr(6, 3, 4), i32(7, 0, 1)),
    *[
        case("StridedSliceAssign", Var(arr(3, 4), "ref"), i32(0), i32(end), i32(1), arr(*shape))
        for end, shape in ((2, (3, 4)), (2, (2, 2, 4)), (2, (1, 2)), (2, (0, 4)), (1, (2, 4)))
    ],
]
ACCEPTED = [
    *[case(op, arr(3, 2, low=1), arr(6)) for op in ("SigmoidGrad", "TanhGrad", "SqrtGrad", "RsqrtGrad", "ReciprocalGrad")],
    case("SqrtGrad", arr(0), arr(0, 2)),
    case("SqrtGrad", arr(300, 400, low=1), arr(120000)),
    case("ReverseV2", scalar(3.0), i32(0)),
    case("ReverseV2", scalar(3.0), NOTHING),
    case("ReverseV2", arr(0, 2), i32(5)),
    case("Reverse", scalar(3.0), np.array([True])),
    case("Bincount", i32([[1, 2, 1]]), scalar(3, "int32"), arr(3)),
    case("Bincount", i32(1, 2, 1), scalar(3, "int32"), arr(0, 2)),
    case("DenseBincount", i32([[1, 2, 1]]), scalar(3, "int32"), arr(0, 2)),
    case("Fill", scalar(3, "int32"), scalar(1.0)),
    case("Fill", i32(2, 2), arr(1)),
    case("Reshape", arr(3), scalar(3, "int32")),
    case("Reshape", arr(2, 3), scalar(-1, "int32")),
    case("Reshape", scalar(2.0), scalar(1, "int32")),
]


@pytest.mark.parametrize("one", REFUSED, ids=case_ids(REFUSED))
def test_refused_with_tensorflow_s_class(one: Case) -> None:
    with tf.Graph().as_default():
        fetches, feeds = _with_unknown_shapes(one)
        with plain_session() as session, pytest.raises(tf.errors.OpError) as theirs:
            _run(session, fetches, feeds)
        with device_session() as session, pytest.raises(tf.errors.OpError) as mine:
            _run(session, fetches, feeds)
    assert type(mine.value) is type(theirs.value)
    assert "the kernel cannot take" not in mine.value.message


@pytest.mark.parametrize("one", ACCEPTED, ids=case_ids(ACCEPTED))
def test_accepted_as_by_tensorflow(one: Case) -> None:
    with tf.Graph().as_default():
        fetches, feeds = _with_unknown_shapes(one)
        with plain_session() as session:
            theirs = _run(session, fetches, feeds)
        with device_session() as session:
            mine = _run(session, fetches, feeds)
    for made, expected in zip(mine, theirs, strict=True):
        assert (made.dtype, made.shape) == (expected.dtype, expected.shape)
        np.testing.assert_allclose(made, expected, rtol=4e-6)


def _run(session: tf.Session, fetches: Any, feeds: dict[Any, np.ndarray]) -> Any:
    session.run(tf.global_variables_initializer())
    return session.run(fetches, feeds)


def _with_unknown_shapes(one: Case) -> tuple[list[Any], dict[Any, np.ndarray]]:
    """The call as one node, and what is to be fed: not even a rank is known while the graph is built."""
    feeds: dict[Any, np.ndarray] = {}
    op_def = op_def_registry.get(one.op)
    keywords = {attr.name: None for attr in op_def.attr if attr.type != "type" and attr.HasField("default_value")} | one.attrs
    for arg, value in zip(op_def.input_arg, one.inputs, strict=True):
        keywords.pop(arg.number_attr, None)
        keywords[arg.name] = [_fed(v, feeds) for v in value] if isinstance(value, list) else _fed(value, feeds)
    return tf.nest.flatten(apply_op(one.op, **keywords)), feeds


def _fed(value: np.ndarray | Var, feeds: dict[Any, np.ndarray]) -> Any:
    if isinstance(value, Var):
        variable = tf.Variable(value.value, use_resource=value.kind == "resource", validate_shape=False)
        return variable.handle if value.kind == "resource" else variable._ref()
    placeholder = tf.placeholder(value.dtype)
    feeds[placeholder] = value
    return placeholder
