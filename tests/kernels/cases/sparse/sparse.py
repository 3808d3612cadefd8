"""Sparse tensors to dense and times dense: ranks, single values, transposes, repeated coordinates, empty ones."""

import numpy as np

from tests.kernels.harness import arr, case, i32, scalar

ZERO = scalar(0.0)
COORDINATES = np.array([[0, 1], [0, 3], [2, 0], [2, 0], [4, 3]], np.int64)
EXTENTS = np.array([5, 4], np.int64)
MANY = np.stack([np.sort(arr(900, dtype="int64", low=0, high=30)), arr(900, dtype="int64", low=0, high=30, seed=1)], axis=1)

CASES = [
    case("SparseToDense", i32(1, 4), i32(6), arr(2), ZERO),
    case("SparseToDense", i32([[0, 1], [2, 0]]), i32(3, 4), arr(2), scalar(-1.0)),
    case("SparseToDense", scalar(3, "int32"), i32(6), scalar(2.5), ZERO),
    case("SparseToDense", i32(1, 4), i32(6), scalar(2.5), ZERO),
    case("SparseToDense", i32(4, 1, 4), i32(6), arr(3), ZERO, validate_indices=False),
    case("SparseToDense", np.zeros((0, 2), np.int64), np.array([2, 3], np.int64), arr(0), ZERO),
    *[case("SparseToDense", i32(1, 4), i32(6), arr(2, dtype=d), scalar(1, d)) for d in ("int32", "int64", "bool", "float16")],
    *[
        case("SparseTensorDenseMatMul", COORDINATES, arr(5), EXTENTS, b, adjoint_a=a, adjoint_b=t)
        for a, t, b in (
            (False, False, arr(4, 3)),
            (True, False, arr(5, 3)),
            (False, True, arr(3, 4)),
            (True, True, arr(3, 5)),
            (False, False, arr(4, 0)),
        )
    ],
    case("SparseTensorDenseMatMul", np.zeros((0, 2), np.int64), arr(0), EXTENTS, arr(4, 3)),
    *[
        case("SparseTensorDenseMatMul", MANY, arr(900), np.array([30, 30], np.int64), arr(30, n), adjoint_a=a, rtol=1e-4)
        for n, a in ((48, False), (48, True), (7, False))
    ],
    case("SparseTensorDenseMatMul", COORDINATES.astype(np.int32), arr(5), EXTENTS, arr(4, 1)),
    case("SparseTensorDenseMatMul", COORDINATES, arr(5, dtype="int32"), EXTENTS, arr(4, 3, dtype="int32")),
]
