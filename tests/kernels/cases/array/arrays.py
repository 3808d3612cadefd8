"""Filling, repeating, transposing, reversing."""

from __future__ import annotations

import numpy as np

from tests.kernels.harness import Case, arr, case, i32, scalar

NOTHING = np.zeros(0, np.int32)
PERMUTED = [((3, 4), (1, 0)), ((2, 3, 4), (2, 0, 1)), ((2, 3, 4), (0, 2, 1)), ((2, 3, 4, 5), (0, 3, 1, 2)),
            ((2, 3, 4, 5), (0, 2, 3, 1)),
            ((2, 3, 4, 5), (3, 2, 1, 0)), ((2, 3, 4, 5), (0, 2, 1, 3)), ((0, 3), (1, 0)), ((1, 3, 1, 2), (2, 3, 0, 1)),
            ((200, 301), (1, 0)), ((4, 40, 50, 33), (0, 3, 1, 2)), ((4, 33, 40, 50), (0, 2, 3, 1)),
            ((7, 20, 30, 33), (3, 1, 0, 2)),
            ((40, 30, 20, 10), (1, 0, 2, 3)), ((40, 30, 20, 10), (0, 2, 1, 3)),
            ((5, 7, 11, 13, 17), (4, 0, 3, 1, 2)), ((40000, 2), (1, 0)), ((2, 40000), (1, 0)),
            ((64, 4, 3, 96), (0, 3, 2, 1)), ((2, 3, 9000), (0, 2, 1)), ((530, 515), (1, 0)),
            ((3, 530, 515), (0, 2, 1))]  # fmt: skip


def _one_hot(*shape: int, depth: int = 4, **attrs: int) -> Case:
    return case("OneHot", arr(*shape, dtype="int64", low=-1, high=6), scalar(depth, "int32"), scalar(1.5), scalar(-0.5), **attrs)


CASES = [
    case("Fill", i32(2, 3), scalar(1.5)),
    case("Fill", NOTHING, scalar(True, "bool")),
    case("Fill", i32(2, 0), scalar(7, "int32")),
    case("Fill", np.array([3], np.int64), scalar(1.5, "float16")),
    case("Fill", i32(4), scalar(2.5, "bfloat16")),
    *[case(op, x) for op in ("ZerosLike", "OnesLike")
      for x in (arr(2, 3), arr(2, 0), scalar(2, "int64"), arr(3, dtype="bool"), arr(3, dtype="bfloat16"))],
    case("BroadcastTo", arr(3, 1), i32(2, 3, 4)),
    case("BroadcastTo", scalar(2.0), np.array([2, 2], np.int64)),
    case("BroadcastTo", arr(3, 4), i32(3, 4)),
    case("BroadcastTo", arr(1, 3), i32(0, 3)),
    case("Tile", arr(2, 3), i32(2, 1)),
    case("Tile", arr(2, 3), i32(3, 2)),
    case("Tile", arr(3, dtype="int32"), np.array([4], np.int64)),
    case("Tile", arr(2, 3), i32(0, 2)),
    case("Tile", scalar(2.0), NOTHING),
    case("Tile", arr(2, 1, 3, dtype="bool"), i32(1, 5, 1)),
    case("Tile", arr(4, 1), i32(1, 6)),
    case("Tile", arr(1, 3), i32(0, 1)),
    *[case("Transpose", arr(*shape), i32(list(perm)), id=f"{shape}{perm}".replace(" ", "")) for shape, perm in PERMUTED],
    case("Transpose", arr(3, 4, dtype="bool"), np.array([1, 0], np.int64)),
    case("Transpose", scalar(2.0), NOTHING),
    case("Transpose", arr(300, 200, dtype="bfloat16"), i32(1, 0)),
    case("ConjugateTranspose", arr(3, 4), i32(1, 0)),
    *[case("ReverseV2", arr(3, 4, 5), i32(list(axes))) for axes in ((0,), (1, 2), (-1,), (0, 1, 2))],
    case("ReverseV2", arr(3, 4), NOTHING),
    case("ReverseV2", arr(700, 300), i32(1)),
    case("Reverse", arr(3, 4, dtype="int32"), np.array([True, False])),
    case("ReverseSequence", arr(3, 5, 2), i32(2, 5, 0), seq_dim=1),
    case("ReverseSequence", arr(5, 3, 2), np.array([2, 5, 1], np.int64), seq_dim=0, batch_dim=1),
    case("ReverseSequence", arr(2, 3, 4, 2), i32(1, 2, 3, 0), seq_dim=1, batch_dim=2),
    _one_hot(5),
    _one_hot(2, 3),
    _one_hot(2, 3, axis=0),
    _one_hot(2, 3, axis=1),
    _one_hot(),
    _one_hot(0),
    _one_hot(3, depth=0),
    case("OneHot", i32(0, 2), scalar(3, "int32"), scalar(True, "bool"), scalar(False, "bool")),
    case("OneHot", arr(4, dtype="uint8", low=0, high=4), scalar(3, "int32"), scalar(1, "int32"), scalar(0, "int32")),
]  # fmt: skip
