"""Error and gamma functions."""

from __future__ import annotations

import numpy as np

from tests.kernels.harness import Case, arr, case, scalar

EDGES = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5, 2.0, 9.0, -9.0, 1e-6], np.float32)


def _floats(op: str, low: float, high: float, *types: str) -> list[Case]:
    return [
        *[case(op, arr(5, 7, dtype=t, low=low, high=high), id=t) for t in ("float32", *types)],
        case(op, arr(0, 3), id="empty"),
        case(op, scalar(0.5), id="scalar"),
        case(op, arr(70001, low=low, high=high), id="large"),
    ]


CASES = [
    *_floats("Erf", -4.0, 4.0, "float16", "bfloat16"),
    *_floats("Erfc", -4.0, 4.0, "float16", "bfloat16"),
    *_floats("Erfinv", -0.99, 0.99),
    *_floats("Ndtri", 0.01, 0.99),
    *_floats("Lgamma", 0.1, 9.0, "float16"),
    *_floats("Digamma", 0.1, 9.0, "float16"),
    case("Lgamma", arr(50, low=-5.9, high=0.0), id="negative"),
    case("Digamma", arr(50, low=-5.9, high=0.0), id="negative"),
    *[case(op, EDGES, id="edges") for op in ("Erf", "Erfc", "Lgamma", "Digamma")],
    *[case(op, EDGES[[0, 1, 5, 6, 7]], id="edges") for op in ("Erfinv",)],
    case("Ndtri", EDGES[[0, 5, 7]], id="edges"),
]
