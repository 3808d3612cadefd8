"""Types that are rare in training: small integers as data and as numbers of rows, 16-bit floats where fp32 is usual."""

import numpy as np

from tests.kernels.harness import Var, arr, case, i32, scalar

SMALL = ("int8", "uint8", "int16", "int32", "int64")
WELL = (arr(2, 4, 4) * 0.2 + 2 * np.eye(4)).astype(np.float16)
A = np.array([[0, 1], [1, 2], [3, 0]], np.int64)


def short(*values: int) -> np.ndarray:
    return np.array(values, np.int16)


CASES = [
    *[case(op, arr(2, 3, 4, dtype="int16", low=-9, high=9), arr(2, 4, 5, dtype="int16", low=-9, high=9), **attrs)
      for op, attrs in (("BatchMatMulV2", {}), ("BatchMatMulV3", {"Tout": "int16"}))],
    case("GatherV2", arr(5, 3), short(4, 0, 2), scalar(0, "int32")),
    case("GatherNd", arr(5, 3), np.array([[4, 0], [1, 2]], np.int16)),
    case("TopKV2", arr(3, 7), scalar(2, "int32"), index_type="int16"),
    case("UnsortedSegmentSum", arr(4, 2), short(0, 2, 0, -1), scalar(3, "int32")),
    *[case("SegmentMean", arr(5, 2, dtype=d, low=-9, high=90), i32(0, 0, 1, 3, 3)) for d in SMALL],
    *[case("SparseSegmentSum", arr(5, 2, dtype=d, low=-9, high=90), i32(0, 4, 2, 4), i32(0, 0, 1, 2))
      for d in SMALL],
    *[case("ScatterDiv", Var(arr(4, 2, dtype=d, low=-90, high=90), "ref"), i32(0, 2, 0), np.full((3, 2), 7, d)) for d in SMALL],
    case("ScatterNd", i32([[0], [2], [0]]), arr(3, 2, dtype="bool"), i32(4, 2)),
    case("MatrixInverse", WELL, rtol=2e-3),
    case("Qr", arr(4, 3, dtype="float16"), rtol=2e-3),
    *[case("SparseTensorDenseMatMul", A, arr(3, dtype=d), np.array([4, 3], np.int64), arr(3, 5, dtype=d))
      for d in ("float16", "bfloat16")],
    case("SparseSoftmax", A, arr(3, dtype="float16"), np.array([4, 3], np.int64)),
]  # fmt: skip
