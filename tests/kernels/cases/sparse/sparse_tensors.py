"""Cases of npu_runtime.kernels.sparse.sparse_tensors and sparse_reductions."""

import numpy as np

from tests.kernels.harness import arr, case, i32, scalar


def long(*values: object) -> np.ndarray:
    return np.array(values, np.int64)


A, B = long([0, 1], [1, 2], [1, 4], [3, 0]), long([0, 0], [1, 2], [3, 0], [3, 4])
MIXED = long([3, 0], [1, 4], [0, 1], [1, 2])
SHAPE = long(4, 5)
V, W = arr(4), arr(4, seed=1)
NONE = (np.zeros((0, 2), np.int64), np.zeros(0, np.float32))
CUBE, CUBE_SHAPE = long([0, 1, 0], [0, 1, 2], [1, 0, 0], [1, 1, 1], [1, 1, 2]), long(2, 2, 3)
TYPES = ("float32", "int32", "int64", "float16", "bfloat16")

OUTSIDE, DOUBLE = long([0, 9], [-1, 2], [1, 4], [7, 0]), long([2, 2], [1, 2], [1, 2], [3, 0])
"""Coordinates that TensorFlow only compares, or counts with."""

CASES = [
    *[case("SparseReorder", x, V, SHAPE, id=i) for x, i in ((OUTSIDE, "outside"), (DOUBLE, "twice"))],
    *[case("SparseConcat", [OUTSIDE, A], [V, W], [SHAPE, SHAPE], concat_dim=d, id=f"outside {d}") for d in (0, 1)],
    *[case("SparseAdd", x, V, SHAPE, y, W, SHAPE, scalar(0.0), id=i)
      for x, y, i in ((OUTSIDE, B, "outside"), (A, DOUBLE, "twice"), (DOUBLE, MIXED, "unordered"), (MIXED, MIXED, "same"))],
    case("SparseSparseMaximum", DOUBLE, V, SHAPE, B, W, SHAPE, id="twice"),
    case("SparseAddGrad", arr(7), A, DOUBLE, long([0, 1], [1, 2], [1, 4], [2, 2], [1, 2], [1, 2], [3, 0]), id="twice"),
    case("SparseReshape", OUTSIDE, SHAPE, long(10, 2), id="outside"),
    *[case(f"SparseReduce{name}Sparse", np.sort(OUTSIDE, axis=0), V, SHAPE, i32(1), id="outside") for name in ("Sum", "Max")],
    *[case("SparseSoftmax", x, y, SHAPE, id=i)
      for x, y, i in ((OUTSIDE, V, "outside"), (MIXED, V, "unordered"))],
    *[case("SparseReorder", MIXED, arr(4, dtype=d), SHAPE) for d in (*TYPES, "bool")],
    case("SparseReorder", *NONE, SHAPE),
    *[case("SparseConcat", [A, B], [V, W], [SHAPE, SHAPE], concat_dim=d) for d in (0, 1, -1)],
    case("SparseConcat", [A, NONE[0]], [V, NONE[1]], [SHAPE, SHAPE], concat_dim=1),
    *[case("SparseSplit", scalar(axis, "int64"), A, V, SHAPE, num_split=n) for axis, n in ((0, 2), (1, 2), (1, 3), (0, 1))],
    *[case("SparseSplit", scalar(axis, "int64"), A, V, SHAPE, num_split=2) for axis in (-1, -2)],
    *[case("SparseSlice", A, V, SHAPE, long(*b), long(*s)) for b, s in (((0, 0), (2, 3)), ((1, 1), (5, 5)), ((3, 4), (1, 1)))],
    case("SparseSliceGrad", arr(2), A, long(0, 0), long([0, 1], [1, 2])),
    case("SparseSliceGrad", arr(1), A, long(1, 3), long([0, 1])),
    *[case("SparseAdd", A, arr(4, dtype=d), SHAPE, B, arr(4, dtype=d, seed=1), SHAPE, scalar(0, d))
      for d in ("float32", "int32")],
    case("SparseAdd", A, V, SHAPE, B, W, SHAPE, scalar(0.8)),
    case("SparseAdd", *NONE, SHAPE, *NONE, SHAPE, scalar(0.0)),
    case("SparseAddGrad", arr(6), A, B, long([0, 0], [0, 1], [1, 2], [1, 4], [3, 0], [3, 4])),
    case("SparseAddGrad", arr(3), A, B, long([0, 1], [1, 2], [3, 4])),
    *[case(op, A, arr(4, dtype=d), SHAPE, B, arr(4, dtype=d, seed=1), SHAPE)
      for op in ("SparseSparseMaximum", "SparseSparseMinimum") for d in ("float32", "int32")],
    *[case(op, A, V, SHAPE, d)
      for op in ("SparseDenseCwiseAdd", "SparseDenseCwiseMul") for d in (arr(4, 5), arr(5), arr(4, 1), arr())],
    *[case("SparseTensorDenseAdd", A.astype(t), V, SHAPE.astype(t), arr(4, 5)) for t in ("int32", "int64")],
    *[case(f"SparseReduce{name}{kind}", CUBE, arr(5, dtype=d), CUBE_SHAPE, axes, keep_dims=k)
      for name in ("Sum", "Max") for kind in ("", "Sparse") for d in ("float32", "int32")
      for axes in (i32(0), i32(1, 2), i32(-1), i32(0, 1, 2)) for k in (False, True)],
    *[case("SparseReduceSum", *NONE, SHAPE, i32(0), keep_dims=k) for k in (False, True)],
    case("SparseSoftmax", A, V, SHAPE),
    case("SparseSoftmax", CUBE, arr(5, low=-9, high=9), CUBE_SHAPE),
    case("SparseSoftmax", *NONE, SHAPE),
    *[case("SparseMatMul",
           arr(*(4, 3) if s else (3, 4), dtype=d), arr(*(5, 4) if t else (4, 5), dtype=e), transpose_a=s, transpose_b=t)
      for s in (False, True) for t in (False, True) for d, e in (("float32", "float32"), ("bfloat16", "float32"))],
]  # fmt: skip
