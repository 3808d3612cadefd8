"""Reductions: each subset of axes, keep_dims, every type, nothing to reduce, values that wrap, NaN."""

from __future__ import annotations

import numpy as np

from tests.kernels.harness import Case, arr, case, i32, scalar

NOTHING = np.zeros(0, np.int32)
INTEGERS = ("int8", "uint8", "int16", "int32", "int64")
OPS = ["Sum", "Mean", "Prod", "Max", "Min", "EuclideanNorm"]
AXES = [(0,), (1,), (2,), (-1,), (0, 1), (0, 2), (1, 2), (0, 1, 2)]
NAN = np.array([[1.0, np.nan, 3.0], [np.nan, np.nan, np.nan], [-np.inf, 2.0, np.inf], [np.nan, 5.0, 7.0]], np.float32)
LONG_NAN = arr(2, 2100, 64)
LONG_NAN[0, 5, 3], LONG_NAN[1, 2099, 60], LONG_NAN[1, 7] = np.nan, np.nan, np.inf


def _axes(op: str, dtype: str = "float32") -> list[Case]:
    x = arr(2, 3, 4, dtype=dtype)
    return [case(op, x, i32(list(axes)), keep_dims=keep) for axes in AXES for keep in (False, True)]


def _edges(op: str, dtype: str = "float32") -> list[Case]:
    return [
        case(op, arr(2, 3, dtype=dtype), scalar(1, "int32"), id="scalar-axis"),
        case(op, arr(2, 3, dtype=dtype), np.array([0], np.int64), id="int64-axis"),
        case(op, arr(2, 3, dtype=dtype), NOTHING, id="no-axis"),
        case(op, arr(2, 3, dtype=dtype), NOTHING, keep_dims=True, id="no-axis-keep"),
        case(op, np.array(arr(1, dtype=dtype)[0]), NOTHING, id="scalar"),
        case(op, arr(0, 3, dtype=dtype), i32(0), id="of-nothing"),
        case(op, arr(0, 3, dtype=dtype), i32(1), id="nothing"),
        case(op, arr(2, 1, 3, dtype=dtype), i32(0, 2), id="one-between"),
    ]


def _large(op: str) -> list[Case]:
    shapes = [((300, 701), (0,)), ((300, 701), (1,)), ((300, 701), (0, 1)), ((8, 20, 21, 33), (0, 1, 2)),
              ((8, 20, 21, 33), (1, 2)), ((4, 33, 20, 21), (0, 2, 3)), ((70001,), (0,)), ((30011, 3), (0,)), ((3, 30011), (1,)),
              ((5, 1000, 600), (1,)),
              ((2, 3001, 7), (1,)), ((130, 700), (0,)), ((2053, 64), (0,)), ((1031, 1031), (0,)), ((1031, 1031), (1,)),
              ((1031, 1031), (0, 1))]  # fmt: skip
    return [case(op, arr(*shape, low=-0.5, high=1.0), i32(list(axes)), id=f"large{k}") for k, (shape, axes) in enumerate(shapes)]


CASES = [
    *[c for op in OPS for c in _axes(op)],
    *[c for op in OPS for c in _edges(op)],
    *[c for op in ("All", "Any") for c in (*_axes(op, "bool"), *_edges(op, "bool"))],
    *[c for op in ("Sum", "Mean") for c in _large(op)],
    case("Prod", arr(300, 701, low=0.9, high=1.1), i32(0), id="large0"),
    case("Prod", arr(701, 300, low=0.9, high=1.1), i32(1), id="large1"),
    case("Mean", arr(40, 5, dtype="int32", low=2**30, high=2**31 - 1), i32(0), id="wrap-far"),
    case("Mean", np.full((2, 7), [[-(2**63)], [-5]], np.int64), i32(1), id="lowest"),
    case("Max", arr(300, 701), i32(0), id="large0"),
    case("Max", arr(300, 701), i32(1), id="large1"),
    case("Min", arr(9, 30, 7, 40), i32(1, 3), id="large0"),
    *[case(op, x, i32(1), id=f"middle-{k}") for op in ("Max", "Min")
      for k, x in enumerate((LONG_NAN, arr(3, 140, 256), arr(2, 5001, 30), arr(2, 2500, 64, dtype="int32")))],
    case("Any", arr(300, 701, dtype="bool"), i32(1), id="large0"),
    *[case(op, arr(4, 5, dtype=t), i32(1), id=t) for op in OPS for t in ("float16", "bfloat16")],
    *[case(op, arr(300, 40, dtype=t, low=0, high=1), i32(0), id=f"long-{t}")
      for op in ("Sum", "Mean") for t in ("float16", "bfloat16")],
    *[case(op, arr(4, 5, dtype=t, low=-9, high=9), i32(1), id=t) for op in OPS for t in INTEGERS],
    *[case(op, arr(40, 5, dtype=t, low=-120, high=120), i32(0), id=f"wrap-{t}")
      for op in ("Sum", "Mean", "Prod") for t in INTEGERS],
    *[case(op, arr(0, 3, dtype=t), i32(0), id=f"of-nothing-{t}")
      for op in ("Sum", "Prod", "Max", "Min") for t in ("int8", "int32", "float16")],
    *[case(op, NAN, i32(axis), id=f"nan{axis}") for op in ("Sum", "Max", "Min") for axis in (0, 1)],
    *[case(op, x, scalar(axis, "int32"), output_type=t, id=f"{t}-{x.ndim}{axis}") for op in ("ArgMax", "ArgMin")
      for t in ("int32", "int64")
      for x, axis in [(arr(3, 4), 0), (arr(3, 4), 1), (arr(2, 3, 4), -1), (arr(2, 3, 4), 1), (arr(5), 0)]],
    *[case(op, arr(4, 9, dtype=t, low=0, high=3), scalar(1, "int32"), id=t)
      for op in ("ArgMax", "ArgMin") for t in (*INTEGERS, "bool", "float16", "bfloat16")],
    *[case(op, NAN, scalar(axis, "int32"), id=f"nan{axis}") for op in ("ArgMax", "ArgMin") for axis in (0, 1)],
    *[case(op, arr(0, 4), scalar(1, "int64"), id="nothing") for op in ("ArgMax", "ArgMin")],
    case("L2Loss", arr(3, 4)),
    case("L2Loss", arr(300, 301), id="large"),
    case("L2Loss", arr(0, 3)),
    case("L2Loss", scalar(3.0)),
    case("L2Loss", arr(30, dtype="float16")),
    case("L2Loss", arr(30, dtype="bfloat16")),
]  # fmt: skip
