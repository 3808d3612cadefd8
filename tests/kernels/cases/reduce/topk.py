"""Largest entries: ties, every k, several axes, every dtype; NthElement both ways; classes among the first k."""

import numpy as np

from tests.kernels.harness import arr, case, i32, scalar

TIES = np.array([[1, 3, 3, 2, 3, 1, 0, 3], [0, 0, 0, 0, 0, 0, 0, 0], [-1, 5, -1, 5, 5, 2, 2, 2]], np.float32)
DTYPES = ("float16", "bfloat16", "int32", "int64", "int8", "uint8")
PREDICTIONS = np.array([[0.1, 0.3, 0.3, 0.2], [np.nan, 1, 2, 3], [np.inf, 1, 2, 3], [4, 3, 2, 1], [1, 1, 1, 1]], np.float32)

CASES = [
    *[case("TopKV2", arr(4, 30), scalar(k, "int32")) for k in (0, 1, 2, 7, 8, 30)],
    *[case("TopKV2", TIES, scalar(k, "int32")) for k in (1, 2, 3, 8)],
    *[case("TopKV2", arr(*s), scalar(1, "int32")) for s in ((5,), (2, 3, 4), (0, 3))],
    case("TopKV2", np.tile(TIES, (2, 9)), scalar(5, "int32")),
    *[case("TopKV2", np.tile(TIES, (2, 40)), scalar(k, "int32")) for k in (2, 3, 20, 21)],
    *[case("TopKV2", arr(4, n), scalar(k, "int32")) for n, k in ((321, 20), (1000, 7), (160, 10))],
    *[case("TopKV2", arr(2, 3, 200, dtype=d, low=-100, high=100), scalar(4, "int32")) for d in DTYPES],
    case("TopKV2", arr(7, 100), scalar(3, "int64"), index_type="int64"),
    *[case("TopKV2", arr(7, 100), scalar(k, "int32"), sorted=False) for k in (0, 1, 2, 3, 17, 99, 100)],
    *[case("TopKV2", TIES, scalar(k, "int32"), sorted=False) for k in (1, 2, 3, 5, 7, 8)],
    *[case("TopKV2", np.tile(TIES, (2, 40)), scalar(k, "int32"), sorted=False) for k in (2, 20, 300)],
    *[case("TopKV2", arr(2, 3, 200, dtype=d, low=-100, high=100), scalar(40, "int32"), sorted=False) for d in DTYPES],
    case("TopKV2", arr(0, 9), scalar(3, "int32"), sorted=False),
    case("TopKV2", np.float32([[np.inf, 1, -np.inf, -0.0, 0.0, 3, np.inf]]), scalar(5, "int32"), sorted=False),
    *[case("TopKV2", arr(3, 40, dtype=d, low=-100, high=100), scalar(k, "int32")) for d in DTYPES for k in (4, 40)],
    case("TopKV2", np.array([[-(2**31), 2**31 - 1, 0, -1, 1]], np.int32), scalar(5, "int32")),
    *[case("InTopK", PREDICTIONS, i32(1, 1, 1, 3, 3), k=k) for k in (1, 2, 3, 4)],
    case("InTopK", arr(3, 4), np.array([7, -1, 2], np.int64), k=4),
    *[case("InTopKV2", arr(9, 20), arr(9, dtype="int32", low=0, high=20), scalar(k, "int32")) for k in (0, 5, 20)],
    case("InTopKV2", arr(0, 4), np.zeros(0, np.int64), scalar(2, "int64")),
    *[case("NthElement", arr(4, 30), scalar(n, "int32"), reverse=r) for n in (0, 3, 29) for r in (False, True)],
    *[case("NthElement", arr(3, 40, dtype=d, low=-100, high=100), scalar(4, "int32")) for d in DTYPES],
    case("NthElement", arr(5), scalar(4, "int32")),
]
