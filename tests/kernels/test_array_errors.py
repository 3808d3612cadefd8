"""Kernels refuse what TensorFlow refuses, with the same error class, and never compute something else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from tensorflow.python.framework import op_def_registry
from tensorflow.python.framework.op_def_library import apply_op

from npu_runtime.errors import InvalidArgument
from tests.kernels.harness import Case, arr, call, case, case_ids, i32, scalar
from tests.kernels.raising import message_of

NAN = np.array([1.0, np.nan], np.float32)
INF = np.array([1.0, np.inf], np.float32)
REFUSED = [
    case("AddV2", arr(2, 3), arr(2, 4)),
    case("Mul", arr(3), arr(4)),
    case("FloorDiv", i32(1, 2), i32(1, 0)),
    case("FloorMod", i32(1, 2), i32(1, 0)),
    case("Mod", i32(1, 2), i32(0, 1)),
    case("Pow", i32(2, 3), i32(1, -1)),
    case("AddN", [arr(2), arr(3)]),
    case("Where", np.array(True)),
    case("Where", arr(*(1,) * 9)),
    case("OneHot", scalar(1, "int32"), scalar(3, "int32"), scalar(1.0), scalar(0.0), axis=1),
    case("DynamicPartition", arr(2), scalar(2, "int32"), num_partitions=2),
    *[
        case("MatrixBandPart", arr(*shape), scalar(low, "int64"), scalar(high, "int64"))
        for shape, low, high in (((2, 3), 3, 0), ((2, 3), 0, 4), ((0, 3), 1, 0), ((3, 0), 0, 1), ((0, 3, 3), 4, 0), ((3,), 0, 0))
    ],
    case("ApproximateEqual", arr(2), arr(3)),
    case("Equal", arr(2), arr(3)),
    case("Select", np.array([True, False]), arr(3, 2), arr(3, 2)),
    case("Select", np.array(True), arr(3), arr(2)),
    case("ClipByValue", arr(2, 3), arr(3), scalar(1.0)),
    case("Sum", arr(2, 3), i32(2)),
    case("Sum", arr(2, 3), i32(0, 0)),
    case("Max", arr(2, 3), i32(-3)),
    case("ArgMax", arr(2, 3), scalar(2, "int32")),
    case("ArgMin", arr(2, 0), scalar(1, "int32")),
    case("Cumsum", arr(2, 3), scalar(2, "int32")),
    case("CheckNumerics", NAN, message="loss"),
    case("CheckNumerics", INF, message="loss"),
    case("Reshape", arr(2, 3), i32(4)),
    case("Reshape", arr(2, 3), i32(4, -1)),
    case("Reshape", arr(2, 3), i32(-1, -1)),
    case("Squeeze", arr(2, 1), squeeze_dims=[0]),
    case("Squeeze", arr(2, 1), squeeze_dims=[2]),
    case("ExpandDims", arr(2), scalar(3, "int32")),
    case("EnsureShape", arr(2, 3), shape=(2, 4)),
    case("EnsureShape", arr(2, 3), shape=(None,)),
    case("BroadcastArgs", i32(2, 3), i32(2)),
    case("BroadcastGradientArgs", i32(2, 3), i32(2)),
    case("InvertPermutation", i32(0, 0)),
    case("InvertPermutation", i32(0, 2)),
    case("ConcatOffset", scalar(2, "int32"), [i32(1, 2), i32(1, 2)]),
    case("ConcatOffset", scalar(0, "int32"), [i32(1, 2), i32(1, 3)]),
    case("Range", scalar(0, "int32"), scalar(5, "int32"), scalar(0, "int32")),
    case("Range", scalar(0, "int32"), scalar(5, "int32"), scalar(-1, "int32")),
    case("LinSpace", scalar(0.0), scalar(1.0), scalar(0, "int32")),
    case("ConcatV2", [arr(2, 3), arr(3, 3)], scalar(1, "int32")),
    case("ConcatV2", [arr(2, 3), arr(2, 3)], scalar(2, "int32")),
    case("Split", scalar(0, "int32"), arr(5), num_split=2),
    case("Split", scalar(1, "int32"), arr(4), num_split=2),
    case("SplitV", arr(5), i32(2, 2), scalar(0, "int32"), num_split=2),
    case("SplitV", arr(5), i32(-1, -1), scalar(0, "int32"), num_split=2),
    case("Pack", [arr(2), arr(3)]),
    case("Unpack", arr(3), num=2),
    case("Fill", i32(2, -1), scalar(1.0)),
    case("BroadcastTo", arr(2, 3), i32(2, 4)),
    case("BroadcastTo", arr(2, 3), i32(3)),
    case("Tile", arr(2, 3), i32(2)),
    case("Tile", arr(2, 3), i32(2, -1)),
    case("Transpose", arr(2, 3), i32(0, 0)),
    case("Transpose", arr(2, 3), i32(0)),
    case("Transpose", arr(2, 3), i32(0, 3)),
    case("ReverseV2", arr(2, 3), i32(2)),
    case("ReverseV2", arr(2, 3), i32(0, 0)),
    case("ReverseSequence", arr(2, 3), i32(1, 4), seq_dim=1),
    case("OneHot", i32(1), scalar(-1, "int32"), scalar(1.0), scalar(0.0)),
    case("Slice", arr(2, 3), i32(0, 0), i32(2, 4)),
    case("Slice", arr(2, 3), i32(0, 4), i32(1, 0)),
    case("Slice", arr(2, 3), i32(0), i32(1)),
    case("StridedSlice", arr(3), i32(3), i32(4), i32(1), shrink_axis_mask=1),
    case("StridedSlice", arr(3), i32(0), i32(2), i32(0)),
    case("StridedSlice", arr(3), i32(0), i32(2), i32(-1), shrink_axis_mask=1),
    case("StridedSlice", arr(3), i32(0, 0), i32(1, 1), i32(1, 1)),
    case("StridedSlice", arr(3), i32(0, 0), i32(1, 1), i32(1, 1), ellipsis_mask=3),
    case("StridedSliceGrad", i32(4), i32(0), i32(2), i32(1), arr(3)),
    case("Pad", arr(2), i32([[1, -1]])),
    case("Pad", arr(2), i32([[1, 1], [1, 1]])),
    case("MirrorPad", arr(2), i32([[2, 0]]), mode="REFLECT"),
    case("MirrorPad", arr(2), i32([[0, 3]]), mode="SYMMETRIC"),
    case("SpaceToDepth", arr(1, 3, 4, 1), block_size=2),
    case("DepthToSpace", arr(1, 2, 2, 3), block_size=2),
    case("SpaceToBatchND", arr(1, 3, 4, 1), i32(2, 2), i32([[0, 0], [0, 0]])),
    case("BatchToSpaceND", arr(3, 2, 2, 1), i32(2, 2), i32([[0, 0], [0, 0]])),
    case("BatchToSpaceND", arr(4, 1, 1, 1), i32(2, 2), i32([[2, 1], [0, 0]])),
    case("DiagPart", arr(2, 3)),
    case("MatrixDiagPartV3", arr(2, 3), i32(4), scalar(0.0)),
    case("MatrixSetDiag", arr(2, 3), arr(3)),
    case("DynamicStitch", [i32(0, -1)], [arr(2)]),
    case("DynamicStitch", [i32(0, 1)], [arr(3)]),
    case("DynamicPartition", arr(2), i32(0, 2), num_partitions=2),
    case("DynamicPartition", arr(2), i32(0, 1, 1), num_partitions=2),
    case("ConcatV2", [arr(2, 3), arr(2, 3)], i32(0, 1)),
    case("ConcatV2", [scalar(1.0), scalar(2.0)], scalar(0, "int32")),
    case("Pack", [arr(2), arr(2)], axis=2),
    case("Unpack", arr(2, 3), num=2, axis=-3),
    case("StridedSlice", arr(2, 3), i32(0), i32(1, 1), i32(1)),
    case("ReverseSequence", arr(2, 3), i32(1, 1), seq_dim=2, batch_dim=0),
    case("ReverseSequence", arr(2, 3), i32(1, 1), seq_dim=0, batch_dim=0),
    case("BroadcastTo", arr(3), i32(-1, 3)),
    case("InvertPermutation", i32([[0]])),
    case("Diag", scalar(1.0)),
    case("MatrixDiagPart", arr(3)),
    case("MatrixDiagPartV3", arr(3), scalar(0, "int32"), scalar(0.0)),
    case("MatrixSetDiag", arr(3), arr(3)),
    case("ExtractImagePatches", arr(1, 1, 3, 1), ksizes=[1, 3, 1, 1], strides=[1] * 4, rates=[1] * 4, padding="VALID"),
    case("ExtractImagePatches", arr(3, 3, 1), ksizes=[1, 2, 2, 1], strides=[1] * 4, rates=[1] * 4, padding="SAME"),
]


@pytest.mark.parametrize("one", REFUSED, ids=case_ids(REFUSED))
def test_refused_as_tensorflow_refuses(one: Case) -> None:
    with pytest.raises(InvalidArgument) as mine:
        call(one, one.flat())
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError)) as theirs:
        _run_by_tensorflow(one)
    if isinstance(theirs.value, tf.errors.InvalidArgumentError):
        words = message_of(theirs.value)[1].replace(" _arg_Placeholder_0_0", "").rstrip(".")
        assert mine.value.message.startswith(words), "TensorFlow's words first; shapes may follow"


def _run_by_tensorflow(one: Case) -> None:
    """With extents that are known only when it runs, so that the kernel refuses and not who builds the graph."""
    with tf.Graph().as_default(), tf.device("/cpu:0"), tf.Session() as session:
        op_def = op_def_registry.get(one.op)
        defaults = {attr.name: None for attr in op_def.attr if attr.type != "type" and attr.HasField("default_value")}
        keywords: dict[str, Any] = defaults | one.attrs
        feeds: dict[Any, np.ndarray] = {}
        for arg, value in zip(op_def.input_arg, one.inputs, strict=True):
            keywords[arg.name] = _fed(value, feeds)
        session.run(tf.nest.flatten(apply_op(one.op, **keywords)), feeds)


def _fed(value: Any, feeds: dict[Any, np.ndarray]) -> Any:
    if isinstance(value, list):
        return [_fed(v, feeds) for v in value]
    placeholder = tf.placeholder(value.dtype, shape=[None] * value.ndim)
    feeds[placeholder] = value
    return placeholder
