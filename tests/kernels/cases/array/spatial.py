"""Blocks between space, depth and batch; image patches."""

from __future__ import annotations

import numpy as np

from tests.kernels.harness import arr, case, i32

ZERO = i32([[0, 0], [0, 0]])
PATCHES = [
    ([1, 2, 3, 1], [1, 1, 1, 1], [1, 1, 1, 1]),
    ([1, 3, 3, 1], [1, 2, 2, 1], [1, 1, 1, 1]),
    ([1, 2, 2, 1], [1, 3, 1, 1], [1, 2, 3, 1]),
]

CASES = [
    *[case("SpaceToDepth", arr(2, 4, 6, 3, dtype=t), block_size=2, id=t) for t in ("float32", "int32", "bfloat16")],
    case("SpaceToDepth", arr(1, 6, 9, 2), block_size=3),
    case("SpaceToDepth", arr(0, 4, 4, 2), block_size=2),
    case("SpaceToDepth", arr(4, 64, 64, 16), block_size=4, id="large"),
    *[case("DepthToSpace", arr(2, 2, 3, 12, dtype=t), block_size=2, id=t) for t in ("float32", "int32", "bfloat16")],
    case("DepthToSpace", arr(1, 2, 3, 18), block_size=3, data_format="NHWC"),
    case("SpaceToBatchND", arr(2, 4, 6, 3), i32(2, 3), ZERO),
    case("SpaceToBatchND", arr(2, 3, 5, 3), i32(2, 3), i32([[1, 0], [0, 1]])),
    case("SpaceToBatchND", arr(2, 6), i32(3), i32([[1, 2]])),
    case("SpaceToBatchND", arr(2, 4, 4, 4, 2, dtype="int32"), i32(2, 1, 2), np.zeros((3, 2), np.int64)),
    case("SpaceToBatchND", arr(0, 4, 4, 1), i32(2, 2), ZERO),
    case("BatchToSpaceND", arr(12, 2, 3, 3), i32(2, 3), ZERO),
    case("BatchToSpaceND", arr(12, 2, 3, 3), i32(2, 3), i32([[1, 0], [2, 1]])),
    case("BatchToSpaceND", arr(6, 3), i32(3), i32([[1, 2]])),
    case("BatchToSpaceND", arr(4, 2, 2, 2, 2, dtype="bfloat16"), np.array([2, 1, 2], np.int64), np.zeros((3, 2), np.int32)),
    case("SpaceToBatch", arr(2, 3, 4, 2), i32([[1, 0], [1, 1]]), block_size=2),
    case("BatchToSpace", arr(8, 2, 3, 2), i32([[1, 0], [1, 1]]), block_size=2),
    *[case("ExtractImagePatches", arr(2, 7, 8, 3), ksizes=k, strides=s, rates=r, padding=p)
      for k, s, r in PATCHES for p in ("SAME", "VALID")],
    case("ExtractImagePatches", arr(1, 5, 5, 2, dtype="int32"), ksizes=[1, 2, 2, 1], strides=[1, 1, 1, 1], rates=[1, 1, 1, 1],
         padding="VALID"),
]  # fmt: skip
