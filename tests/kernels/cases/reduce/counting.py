"""Counts and bins: weights, values outside, empty inputs, dtypes."""

import numpy as np

from tests.kernels.harness import arr, case, i32, scalar

NONE = np.zeros(0, np.float32)
COUNTED = ("float32", "int32", "int64")
NUMBERS = arr(200, dtype="int32", low=0, high=12)

CASES = [
    *[case("Bincount", NUMBERS, scalar(n, "int32"), NONE.astype(t)) for n in (0, 7, 20) for t in COUNTED],
    *[case("Bincount", NUMBERS, scalar(9, "int32"), arr(200, dtype=t, low=1, high=4)) for t in COUNTED],
    case("Bincount", NUMBERS.reshape(20, 10), scalar(9, "int32"), arr(20, 10)),
    case("Bincount", np.zeros(0, np.int32), scalar(3, "int32"), NONE),
    *[case("DenseBincount", NUMBERS, scalar(n, "int32"), NONE, binary_output=b) for n in (7, 20) for b in (False, True)],
    case("DenseBincount", NUMBERS.astype(np.int64), scalar(9, "int64"), arr(200)),
    *[case("DenseBincount", NUMBERS.reshape(20, 10), scalar(9, "int32"), NONE, binary_output=b) for b in (False, True)],
    case("DenseBincount", NUMBERS.reshape(20, 10), scalar(9, "int32"), arr(20, 10)),
    *[case("HistogramFixedWidth", arr(300), np.array([-1, 1.5], np.float32), scalar(n, "int32")) for n in (1, 5, 100)],
    case("HistogramFixedWidth", arr(30, 10), np.array([-1, 1.5], np.float32), scalar(5, "int32"), dtype="int64"),
    case("HistogramFixedWidth", arr(300, dtype="int32", low=-9, high=30), i32(0, 20), scalar(7, "int32")),
    case(
        "HistogramFixedWidth",
        np.float32([np.inf, 0.3, -np.inf, 3e38, -3e38]),
        np.array([-1, 1.5], np.float32),
        scalar(4, "int32"),
    ),
    case("HistogramFixedWidth", np.zeros(0, np.float32), np.array([0, 1], np.float32), scalar(3, "int32")),
    *[case("Bucketize", arr(5, 6, dtype=t, low=-20, high=120), boundaries=[0.0, 10.0, 100.0]) for t in COUNTED],
    case("Bucketize", np.array([0, 10, 10, 100], np.float32), boundaries=[0.0, 10.0, 10.0, 100.0]),
    case("Bucketize", arr(3), boundaries=[]),
]
