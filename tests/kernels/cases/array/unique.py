"""Unique values with and without an axis, differences of lists, bounds in sorted rows."""

import numpy as np

from tests.kernels.harness import arr, case, i32

DTYPES = ("float32", "float16", "bfloat16", "int32", "int64", "int8", "uint8", "bool")
NO_AXIS = np.zeros(0, np.int64)
ROWS = i32([[1, 2, 1], [3, 4, 3], [1, 2, 1], [0, 9, 0]])
SORTED = np.sort(arr(3, 20, dtype="int32", low=-5, high=5), axis=1)

CASES = [
    *[case("Unique", arr(30, dtype=d, low=-4, high=4)) for d in DTYPES],
    case("Unique", np.zeros(0, np.float32)),
    case("Unique", np.zeros(0, np.int32)),
    case("Unique", np.array([2**31 - 1, -(2**31), 7, 7, -(2**31)], np.int32)),
    case("Unique", np.array([2**63 - 1, -(2**63), 7, 7, -(2**63)], np.int64)),
    case("UniqueWithCounts", arr(5000, dtype="int32", low=-900, high=900)),
    case("Unique", i32(5, 5, 1, 5, 1, 9), out_idx="int64"),
    *[case("UniqueWithCounts", arr(30, dtype=d, low=-4, high=4)) for d in ("float32", "int32", "int64")],
    case("UniqueWithCounts", i32(5, 5, 1, 5, 1, 9), out_idx="int64"),
    *[case("UniqueV2", ROWS.astype(d), i32(a)) for d in ("int32", "float32") for a in (0, 1, -1)],
    case("UniqueV2", i32(3, 3, 1), NO_AXIS),
    case("UniqueV2", np.stack([ROWS, ROWS], 2), i32(1), out_idx="int64"),
    *[case("UniqueWithCountsV2", ROWS, i32(a)) for a in (0, 1)],
    case("UniqueWithCountsV2", i32(3, 3, 1), NO_AXIS),
    *[case("ListDiff", arr(30, dtype=d, low=-9, high=9), arr(6, dtype=d, low=-9, high=9)) for d in ("int32", "int64", "float32")],
    case("ListDiff", i32(1, 2, 3, 2), i32(3, 1), out_idx="int64"),
    case("ListDiff", i32(1, 2), np.zeros(0, np.int32)),
    *[
        case(op, SORTED.astype(d), arr(3, 7, dtype=d, low=-7, high=7), out_type=t)
        for op in ("LowerBound", "UpperBound")
        for d, t in (("int32", "int32"), ("float32", "int64"), ("int64", "int32"))
    ],
    *[case(op, arr(2, 0), arr(2, 3)) for op in ("LowerBound", "UpperBound")],
    *[case(op, SORTED[:, :3], np.zeros((3, 0), np.int32)) for op in ("LowerBound", "UpperBound")],
]
