"""Indices outside their range and shapes that do not fit: the words of TensorFlow's CPU kernels."""

from __future__ import annotations

import numpy as np
import pytest

from tests.kernels.harness import Case, arr, case, i32, scalar
from tests.kernels.raising import assert_raises_alike

SHAPE = np.array([2, 3], np.int64)
ROWS = np.array([[0, 1], [1, 2]], np.int64)


def outside_of(indices: np.ndarray) -> list[Case]:
    """Ops that look at coordinates of a (2, 3) tensor."""
    sparse, inside = (indices, arr(2), SHAPE), (np.array([[0, 1]], np.int64), arr(1), SHAPE)
    members = (indices, i32(1, 2), SHAPE)
    return [
        case("SparseSplit", scalar(1, "int64"), *sparse, num_split=2),
        *[
            case(f"SparseSparse{name}", *a, *b)
            for name in ("Maximum", "Minimum")
            for a, b in ((sparse, inside), (inside, sparse))
        ],
        *[case(f"SparseDenseCwise{name}", *sparse, dense) for name in ("Add", "Mul") for dense in (arr(2, 3), arr(3))],
        case("SparseTensorDenseAdd", *sparse, arr(2, 3)),
        case("SetSize", *members),
        case("SparseToSparseSetOperation", *members, *members, set_operation="union"),
        case("DenseToSparseSetOperation", arr(2, 3, dtype="int32"), *members, set_operation="a-b"),
    ]


def labelled(rows: list[list[int]], lengths: list[int], **attrs: bool) -> Case:
    """A loss over 4 steps of 3 classes, the last of them the blank; labels by row."""
    places = np.array([(row, place) for row, labels in enumerate(rows) for place in range(len(labels))], np.int64).reshape(-1, 2)
    values = np.concatenate(rows).astype(np.int32)
    return case("CTCLoss", arr(4, len(rows), 3), places, values, i32(lengths), **attrs)


WRONG = [
    labelled([[0], [], [1]], [4, 4, 4]),
    labelled([[], []], [4, 4], preprocess_collapse_repeated=True),
    labelled([[0, 1, 0], [], [1]], [2, 4, 4]),
    labelled([[0, 1, 0], [], [1]], [2, 4, 4], ignore_longer_outputs_than_inputs=True),
    labelled([[0], [1, -1], []], [4, 4, 4]),
    labelled([[0], [1, 1, 2, 0], [-1]], [4, 4, 4]),
    labelled([[1, 1, 2, 2, 0, 1], [-1]], [4, 4], preprocess_collapse_repeated=True, ignore_longer_outputs_than_inputs=True),
    labelled([[0, -1, -1, 1], [1]], [4, 4], preprocess_collapse_repeated=True),
    labelled([[-1, 2, 0, 1, 0], [1]], [4, 4]),
    labelled([[0, 2, -1, 1], [1]], [2, 4]),
    labelled([[0, 0, 0], [1]], [2, 4], preprocess_collapse_repeated=True),
    *[case("SparseSplit", scalar(axis, "int64"), ROWS, arr(2), SHAPE, num_split=1) for axis in (2, -3)],
    case("SparseSplit", scalar(-1, "int64"), ROWS, arr(2), SHAPE, num_split=4),
    *[case("SparseConcat", [ROWS, ROWS], [arr(2), arr(2)], [SHAPE, SHAPE], concat_dim=axis) for axis in (2, -3)],
    *[case("SparseTensorDenseAdd", ROWS, arr(2), SHAPE, arr(*shape)) for shape in ((2, 4), (2, 3, 1))],
    case("SparseSoftmax", ROWS[:, :1], arr(2), SHAPE[:1]),
    case("CTCGreedyDecoder", arr(4, 2, 3), i32(3, 5)),
    *[
        case("MaxPool", arr(1, 4, 4, 2), ksize=[1, 2, 2, 1], strides=[1] * 4, padding="EXPLICIT", explicit_paddings=pads)
        for pads in ([0, 0, 0, 2, 0, 0, 0, 0], [0, 0, 3, 0, 0, 0, 0, 0], [0, 0, 0, 0, 2, 2, 0, 0], [0, 0, 1, 1, 1, 2, 0, 0])
    ],
    *[case(f"SparseReduce{name}", np.array([[0, 0], [4, 1]], np.int64), arr(2), SHAPE, i32(1)) for name in ("Sum", "Max")],
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
    case("TopKV2", arr(2, 3), scalar(5, "int32")),
    case("TopKV2", arr(2, 3), scalar(-1, "int32")),
    case("NthElement", arr(2, 3), scalar(3, "int32")),
    case("NthElement", arr(2, 3), scalar(-1, "int32")),
    case("InTopKV2", arr(2, 3), i32(0), scalar(1, "int32")),
    case("Unique", arr(2, 2)),
    case("LowerBound", arr(2, 2), arr(3, 2)),
    case("RandomUniform", i32(2, -1), dtype="float32"),
    case("RandomUniformInt", i32(2), scalar(3, "int32"), scalar(2, "int32")),
    case("Multinomial", arr(3), scalar(2, "int32")),
    case("Multinomial", arr(3, 2), scalar(-1, "int32")),
    case("StatelessRandomNormal", i32(2), i32(1, 2, 3), dtype="float32"),
    case("StatelessRandomUniformV2", i32(2), np.zeros(2, np.uint64), np.zeros(2, np.uint64), scalar(1, "int32"), dtype="float32"),
    case("Bincount", i32(1, -1), scalar(3, "int32"), np.zeros(0, np.float32)),
    case("Bincount", i32(1, 1), scalar(-3, "int32"), np.zeros(0, np.float32)),
    case("HistogramFixedWidth", arr(3), np.float32([2, 1]), scalar(3, "int32")),
    case("HistogramFixedWidth", np.float32([0, np.nan]), np.float32([1, 2]), scalar(3, "int32")),
    case("HistogramFixedWidth", arr(3), np.float32([1, 2]), scalar(-3, "int32")),
    case("SparseToDense", i32(5), i32(3), arr(1), scalar(0.0)),
    case("SparseToDense", i32(2, 1), i32(3), arr(2), scalar(0.0)),
    case("SparseToDense", i32(1, 1), i32(3), arr(2), scalar(0.0)),
    case("SparseToDense", i32([[0, 1], [1, 3]]), i32(3, 3), arr(2), scalar(0.0)),
    case("SparseToDense", i32(1, 2), i32(3), arr(3), scalar(0.0)),
    case("SparseTensorDenseMatMul", np.array([[0, 5]]), arr(1), np.array([2, 2]), arr(2, 1)),
    case("SparseTensorDenseMatMul", np.array([[4, 1]]), arr(1), np.array([2, 2]), arr(2, 1)),
    case("SparseTensorDenseMatMul", np.array([[0, 1]]), arr(1), np.array([2, 2]), arr(3, 1)),
    case("SparseTensorDenseMatMul", np.array([[0, 5]]), arr(1), np.array([2, 2]), arr(2, 1), adjoint_a=True),
    case("SparseToDense", i32(1, 3), i32(3), arr(2), scalar(0.0), validate_indices=False),
    *[
        one
        for outside in ([[0, 0], [1, 5]], [[0, -1], [1, 2]], [[0, 0], [4, 1]])
        for one in outside_of(np.array(outside, np.int64))
    ],
    *[case("SetSize", np.array(x, np.int64), i32(1, 2), SHAPE) for x in ([[1, 1], [0, 0]], [[0, 1], [0, 1]])],
]


@pytest.mark.parametrize("one", WRONG, ids=lambda c: c.op)
def test_raises_what_tensorflow_raises(one: Case) -> None:
    assert_raises_alike(one)
