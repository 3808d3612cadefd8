"""Gradients of element-wise functions."""

from __future__ import annotations

import numpy as np

from tests.kernels.harness import Case, arr, case, scalar

EDGES = np.array([0.0, -0.0, 6.0, -6.0, 1e-6, -1e-6, np.inf, -np.inf, np.nan, 1.0, -1.0, 7.0], np.float32)
OF_RESULT = ["TanhGrad", "SigmoidGrad", "SqrtGrad", "RsqrtGrad", "InvGrad", "ReciprocalGrad"]
OF_INPUT = ["ReluGrad", "Relu6Grad", "LeakyReluGrad", "EluGrad", "SeluGrad", "SoftplusGrad", "SoftsignGrad"]


def _floats(op: str, low: float, high: float) -> list[Case]:
    return [
        *[case(op, arr(5, 7, dtype=t, low=low, high=high), arr(5, 7, dtype=t, low=low, high=high, seed=1), id=t)
          for t in ("float32", "float16", "bfloat16")],
        case(op, arr(0, 3), arr(0, 3), id="empty"),
        case(op, scalar(0.5), scalar(0.25), id="scalar"),
        case(op, arr(3, 70001, low=low, high=high), arr(3, 70001, low=low, high=high, seed=1), id="large"),
        case(op, np.ones(12, np.float32), EDGES, id="edges"),
        case(op, EDGES, np.ones(12, np.float32), id="edges-first"),
        case(op, EDGES, np.zeros(12, np.float32), id="edges-zero"),
    ]  # fmt: skip


CASES = [
    *[c for op in OF_RESULT for c in _floats(op, 0.1, 0.9)],
    *[c for op in OF_INPUT for c in _floats(op, -7.0, 7.0)],
    *[case(op, arr(4, 5, dtype=t, low=-9, high=9), arr(4, 5, dtype=t, low=-9, high=9, seed=1), id=t)
      for op in ("ReluGrad", "Relu6Grad") for t in ("int8", "uint8", "int16", "int32", "int64")],
    case("LeakyReluGrad", arr(3, 4), arr(3, 4, seed=1), alpha=0.01),
    case("LeakyReluGrad", arr(3, 4), arr(3, 4, seed=1), alpha=1.5),
]  # fmt: skip
