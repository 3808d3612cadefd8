"""Joining and taking apart."""

from __future__ import annotations

import numpy as np

from tests.kernels.harness import arr, case, i32, scalar

I0, I1, LAST = (scalar(n, "int32") for n in (0, 1, -1))

CASES = [
    case("ConcatV2", [arr(2, 3), arr(4, 3)], I0),
    case("ConcatV2", [arr(2, 3), arr(2, 1), arr(2, 5)], I1),
    case("ConcatV2", [arr(2, 3, 2), arr(2, 3, 4)], LAST),
    case("ConcatV2", [arr(2, 3), arr(0, 3)], I0, id="empty"),
    case("ConcatV2", [arr(3, dtype="int64"), arr(2, dtype="int64")], scalar(0, "int64")),
    *[case("ConcatV2", [arr(2, 3, dtype=t), arr(2, 1, dtype=t)], I1, id=t) for t in ("bool", "float16", "bfloat16", "uint8")],
    *[
        case(op, [arr(3, dtype="uint64"), arr(3, dtype="uint64", seed=1)], *rest, id="keys")
        for op, rest in (("ConcatV2", [I0]), ("Pack", []))
    ],
    case("Split", I0, arr(6, dtype="uint64"), num_split=3, id="keys"),
    case("SplitV", arr(6, dtype="uint64"), i32(1, 5), I0, num_split=2, id="keys"),
    case("Unpack", arr(3, 4, dtype="uint64"), num=3, id="keys"),
    case("ConcatV2", [arr(300, 200), arr(300, 100)], I1, id="large"),
    case("Concat", I0, [arr(2, 3), arr(4, 3)]),
    case("Concat", I1, [arr(2, 3, dtype="int32"), arr(2, 1, dtype="int32")]),
    case("Split", I0, arr(6, 4), num_split=3),
    case("Split", I1, arr(6, 4), num_split=2),
    case("Split", LAST, arr(2, 3, 4), num_split=4),
    case("Split", I0, arr(6, dtype="int32"), num_split=1),
    case("Split", I1, arr(0, 4), num_split=2),
    case("Split", I1, arr(700, 800), num_split=2, id="large"),
    case("SplitV", arr(6, 4), i32(1, 2, 3), I0, num_split=3),
    case("SplitV", arr(6, 4), i32(1, -1), I1, num_split=2),
    case("SplitV", arr(6, 4), np.array([4, 0, 2], np.int64), scalar(-2, "int32"), num_split=3),
    case("SplitV", arr(3, dtype="bool"), i32(3), I0, num_split=1),
    case("Pack", [arr(2, 3), arr(2, 3, seed=1)]),
    case("Pack", [arr(2, 3), arr(2, 3, seed=1)], axis=1),
    case("Pack", [arr(2, 3), arr(2, 3, seed=1)], axis=-1),
    case("Pack", [arr(2, 3), arr(2, 3, seed=1)], axis=-2),
    case("Pack", [scalar(1, "int32"), scalar(2, "int32"), scalar(3, "int32")], id="scalars"),
    case("Pack", [arr(0, 3), arr(0, 3)], axis=1, id="empty"),
    case("Pack", [arr(3, dtype="bfloat16")], id="one"),
    case("Unpack", arr(3, 4), num=3),
    case("Unpack", arr(3, 4), num=4, axis=1),
    case("Unpack", arr(2, 3, 4), num=4, axis=-1),
    case("Unpack", arr(1, 4, dtype="int32"), num=1),
    case("Unpack", arr(3), num=3, id="scalars"),
    case("Unpack", arr(2, 0), num=2, id="empty"),
]
