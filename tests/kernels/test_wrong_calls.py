"""Calls that do not fit and odd calls that do, with shapes that only the run tells: the device answers as TensorFlow's kernels.

What raises there raises the same class here, by a check of the kernel and not by numpy's; what does not gives the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from tensorflow.python.framework import op_def_registry
from tensorflow.python.framework.op_def_library import apply_op

from tests.kernels.harness import Case, Var, all_cases, arr, case, case_ids, i32, scalar
from tests.kernels.oracle import plain_session
from tests.one_item import together
from tests.runtime.device import device_session

PLACES, SIZE = np.array([[0, 1], [1, 2], [3, 0]]), np.array([4, 5])
IMAGE = arr(2, 4, 4, 2)
NOTHING = np.zeros(0, np.int32)
NOT_A_NUMBER = np.where([[0, 0, 0], [0, 0, 0], [1, 0, 0]], np.float32(np.nan), arr(3, 3))
"""Stands where the first pivot is looked for."""
SELECTIONS = {
    "NonMaxSuppression": 0,
    "NonMaxSuppressionV2": 1,
    "NonMaxSuppressionV3": 2,
    "NonMaxSuppressionV4": 2,
    "NonMaxSuppressionV5": 3,
}
"""Number of thresholds that each takes."""
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
    *[case(op, arr(1, 3, 3, 0), i32(2, 2)) for op in ("ResizeBilinear", "ResizeNearestNeighbor", "ResizeBicubic", "ResizeArea")],
    case("ScaleAndTranslate", arr(1, 3, 3, 0), i32(2, 2), arr(2, low=1), arr(2)),
    *[case(op, arr(3, 4), arr(3), scalar(-1, "int32"), *[scalar(0.5)] * n) for op, n in SELECTIONS.items()],
    *[
        case(op, arr(3, 4), arr(3), scalar(-1, "int32"), *[scalar(0.5)] * SELECTIONS[op], pad_to_max_output_size=True)
        for op in ("NonMaxSuppressionV4", "NonMaxSuppressionV5")
    ],
    case("NonMaxSuppressionWithOverlaps", arr(3, 3), arr(3), scalar(-1, "int32"), scalar(0.5), scalar(0.5)),
    *[
        case("NonMaxSuppressionV5", arr(3, 4), arr(3), scalar(2, "int32"), scalar(0.5), scalar(0.5), scalar(sigma))
        for sigma in (-0.1, np.nan)
    ],
    *[
        case(
            "CombinedNonMaxSuppression", arr(1, 3, 1, 4), arr(1, 3, 1), scalar(a, "int32"), scalar(b, "int32"), *[scalar(0.5)] * 2
        )
        for a, b in ((-1, 2), (0, 2), (2, -1), (2, 0))
    ],
    case("MatrixTriangularSolve", arr(2, 3, 3), arr(0, 3, 1)),
    case("MatrixTriangularSolve", arr(2, 3, 3), arr(3, 3, 1)),
    case("TridiagonalSolve", arr(2, 3, 3), arr(2, 4, 1)),
    case("TridiagonalSolve", arr(2, 3, 3), arr(3, 3, 1)),
    case("TridiagonalSolve", arr(2, 2, 3), arr(2, 3, 1)),
    case("MatrixInverse", NOT_A_NUMBER),
    case("MatrixInverse", NOT_A_NUMBER.T, adjoint=True),
    case("MatrixSolve", NOT_A_NUMBER, arr(3, 1)),
    case("MatrixSolve", NOT_A_NUMBER.T, arr(3, 1), adjoint=True),
    case("RGBToHSV", arr(2, 2)),
    case("RGBToHSV", scalar(1.0)),
    case("HSVToRGB", arr(2, 2)),
    case("AdjustHue", arr(2, 2, 3), arr(1)),
    case("AdjustSaturation", arr(2, 2, 3), arr(1)),
    case("Cross", arr(2, 2), arr(2, 2)),
    case("Cross", scalar(1.0), scalar(1.0)),
    *[case("SplitV", arr(6, 4), sizes, scalar(0, "int32"), num_split=2) for sizes in (i32(4, 0, 2), i32([[3, 3]]), i32(-2, 8))],
    case("Split", i32(0), arr(6, 4), num_split=2),
    case("CTCGreedyDecoder", arr(6, 3, 4), i32(6, 0)),
    case("CTCGreedyDecoder", arr(6, 3, 4), i32(7, 0, 1)),
    case("CTCGreedyDecoder", arr(6, 3, 4), scalar(6, "int32")),
    case("OneHot", i32(1), scalar(3, "int32"), arr(1), scalar(0.0)),
    *[case("ClipByValue", arr(4, 5), low, high) for low, high in ((arr(1), scalar(6.0)), (scalar(0.0), arr(1)))],
    case("BatchMatMul", arr(1, 2, 3), arr(2, 3, 4)),
    case("BatchMatMul", arr(2, 3), arr(2, 3, 4)),
    case("LRNGrad", arr(2, 3, 4, 5), arr(1, 3, 4, 5), arr(2, 3, 4, 5)),
    *[
        case(op, arr(2, 3), arr(3), *ends)
        for op, ends in (
            ("FakeQuantWithMinMaxArgsGradient", ()),
            ("FakeQuantWithMinMaxVarsGradient", (scalar(-1.0), scalar(1.0))),
            ("FakeQuantWithMinMaxVarsPerChannelGradient", (arr(3, low=-2, high=-1), arr(3, low=1, high=2))),
        )
    ],
    *[case(f"MatrixDiagPart{v}", arr(3, 4), i32(*k), scalar(0.0)) for v in ("V2", "V3") for k in (([[-1, 1]],), (-1, 0, 1))],
    case("MatrixSetDiagV3", arr(3, 4), arr(3), i32([[0]])),
    case("TridiagonalMatMul", arr(1, 5), arr(1, 5), arr(2, 5), arr(5, 2)),
    case("TridiagonalMatMul", arr(5), arr(1, 5), arr(1, 5), arr(5, 2)),
    case("TridiagonalSolve", arr(3, 5), arr(1, 5, 2)),
    case(
        "Conv3DBackpropFilterV2", arr(1, 2, 2, 2, 1), i32(2, 2, 2, 1, 1, 1), arr(1, 1, 1, 1, 1), strides=[1] * 5, padding="VALID"
    ),
    *[
        case(op, *inputs, ksize=ksize, strides=strides, padding="SAME")
        for op, inputs in (
            ("MaxPool", [IMAGE]),
            ("AvgPool", [IMAGE]),
            ("MaxPoolWithArgmax", [IMAGE]),
            ("MaxPoolGrad", [IMAGE] * 3),
            ("AvgPoolGrad", [i32(2, 4, 4, 2), IMAGE]),
            ("MaxPoolGradWithArgmax", [IMAGE, IMAGE, np.zeros((2, 4, 4, 2), np.int64)]),
        )
        for ksize, strides in (([2, 1, 1, 1], [1, 1, 1, 1]), ([1, 2, 2, 1], [2, 1, 1, 1]))
    ],
    case("MaxPoolV2", IMAGE, i32(2, 1, 1, 1), i32(1, 1, 1, 1), padding="SAME"),
    case("MaxPoolV2", IMAGE, i32(1, 2, 2, 2), i32(1, 1, 1, 1), padding="SAME"),
    case(
        "MaxPoolGradWithArgmax",
        IMAGE,
        IMAGE,
        np.zeros((2, 4, 4, 2), np.int64),
        ksize=[1] * 4,
        strides=[1, 2, 2, 1],
        padding="SAME",
    ),
    *[
        case(op, *[arr(2, 2, 4, 4, 2)] * n, ksize=[2, 1, 1, 1, 1], strides=[1] * 5, padding="SAME")
        for op, n in (("MaxPool3D", 1), ("AvgPool3D", 1), ("MaxPool3DGrad", 3))
    ],
    *[
        case(op, IMAGE, arr(2, 2, 2), *more, strides=strides, rates=rates, padding="SAME")
        for op, more in (("Dilation2D", []), ("Dilation2DBackpropInput", [IMAGE]), ("Dilation2DBackpropFilter", [IMAGE]))
        for strides, rates in (([2, 1, 1, 1], [1] * 4), ([1, 1, 1, 2], [1] * 4), ([1] * 4, [1, 1, 1, 2]))
    ],
    *[
        case(op, IMAGE, arr(2, 2, depth), arr(*shape), strides=[1] * 4, rates=[1] * 4, padding="SAME")
        for op in ("Dilation2DBackpropInput", "Dilation2DBackpropFilter")
        for depth, shape in ((2, (1, 4, 4, 2)), (2, (4, 4, 2)), (1, (2, 4, 4, 2)))
    ],
    *[case("Dilation2D", IMAGE, arr(2, 2, 2), strides=[1, n, 1, 1], rates=[1] * 4, padding="SAME") for n in (0, -1)],
    *[case("MaxPoolV2", IMAGE, i32(1, 2, 2, 1), i32(1, n, 1, 1), padding="SAME") for n in (0, -1)],
    case("Dilation2D", IMAGE, arr(2, 2, 1), strides=[1] * 4, rates=[1] * 4, padding="SAME"),
    *[case(op, PLACES[:2], arr(3), SIZE) for op in ("SparseReorder", "SparseSoftmax")],
    *[case(op, PLACES, arr(3), SIZE[:1]) for op in ("SparseReorder", "SparseSoftmax")],
    case("SparseReduceSum", PLACES[:2], arr(3), SIZE, i32(0)),
    case("SparseReduceMaxSparse", PLACES, arr(3), SIZE, i32([[0]])),
    case("SparseConcat", [PLACES[:2], PLACES], [arr(3), arr(3)], [SIZE, SIZE], concat_dim=0),
    case("SparseSlice", PLACES, arr(3), SIZE, SIZE[:1], SIZE),
    case("SparseSliceGrad", arr(2), PLACES, SIZE - SIZE, PLACES),
    case("SparseSliceGrad", arr(1), PLACES, SIZE - SIZE, PLACES[:1, :1]),
    case("SparseAddGrad", arr(2), PLACES, PLACES, PLACES),
    case("SparseSparseMaximum", PLACES, scalar(1.0), SIZE, PLACES, arr(3), SIZE),
    case("SparseDenseCwiseMul", PLACES[0], arr(3), SIZE, arr(4, 5)),
    case("SparseFillEmptyRows", PLACES[:2], arr(3), SIZE, scalar(0.0)),
    case("SparseFillEmptyRows", PLACES, arr(3), SIZE[:1], scalar(0.0)),
    case("SparseFillEmptyRowsGrad", np.array([[0]]), arr(2)),
    case("SparseTensorDenseMatMul", PLACES[:2], arr(3), SIZE, arr(5, 2)),
    case("SparseTensorDenseMatMul", PLACES, arr(3), np.array([4, 5, 6]), arr(5, 2)),
    case("SetSize", PLACES, i32(1, 2, 3), np.array([4, 5, 6])),
    case("UniqueV2", i32(1, 2), scalar(0, "int32")),
    case("RandomUniform", scalar(3, "int32"), dtype="float32"),
    *[
        case("RngReadAndSkip", Var(np.array(state)), np.array(alg, np.int32), np.array(delta, np.uint64))
        for state, alg, delta in (
            ([1, 2], 1, 1),
            ([1, 2], 3, 1),
            ([[1, 2, 3]], 1, 1),
            ([1.0, 2, 3], 1, 1),
            ([1, 2, 3], 4, 1),
            ([1, 2, 3], 2, 1),
            ([1, 2, 3], [1], 1),
            ([1, 2, 3], 1, [1]),
        )
    ],
    *[
        case(op, scalar(3, "int32"), np.zeros(1, np.uint64), np.zeros(2, np.uint64), scalar(1, "int32"), *bounds, dtype=dtype)
        for op, dtype, bounds in (
            ("StatelessRandomNormalV2", "float32", ()),
            ("StatelessRandomUniformFullIntV2", "int64", ()),
            ("StatelessRandomUniformIntV2", "int32", (scalar(0, "int32"), scalar(9, "int32"))),
        )
    ],
    case("StatelessRandomNormal", scalar(3, "int32"), i32(1, 2), dtype="float32"),
    case("ResourceScatterDiv", Var(arr(3)), i32(0, 1), np.float32([0, 1])),
    *[
        case("SparseApplyFtrl", *[Var(arr(3, 2), "ref")] * 3, arr(2, 2), i32(0, 1), *map(scalar, numbers), **attrs)
        for numbers, attrs in (
            ((0.0, 0.1, 0.1, -0.5), {}),
            ((-1.0, 0.1, 0.1, -0.5), {"multiply_linear_by_lr": True}),
            ((0.1, -0.1, 0.1, -0.5), {}),
            ((0.1, 0.1, np.nan, -0.5), {}),
            ((0.1, 0.1, 0.1, 0.5), {}),
        )
    ],
    case("SparseApplyFtrlV2", *[Var(arr(3, 2), "ref")] * 3, arr(2, 2), i32(0, 1), *map(scalar, (0.1, 0.1, 0.1, -0.1, -0.5))),
    *[
        case(f"{prefix}ApplyProximalAdagrad", *[Var(arr(3), kind)] * 2, *map(scalar, numbers), arr(3))
        for prefix, kind in (("", "ref"), ("Resource", "resource"))
        for numbers in ((0.0, 0.1, 0.1), (0.1, -0.1, 0.1), (0.1, 0.1, -0.1))
    ],
    case("ResourceStridedSliceAssign", Var(arr(4, 6)), i32(1), i32([3]), i32([1]), arr(2, 6), ellipsis_mask=3),
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
    *[
        case(op, PLACES, arr(3), SIZE, NOTHING, keep_dims=True)
        for op in ("SparseReduceSum", "SparseReduceMax", "SparseReduceSumSparse")
    ],
    case("SparseReduceSum", PLACES, arr(3), SIZE, NOTHING),
    *[
        case(op, arr(*shape), ksize=[1, 2, 2, 2, 1], strides=[1, 2, 2, 2, 1], padding="SAME")
        for op in ("MaxPool3D", "AvgPool3D")
        for shape in ((0, 4, 4, 4, 2), (2, 4, 4, 0, 2), (2, 4, 4, 4, 0))
    ],
    case("Conv3DBackpropFilterV2", arr(2, 4, 0, 4, 2), i32(3, 3, 3, 2, 4), arr(2, 4, 0, 4, 4), strides=[1] * 5, padding="SAME"),
    case("Conv3DBackpropInputV2", i32(2, 4, 0, 4, 2), arr(3, 3, 3, 2, 4), arr(2, 4, 0, 4, 4), strides=[1] * 5, padding="SAME"),
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


TAKEN_BY_TENSORFLOW = frozenset(f"{prefix}Apply{name}" for prefix in ("", "Resource") for name in ("AddSign", "PowerSign"))
"""Their kernels forget one scalar of all; the documentation says scalar."""


def _with_vectors() -> Iterator[Case]:
    """A case of each op, one of its scalars a vector of one number in turn."""
    one_each = {one.op: one for one in all_cases() if one.op not in TAKEN_BY_TENSORFLOW and op_def_registry.get(one.op)}
    for one in one_each.values():
        for place, value in enumerate(one.inputs):
            if isinstance(value, np.ndarray) and not value.ndim:
                yield replace(one, inputs=(*one.inputs[:place], value.reshape(1), *one.inputs[place + 1 :]))


WITH_VECTORS = list(_with_vectors())


@together("one", REFUSED, case_ids(REFUSED), by=lambda one: one.op)
def test_refused_with_tensorflow_s_class(one: Case) -> None:
    with tf.Graph().as_default():
        fetches, feeds = _with_unknown_shapes(one)
        with plain_session() as session, pytest.raises(tf.errors.OpError) as theirs:
            _run(session, fetches, feeds)
        with device_session() as session, pytest.raises(tf.errors.OpError) as mine:
            _run(session, fetches, feeds)
    assert type(mine.value) is type(theirs.value)
    assert "the kernel cannot take" not in mine.value.message


@together("one", WITH_VECTORS, case_ids(WITH_VECTORS), by=lambda one: one.op)
def test_a_vector_of_one_number_for_a_scalar(one: Case) -> None:
    """Refused where TensorFlow refuses it; numpy would take it."""
    with tf.Graph().as_default():
        fetches, feeds = _with_unknown_shapes(one)
        errors = []
        for open_session in (plain_session, device_session):
            with open_session() as session:
                errors.append(_error_of(session, fetches, feeds))
    assert errors[0] == errors[1]


def _error_of(session: tf.Session, fetches: Any, feeds: dict[Any, np.ndarray]) -> type[Exception] | None:
    try:
        _run(session, fetches, feeds)
    except tf.errors.OpError as error:
        return type(error)
    return None


@together("one", ACCEPTED, case_ids(ACCEPTED), by=lambda one: one.op)
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
    keywords: dict[str, Any] = {attr.name: None for attr in op_def.attr if attr.HasField("default_value")} | one.attrs
    for arg, value in zip(op_def.input_arg, one.inputs, strict=True):
        for inferred in (arg.type_attr, arg.number_attr, arg.type_list_attr):
            keywords.pop(inferred, None)
        keywords[arg.name] = [_fed(v, feeds) for v in value] if isinstance(value, list) else _fed(value, feeds)
    return tf.nest.flatten(apply_op(one.op, **keywords)), feeds


def _fed(value: np.ndarray | Var, feeds: dict[Any, np.ndarray]) -> Any:
    if isinstance(value, Var):
        variable = tf.Variable(value.value, use_resource=value.kind == "resource", validate_shape=False)
        return variable.handle if value.kind == "resource" else variable._ref()
    placeholder = tf.placeholder(value.dtype)
    feeds[placeholder] = value
    return placeholder
