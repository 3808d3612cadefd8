"""Shapes as values; small integer vectors."""

from __future__ import annotations

import numpy as np

from tests.kernels.harness import arr, case, i32, scalar

EMPTY = np.zeros(0, np.int32)
SHAPE_PAIRS = [
    (i32(2, 3), i32(2, 3)), (i32(2, 3), i32(3)), (i32(2, 1), i32(1, 3)), (i32(4, 1, 3), i32(2, 1)), (EMPTY, i32(2, 3)),
    (i32(2, 3), EMPTY), (i32(1, 1), i32(1, 1)), (i32(1, 3), i32(1, 1)), (i32(0, 3), i32(1, 3)),
    (EMPTY, EMPTY), (i32(5, 1, 2), i32(1, 1, 2)),
]  # fmt: skip

CASES = [
    *[case("Shape", x) for x in (arr(3, 4), scalar(1.0), arr(0, 2), arr(2, dtype="bool"))],
    case("Shape", arr(3, 4), out_type="int64"),
    case("ShapeN", [arr(3, 4), scalar(1.0), arr(2)]),
    case("ShapeN", [arr(3, 4), arr(2)], out_type="int64"),
    case("Size", arr(3, 4)),
    case("Size", arr(3, 0), out_type="int64"),
    case("Rank", arr(3, 4)),
    case("Rank", scalar(1, "int32")),
    *[case(op, a, b) for op in ("BroadcastArgs", "BroadcastGradientArgs") for a, b in SHAPE_PAIRS],
    case("BroadcastGradientArgs", i32(2, 1).astype(np.int64), i32(3).astype(np.int64)),
    case("BroadcastArgs", i32(2, 1).astype(np.int64), i32(3).astype(np.int64)),
    case("InvertPermutation", i32(2, 0, 1, 3)),
    case("InvertPermutation", np.array([1, 0], np.int64)),
    case("InvertPermutation", EMPTY),
    case("ConcatOffset", scalar(1, "int32"), [i32(2, 3, 5), i32(2, 7, 5), i32(2, 1, 5)]),
    case("ConcatOffset", scalar(-1, "int32"), [i32(2, 3), i32(2, 4)]),
    *[case("Range", *[scalar(n, "int32") for n in numbers]) for numbers in [(0, 10, 1), (3, 18, 4), (5, -5, -3), (2, 2, 1)]],
    case("Range", scalar(0, "int64"), scalar(10, "int64"), scalar(3, "int64")),
    *[case("Range", *map(scalar, numbers))
      for numbers in [(0.0, 5.0, 1.0), (0.5, 3.0, 0.3), (3.0, -1.0, -0.7), (0.0, 100.0, 0.1), (0.0, 1.1, 0.1), (0.0, 2.4, 0.8)]],
    case("LinSpace", scalar(0.0), scalar(1.0), scalar(5, "int32")),
    case("LinSpace", scalar(-3.0), scalar(7.5), scalar(100, "int64")),
    case("LinSpace", scalar(2.0), scalar(9.0), scalar(1, "int32")),
    case("LinSpace", scalar(2.0), scalar(9.0), scalar(2, "int32")),
]  # fmt: skip
