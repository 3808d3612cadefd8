"""Parts by number and back."""

from __future__ import annotations

import numpy as np

from tests.kernels.harness import arr, case, i32, scalar

CASES = [
    *[case(op, [i32(0, 2), i32(1, 3)], [arr(2, 3), arr(2, 3, seed=1)]) for op in ("DynamicStitch", "ParallelDynamicStitch")],
    case("DynamicStitch", [i32(0, 1), i32(1, 2)], [arr(2), arr(2, seed=1)], id="last-wins"),
    case("DynamicStitch", [i32([[0, 3], [1, 2]])], [arr(2, 2, 5)], id="matrix"),
    case("DynamicStitch", [scalar(1, "int32"), i32(0, 2)], [arr(4), arr(2, 4)], id="scalar"),
    case("DynamicStitch", [i32(0, 1), np.zeros(0, np.int32)], [i32(5, 6), np.zeros(0, np.int32)], id="int32"),
    case("DynamicPartition", arr(6, 2), i32(0, 2, 0, 1, 2, 2), num_partitions=3),
    case("DynamicPartition", arr(4, dtype="int64"), i32(0, 0, 0, 0), num_partitions=2),
    case("DynamicPartition", arr(2, 3, 2), i32([[0, 1, 0], [1, 1, 0]]), num_partitions=2),
    case("DynamicPartition", arr(0, 2), np.zeros(0, np.int32), num_partitions=2),
    case("DynamicPartition", arr(3, dtype="bool"), i32(0, 0, 0), num_partitions=1),
]
