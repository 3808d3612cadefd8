"""The device's operators and the reviewed map from TensorFlow ops to them."""

from __future__ import annotations

import pytest
from tensorflow.python.framework import op_def_registry

from npu_formats.device.op_table import BLACK, GRAY, WHITE, DeviceOp, device_ops, tensorflow_ops
from npu_runtime.executor.build import STRUCTURAL
from npu_runtime.kernels.base import all_kernels
from tests.one_item import together

FLOATS = {"float16", "bfloat16", "float32", ""}


def put_into_graphs(op: str) -> bool:
    """Ops of TensorFlow and of the shim; the others are made by passes, after types are assigned."""
    return not op.startswith("_") or op.startswith("_Npu")


def test_every_op_with_a_kernel_is_in_the_map() -> None:
    missing = sorted(op for op in all_kernels() if put_into_graphs(op) and op not in tensorflow_ops())
    assert missing == [], (
        "say in npu_formats/device/ops/tensorflow_ops.csv which operator of the device each becomes, or that it has none"
    )
    assert {op for op in STRUCTURAL if not op.startswith("Ref")} <= set(tensorflow_ops())


@together("row", tensorflow_ops().values(), lambda row: row.tf_op)
def test_the_row_of_every_op(row) -> None:
    assert row.tf_op in all_kernels() or row.tf_op in STRUCTURAL, "a row for an op that the device does not run"
    if row.device_op:
        assert {row.device_op, *row.forms} <= set(device_ops()) and row.otherwise == ""
    else:
        assert row.otherwise in ("aicpu", "local")
    if not row.tf_op.startswith("_"):
        definition = op_def_registry.get(row.tf_op)
        assert definition is not None, "TensorFlow has no such op"
        assert row.inputs is None or max(row.inputs) < len(definition.input_arg)
        assert row.outputs is None or max(row.outputs) < len(definition.output_arg)


def test_the_table_has_the_counts_of_its_source() -> None:
    lists = [op.list for op in device_ops().values()]
    assert [lists.count(name) for name in (WHITE, BLACK, GRAY)] == [380, 95, 721]
    assert all({given, made} <= FLOATS for op in device_ops().values() for given, made in op.types)


@pytest.mark.parametrize(
    ("op", "wanted"),
    {
        "MatMul": "white", "Conv2D": "white", "Conv2DBackpropFilter": "white", "DepthwiseConv2dNative": "white",
        "MaxPoolGrad": "white", "Sum": "black", "L2Loss": "black", "BiasAddGrad": "black", "Log": "black", "Pow": "black",
        "LogSoftmax": "black", "ResourceApplyGradientDescent": "black", "UnsortedSegmentSum": "black", "Relu": "gray",
        "FusedBatchNormV3": "gray", "Softmax": "gray", "Mean": "gray", "GatherV2": "gray", "Cast": "gray", "_NpuGelu": "gray",
        "SparseSoftmaxCrossEntropyWithLogits": "gray",
    }.items(),
)  # fmt: skip
def test_lists_of_well_known_ops(op: str, wanted: str) -> None:
    assert device_ops()[tensorflow_ops()[op].device_op].list == wanted


def test_types_of_an_operator() -> None:
    filter_gradient = device_ops()["Conv2DBackpropFilter"]
    assert filter_gradient.has("float16") and filter_gradient.result_of("float16") == "float32"
    assert device_ops()["Split"].result_of("float16") == "float16", "its first input is the axis"
    assert not device_ops()["AvgPool"].has("float32") and device_ops()["AvgPool"].has("float16")
    assert not device_ops()["ApplyAdam"].has("float16")
    unknown = DeviceOp("X", GRAY, ())
    assert unknown.has("bfloat16") and unknown.result_of("float16") == "float16"


def test_what_a_fused_batch_norm_keeps_in_fp32() -> None:
    """Source: the op definition of FusedBatchNormV3: type T is of x and y, type U of scale, offset and statistics."""
    definition = op_def_registry.get("FusedBatchNormV3")
    row = tensorflow_ops()["FusedBatchNormV3"]
    assert row.inputs == {i for i, arg in enumerate(definition.input_arg) if arg.type_attr == "T"}
    assert row.outputs == {i for i, arg in enumerate(definition.output_arg) if arg.type_attr == "T"}
    gradient = op_def_registry.get("FusedBatchNormGradV3")
    assert tensorflow_ops()["FusedBatchNormGradV3"].inputs == {
        i for i, arg in enumerate(gradient.input_arg) if arg.type_attr == "T"
    }
