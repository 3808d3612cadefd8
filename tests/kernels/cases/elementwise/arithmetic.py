"""Two tensors: each way to broadcast, integer division, zeros, infinities and NaN."""

from __future__ import annotations

import numpy as np

from tests.kernels.harness import Case, arr, case, i32, scalar

SIGNED = ("int8", "int16", "int32", "int64")
INTEGERS = (*SIGNED, "uint8")
LINE = np.array([0.0, -0.0, 1.0, -1.0, 2.5, -2.5, np.inf, -np.inf, np.nan], np.float32)
X, Y = LINE[:, None], LINE[None, :]
FLOAT_OPS = ["Add", "AddV2", "Sub", "Mul", "RealDiv", "Div", "TruncateDiv", "FloorDiv", "FloorMod", "Maximum", "Minimum",
             "SquaredDifference", "DivNoNan", "MulNoNan", "Xdivy"]  # fmt: skip
POSITIVE_OPS = ["Pow", "Xlogy", "Xlog1py", "Atan2"]


def _broadcasts(op: str, low: float, high: float) -> list[Case]:
    def given(*shape: int, dtype: str = "float32", seed: int = 0) -> np.ndarray:
        return arr(*shape, dtype=dtype, low=low, high=high, seed=seed)

    return [
        case(op, given(4, 5), given(4, 5, seed=1), id="same"),
        case(op, given(2, 3, 5), given(5), id="trailing"),
        case(op, given(2, 1, 5), given(4, 1), id="both"),
        case(op, given(3, 4), np.array(0.75, np.float32), id="scalar-right"),
        case(op, np.array(1.25, np.float32), given(3, 4), id="scalar-left"),
        case(op, np.array(1.25, np.float32), np.array(0.5, np.float32), id="scalars"),
        case(op, given(0, 3), given(3), id="empty"),
        case(op, given(4, 5, dtype="float16"), given(5, dtype="float16"), id="float16"),
        case(op, given(4, 5, dtype="bfloat16"), given(5, dtype="bfloat16"), id="bfloat16"),
    ]


def _large(op: str) -> list[Case]:
    pairs = [((200003,), (200003,)), ((200003,), ()), ((500, 401), (401,)), ((500, 401), (500, 1)),
             ((3, 90, 8, 101), (3, 1, 1, 101)),
             ((2, 1, 40000), (2, 3, 1)), ((1, 2, 100000), (1, 2, 100000))]  # fmt: skip
    return [case(op, arr(*a), arr(*b, seed=1), id=f"large{k}") for k, (a, b) in enumerate(pairs)]


def _whole(op: str, *types: str, low: int = 1) -> list[Case]:
    return [case(op, arr(6, 7, dtype=t, low=-100, high=100), arr(7, dtype=t, low=low, high=9), id=t) for t in types]


def _signs(op: str, *types: str) -> list[Case]:
    x, y = np.array([7, -7, 6, -6, 0, 1]), np.array([2, -2, 3, -3])[:, None]
    return [case(op, x.astype(t), y.astype(t), id=f"signs-{t}") for t in types]


CASES = [
    *[c for op in FLOAT_OPS for c in _broadcasts(op, -2.0, 2.0)],
    *[c for op in POSITIVE_OPS for c in _broadcasts(op, 0.1, 3.0)],
    *[c for op in ("Mul", "Sub", "FloorMod") for c in _large(op)],
    *[case(op, X, Y, id="special") for op in [*FLOAT_OPS, "Pow", "Atan2", "Xlogy", "Xlog1py"]],
    case("Mod", arr(4, 5, low=-9, high=9), arr(5)),
    case("TruncateMod", arr(4, 5, low=-9, high=9), arr(5)),
    case("Mod", X, Y, id="special"),
    *[c for op in ("Add", "AddV2", "Sub", "Mul", "Maximum", "Minimum") for c in _whole(op, *INTEGERS, low=0)],
    *_whole("SquaredDifference", "int32", "int64", low=0),
    *[c for op in ("Div", "TruncateDiv", "FloorDiv", "FloorMod") for c in _whole(op, *INTEGERS)],
    *[c for op in ("Div", "TruncateDiv", "FloorDiv", "FloorMod") for c in _signs(op, *SIGNED)],
    *[c for op in ("Mod", "TruncateMod") for c in _signs(op, "int32", "int64")],
    *[case("Pow", arr(4, 5, dtype=t, low=-3, high=4), arr(5, dtype=t, low=0, high=4), id=t) for t in SIGNED],
    case("Pow", arr(4, 5, low=-2.0, high=2.0), scalar(2.0), id="square"),
    case("Pow", arr(4, 5, low=-2.0, high=2.0), scalar(3.0), id="cube"),
    case("Pow", arr(4, 5, low=0.0, high=2.0), scalar(0.5), id="root"),
    case("AddN", [arr(3, 4)], id="one"),
    case("AddN", [arr(3, 4), arr(3, 4, seed=1)], id="two"),
    case("AddN", [arr(3, 4, seed=k) for k in range(5)], id="five"),
    case("AddN", [arr(3, 4, seed=k, dtype="float16") for k in range(3)], id="float16"),
    case("AddN", [arr(3, 4, seed=k, dtype="bfloat16") for k in range(9)], id="bfloat16"),
    case("AddN", [scalar(1.5), scalar(2.5)], id="scalars"),
    case("AddN", [i32(1, 2), i32(3, 4), i32(5, 6)], id="int32"),
    case("AddN", [arr(0, 4), arr(0, 4)], id="empty"),
    case("AddN", [arr(200003, seed=k) for k in range(3)], id="large"),
    *[
        case("AddN", [arr(3, 4, seed=k, low=0, high=3) for k in range(n)], rtol=0, atol=0, id=f"{n} to the bit")
        for n in (8, 9, 10, 11, 16, 17, 18, 50)
    ],
    case("AddN", [arr(9, seed=k % 7, low=0, high=3) for k in range(3000)], rtol=0, atol=0, id="many to the bit"),
    case("AddN", [arr(200003, seed=k) for k in range(12)], rtol=0, atol=0, id="large to the bit"),
    *[case("AddN", [arr(5, seed=k, dtype=t, low=0, high=3) for k in range(19)], id=f"many {t}") for t in ("int32", "float16")],
]
