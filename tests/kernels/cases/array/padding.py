"""Padding with a value, mirrored, and its gradient."""

from __future__ import annotations

import numpy as np

from tests.kernels.harness import arr, case, i32, scalar

X = arr(3, 4)
PADDINGS = [i32([[0, 0], [0, 0]]), i32([[1, 2], [0, 3]]), i32([[2, 0], [1, 1]]), i32([[2, 2], [3, 3]])]
MIRROR_TYPES = ("int8", "uint8", "int16", "int32", "int64", "float16", "bfloat16")

CASES = [
    *[case("Pad", X, p) for p in PADDINGS],
    case("Pad", arr(2, 3, 4, 5), i32([[0, 0], [3, 3], [2, 1], [0, 0]])),
    *[case("Pad", arr(2, 3, dtype=t), i32([[1, 0], [0, 1]]), id=t) for t in (*MIRROR_TYPES, "bool")],
    case("Pad", arr(0, 3), i32([[1, 1], [0, 0]])),
    case("Pad", scalar(1.0), np.zeros((0, 2), np.int32)),
    case("Pad", arr(3), np.array([[1, 1]], np.int64)),
    *[case("PadV2", X, p, scalar(7.5)) for p in PADDINGS],
    case("PadV2", arr(2, dtype="bfloat16"), i32([[1, 1]]), scalar(1.5, "bfloat16")),
    *[case("MirrorPad", X, p, mode="SYMMETRIC") for p in PADDINGS],
    *[case("MirrorPad", X, p, mode="REFLECT") for p in PADDINGS],
    *[case("MirrorPad", arr(2, 3, dtype=t), i32([[1, 0], [0, 2]]), mode="REFLECT", id=t) for t in (*MIRROR_TYPES, "bool")],
    case("MirrorPad", arr(2, 5, 6, 3), i32([[0, 0], [3, 3], [2, 1], [0, 0]]), mode="REFLECT"),
    *[case("MirrorPadGrad", arr(9, 10), p, mode=mode) for p in PADDINGS for mode in ("REFLECT", "SYMMETRIC")],
    *[case("MirrorPadGrad", arr(5, 6, dtype=t), i32([[1, 0], [0, 2]]), mode="SYMMETRIC", id=t) for t in MIRROR_TYPES],
    case("MirrorPadGrad", arr(2, 11, 9, 3), i32([[0, 0], [3, 3], [2, 1], [0, 0]]), mode="REFLECT"),
]
