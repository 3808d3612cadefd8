"""Comparisons, logic, selection."""

from __future__ import annotations

import numpy as np

from tests.kernels.harness import Case, arr, case, i32, scalar

LINE = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan], np.float32)
NUMBERS = ("float32", "float16", "bfloat16", "int8", "uint8", "int16", "int32", "int64")
INTEGERS = ("int8", "uint8", "int16", "int32", "int64")
LOGIC = np.array([True, True, False, False]), np.array([True, False, True, False])


def _comparison(op: str) -> list[Case]:
    return [
        *[case(op, arr(3, 5, dtype=t, low=0, high=3), arr(5, dtype=t, low=0, high=3, seed=1), id=t) for t in NUMBERS],
        case(op, LINE[:, None], LINE[None], id="special"),
        case(op, arr(3, 4), scalar(0.5), id="scalar-right"),
        case(op, scalar(1.0), scalar(1.0), id="scalars"),
        case(op, arr(0, 4), arr(4), id="empty"),
        case(op, arr(300, 301), arr(301), id="large"),
    ]


def _selection(op: str) -> list[Case]:
    return [
        *[case(op, arr(3, 4, dtype="bool"), arr(3, 4, dtype=t), arr(3, 4, dtype=t, seed=1), id=t) for t in (*NUMBERS, "bool")],
        case(op, scalar(True, "bool"), arr(3, 4), arr(3, 4, seed=1), id="scalar"),
        case(op, scalar(True, "bool"), scalar(1.0), scalar(2.0), id="scalars"),
        case(op, arr(0, 4, dtype="bool"), arr(0, 4), arr(0, 4), id="empty"),
        case(op, arr(3, *(() if op == "Select" else (1,)), dtype="bool"), arr(3, 4), arr(3, 4, seed=1), id="rows"),
        case(op, arr(300, 301, dtype="bool"), arr(300, 301), arr(300, 301, seed=1), id="large"),
        case(op, np.isfinite(LINE), LINE, np.zeros_like(LINE), id="special"),
    ]


def _bits(op: str, low: int = -100, high: int = 100) -> list[Case]:
    return [case(op, arr(4, 5, dtype=t, low=-100, high=100), arr(5, dtype=t, low=low, high=high), id=t) for t in INTEGERS]


CASES = [
    *[c for op in ("Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual") for c in _comparison(op)],
    *[case(op, arr(3, 4, dtype="bool"), arr(4, dtype="bool"), id="bool") for op in ("Equal", "NotEqual")],
    *[case(op, arr(3), arr(4), incompatible_shape_error=False, id="unfit") for op in ("Equal", "NotEqual")],
    *[case(op, arr(3), arr(3), incompatible_shape_error=False, id="fit") for op in ("Equal", "NotEqual")],
    case("LogicalAnd", *LOGIC),
    case("LogicalOr", *LOGIC),
    case("LogicalNot", LOGIC[0]),
    case("LogicalAnd", arr(3, 4, dtype="bool"), scalar(True, "bool")),
    case("LogicalOr", arr(0, 4, dtype="bool"), arr(4, dtype="bool")),
    case("LogicalNot", scalar(True, "bool")),
    *[c for op in ("BitwiseAnd", "BitwiseOr", "BitwiseXor") for c in _bits(op)],
    *[c for op in ("LeftShift", "RightShift") for c in _bits(op, 0, 7)],
    *[case("Invert", arr(4, 5, dtype=t, low=-100, high=100), id=t) for t in INTEGERS],
    case("ApproximateEqual", arr(3, 4), arr(3, 4) + np.float32(2e-6) * arr(3, 4, low=0, high=10, seed=1)),
    case("ApproximateEqual", arr(3, 4), arr(3, 4, seed=1), tolerance=0.5),
    case("ApproximateEqual", LINE, LINE),
    *_selection("Select"),
    *_selection("SelectV2"),
    case("SelectV2", arr(3, 1, 5, dtype="bool"), arr(4, 1), arr(2, 1, 1, 1), id="broadcast"),
    case("SelectV2", arr(300, 1, dtype="bool"), arr(300, 301), scalar(0.0), id="large-broadcast"),
    case("Select", arr(300, dtype="bool"), arr(300, 301), arr(300, 301, seed=1), id="large-rows"),
    *[case("Where", arr(4, 5, dtype=t, low=0, high=2), id=t) for t in (*NUMBERS, "bool") if t != "float16"],
    case("Where", arr(2, 3, 4, dtype="bool"), id="rank3"),
    case("Where", arr(0, 3, dtype="bool"), id="empty"),
    case("Where", np.zeros((3, 3), bool), id="none"),
    case("Where", LINE, id="special"),
    *[case("ClipByValue", arr(4, 5, dtype=t, low=0, high=9), scalar(2, t), scalar(6, t), id=t) for t in NUMBERS],
    case("ClipByValue", arr(4, 5), arr(4, 5, low=-1, high=0), arr(4, 5, low=0, high=1), id="same-shape"),
    case("ClipByValue", arr(4, 5), scalar(-1.0), arr(4, 5, low=0, high=1), id="mixed"),
    case("ClipByValue", arr(0, 5), scalar(-1.0), scalar(1.0), id="empty"),
    case("ClipByValue", LINE, scalar(-1.0), scalar(1.0), id="special"),
    case("ClipByValue", arr(300, 301), scalar(-1.0), scalar(1.0), id="large"),
    case("Equal", i32(1, 2, 3), i32(3, 2, 1), id="vectors"),
]
