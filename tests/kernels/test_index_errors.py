"""Indices outside their range and shapes that do not fit: the words of TensorFlow's CPU kernels."""

from __future__ import annotations

import pytest

from tests.kernels.harness import Case, arr, case, i32, scalar
from tests.kernels.raising import assert_raises_alike

WRONG = [
    case("GatherV2", arr(3, 4), i32(0, 3), scalar(0, "int32")),
    case("GatherV2", arr(3, 4), i32([[0, -1], [1, 2]]), scalar(1, "int32")),
    case("GatherV2", arr(3, 4), scalar(7, "int32"), scalar(0, "int32")),
    case("GatherV2", arr(2, 4), i32([[0, 3], [1, 4]]), scalar(1, "int32"), batch_dims=1),
    case("Gather", arr(0, 4), i32(0)),
    case("GatherNd", arr(3, 4), i32([[0, 1], [3, 0]])),
    case("GatherNd", arr(3, 4), i32([[[0], [1]], [[2], [-1]]])),
    case("GatherNd", arr(3, 0), i32([[0]])),
    case("ScatterNd", i32([[0], [9]]), arr(2), i32(4)),
    case("ScatterNd", i32([[0, 0], [1, 4]]), arr(2, 3), i32(2, 2, 3)),
    case("TensorScatterUpdate", arr(4), i32([[0], [-2]]), arr(2)),
    case("TensorScatterAdd", arr(4, 2), i32([[0], [1]]), arr(3, 2)),
    case("UnsortedSegmentSum", arr(2), i32(2, 7), scalar(3, "int32")),
    case("UnsortedSegmentMax", arr(2, 2), i32([[0, 1], [3, 1]]), scalar(3, "int32")),
    case("UnsortedSegmentSum", arr(2), i32(0), scalar(3, "int32")),
    case("UnsortedSegmentSum", arr(2), i32(0, 1), scalar(-1, "int32")),
    case("SegmentSum", arr(2), i32(2, 1)),
    case("SegmentSum", arr(3), i32(-2, 1, 1)),
    case("SegmentMax", arr(3), i32(0, 0, -1)),
    case("SegmentMean", arr(3), i32(0, 1)),
    case("SparseSegmentSum", arr(2, 3), i32(1, 5), i32(0, 1)),
    case("SparseSegmentMean", arr(2, 3), i32(1, 1), i32(1, 0)),
    case("SparseSegmentSum", arr(2, 3), i32(1, 1), i32(0)),
    case("SparseSegmentSumWithNumSegments", arr(2, 3), i32(1, 1), i32(0, 4), scalar(3, "int32")),
    case("SparseSegmentMeanGrad", arr(2), i32(1, 9), i32(0, 1), scalar(3, "int32")),
    case("SparseSegmentMeanGrad", arr(2), i32(1, 1), i32(1, 5), scalar(3, "int32")),
]


@pytest.mark.parametrize("one", WRONG, ids=lambda c: c.op)
def test_raises_what_tensorflow_raises(one: Case) -> None:
    assert_raises_alike(one)
