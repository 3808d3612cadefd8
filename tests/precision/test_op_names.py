"""The map from TensorFlow's ops to operators of the device, held to something that it was not written from: the names.

An operator is named as the op that it computes, but for the version, the kind of variable and a few words. Every other pair of
the map stands here with its reason, so that a row with a wrong operator cannot pass.
"""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from npu_formats.device.op_table import OpOnDevice, device_ops, tensorflow_ops
from tests.one_item import together

REDUCTION = "the device's reductions begin with Reduce"
NORM = "the device's name of batch normalisation says nothing of being fused"
OTHER_NAMES = {
    ("All", "ReduceAll"): REDUCTION,
    ("Any", "ReduceAny"): REDUCTION,
    ("Max", "ReduceMax"): REDUCTION,
    ("Mean", "ReduceMean"): REDUCTION,
    ("Min", "ReduceMin"): REDUCTION,
    ("Prod", "ReduceProd"): REDUCTION,
    ("Sum", "ReduceSum"): REDUCTION,
    ("FusedBatchNorm", "BatchNorm"): NORM,
    ("FusedBatchNormV2", "BatchNorm"): NORM,
    ("FusedBatchNormV3", "BatchNorm"): NORM,
    ("FusedBatchNormGrad", "BatchNormGrad"): NORM,
    ("FusedBatchNormGradV2", "BatchNormGrad"): NORM,
    ("FusedBatchNormGradV3", "BatchNormGrad"): NORM,
    ("Einsum", "BatchMatMulV2"): "a contraction becomes batched products",
    ("MaxPoolV2", "MaxPoolExt2"): "the form whose window and strides are inputs",
    ("ScatterNdNonAliasingAdd", "ScatterNonAliasingAdd"): "the device leaves Nd out",
    ("SparseSoftmaxCrossEntropyWithLogits", "SoftmaxCrossEntropyWithLogits"): "class numbers become one-hot rows before it",
}
"""Pairs of an op and its operator that have other names, and why they belong together all the same."""
NOTHING_RUNS = "launches nothing: the same bytes, or numbers that are known"
OTHER_INPUTS = "the operator of that name takes other inputs or attributes than this version of the op"
NOT_TAKEN = {
    **dict.fromkeys(("Bitcast", "Shape"), NOTHING_RUNS),
    **dict.fromkeys((f"Matrix{kind}V{i}" for kind in ("Diag", "DiagPart", "SetDiag") for i in (2, 3)), OTHER_INPUTS),
    **dict.fromkeys(("NonMaxSuppression", *(f"NonMaxSuppressionV{i}" for i in (2, 3, 4, 5))), OTHER_INPUTS),
    **dict.fromkeys(("CTCLoss", "MaxPoolGradV2", "Reverse", "SparseSegmentSumGradV2"), OTHER_INPUTS),
}  # fmt: skip
"""Ops without an operator though the device has one of that name, and why."""


def plain(name: str) -> str:
    """A name without version, kind of variable, form of the operator and spelling."""
    name = name.removeprefix("_").removeprefix("NPU").removeprefix("Npu").removeprefix("Resource").removesuffix("VariableOp")
    return _of_any_version(name).replace("Native", "").replace("Gradient", "Grad").lower()


def _of_any_version(name: str) -> str:
    """D stands for a form with constant inputs, but behind 2 and 3 for the dimensions."""
    return re.sub(r"(?<![0-9])D$", "", re.sub(r"V[0-9]+(?=$|[A-Z])", "", name))


def agrees(row: OpOnDevice) -> bool:
    return plain(row.tf_op) == plain(row.device_op) or (row.tf_op, row.device_op) in OTHER_NAMES


@together("row", [row for row in tensorflow_ops().values() if row.device_op], lambda row: row.tf_op)
def test_every_operator_has_the_name_of_its_op_or_a_reason(row: OpOnDevice) -> None:
    assert agrees(row), "is this the right operator? If it is, say in OTHER_NAMES why its name differs"


@together("row", [row for row in tensorflow_ops().values() if not row.device_op], lambda row: row.tf_op)
def test_every_op_without_an_operator_has_none_of_its_name_or_a_reason(row: OpOnDevice) -> None:
    same_name = [name for name in device_ops() if plain(name) == plain(row.tf_op)]
    assert not same_name or row.tf_op in NOT_TAKEN, (
        f"the device has {same_name}; if the op does not become it, say why in NOT_TAKEN"
    )


def test_a_reason_is_of_a_row_that_needs_one() -> None:
    rows = tensorflow_ops()
    assert all(op in rows and rows[op].device_op == name and plain(op) != plain(name) for op, name in OTHER_NAMES)
    assert all(rows[op].device_op == "" for op in NOT_TAKEN)


@pytest.mark.parametrize(
    ("op", "wrong"),
    [("Sin", "Sinh"), ("BesselI0e", "BesselI1e"), ("Max", "ReduceMin"), ("Conv2DBackpropFilter", "Conv2DBackpropInput"),
     ("ResourceApplyAdam", "ApplyAdaMax"), ("GatherNd", "GatherV2"), ("Softplus", "SoftplusGrad"), ("Sum", "ReduceSumSquare")],
)  # fmt: skip
def test_a_wrong_operator_is_refused(op: str, wrong: str) -> None:
    row = tensorflow_ops().get(op, OpOnDevice(op, wrong, (), None, None, False, ""))
    assert not agrees(replace(row, device_op=wrong))


def test_two_operators_do_not_look_alike() -> None:
    """Shortening of names must not hide that two operators differ, but for versions and forms of one."""
    by_name: dict[str, set[str]] = {}
    for name in device_ops():
        by_name.setdefault(plain(name), set()).add(_of_any_version(name).lower())
    assert {key: names for key, names in by_name.items() if len(names) > 1} == {}
