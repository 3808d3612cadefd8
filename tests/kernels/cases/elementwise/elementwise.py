"""Functions of one tensor: every type, infinities and NaN, no element, one element, more than one tile."""

from __future__ import annotations

import numpy as np

from tests.kernels.harness import Case, arr, case, scalar

SPECIAL = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5, -0.5, 2.5, 1e-6, -1e-6, 80.0, -80.0], np.float32)
STEEP = ("Sinh", "Cosh", "Exp", "Expm1")
ANYWHERE = ["Tanh", "Sin", "Cos", "Atan", "Sinh", "Cosh", "Asinh", "Exp", "Expm1", "Sigmoid", "Softplus", "Softsign", "Elu",
            "Selu", "Relu", "Relu6", "LeakyRelu", "Neg", "Abs", "Sign", "Square", "Floor", "Ceil", "Round"]  # fmt: skip
POSITIVE = ["Sqrt", "Rsqrt", "Log", "Log1p", "Reciprocal", "Inv"]
UNIT = ["Asin", "Acos", "Atanh", "Tan"]
ABOVE_ONE = ["Acosh"]


def _floats(op: str, low: float, high: float) -> list[Case]:
    return [
        case(op, arr(5, 7, low=low, high=high), id="float32"),
        case(op, arr(5, 7, dtype="float16", low=low, high=high), id="float16"),
        case(op, arr(5, 7, dtype="bfloat16", low=low, high=high), id="bfloat16"),
        case(op, arr(0, 3), id="empty"),
        case(op, scalar(0.5 * (low + high)), id="scalar"),
        case(op, arr(3, 70001, low=low, high=high), id="large"),
        case(op, arr(200003, dtype="bfloat16", low=low, high=high), id="large-bfloat16"),
    ]


def _integers(op: str, *types: str) -> list[Case]:
    return [case(op, arr(4, 5, dtype=t, low=-100, high=100), id=t) for t in types]


CASES = [
    *[c for op in ANYWHERE for c in _floats(op, -3.0, 3.0)],
    *[c for op in POSITIVE for c in _floats(op, 0.01, 9.0)],
    *[c for op in UNIT for c in _floats(op, -0.95, 0.95)],
    *[c for op in ABOVE_ONE for c in _floats(op, 1.01, 9.0)],
    *[case(op, SPECIAL, id="special") for op in [*ANYWHERE, *POSITIVE, *UNIT, *ABOVE_ONE] if op not in STEEP],
    *[case(op, SPECIAL[:12], id="special") for op in STEEP],
    case("Rint", arr(5, 7)),
    case("Rint", SPECIAL),
    *[c for op in ("Neg", "Abs", "Sign") for c in _integers(op, "int8", "int16", "int32", "int64")],
    *[c for op in ("Square", "Relu", "Relu6") for c in _integers(op, "int8", "uint8", "int16", "int32", "int64")],
    *_integers("Round", "int32", "int64"),
    case("Round", np.array([0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 2.4, 2.6], np.float32), id="halves"),
    case("LeakyRelu", arr(3, 4), alpha=0.01),
    case("LeakyRelu", arr(3, 4), alpha=1.5),
    case("LeakyRelu", arr(3, 4), alpha=-0.5),
    *[case(op, SPECIAL.astype(t), id=t) for op in ("IsNan", "IsInf", "IsFinite") for t in ("float32", "float16")],
    *[case(op, arr(3, 4, dtype="bfloat16"), id="bfloat16") for op in ("IsNan", "IsInf", "IsFinite")],
    *[case(op, arr(200003), id="large") for op in ("IsNan", "IsInf", "IsFinite")],
    case("IsFinite", scalar(np.inf)),
    case("IsFinite", arr(0)),
]
