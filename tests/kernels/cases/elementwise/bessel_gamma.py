"""Cases of npu_runtime.kernels.elementwise.bessel_gamma."""

import numpy as np

from tests.kernels.harness import arr, case, scalar

ODD = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-30, 50.0, -50.0], np.float32)
TOLERANCE = {"float16": {}, "bfloat16": {}, "float32": {"rtol": 6e-5}}
POSITIVE = {"low": 0.1, "high": 6}
# TensorFlow evaluates series in fp32; SciPy's values are within half an ulp of the true ones.
SERIES = {"rtol": 6e-5}
EDGES = np.float32([0, -0.0, 0.5, -0.5, 1, -1, 3, 9, np.nan])
CASES = [
    *[case(op, x, **SERIES) for op in ("BesselI0", "BesselI0e", "BesselI1", "BesselI1e")
      for x in (arr(3, 5), arr(64, low=-30, high=30), arr(0, 2), arr(9, dtype="float16"), scalar(1.5))],
    *[case(op, arr(4, 5, **POSITIVE), arr(4, 5, seed=1, **POSITIVE), **SERIES) for op in ("Igamma", "Igammac")],
    *[case(op, EDGES[:, None], EDGES, **SERIES, id="edges") for op in ("Igamma", "Igammac")],
    *[case(op, arr(5, **POSITIVE), arr(4, 1, seed=1, **POSITIVE), **SERIES) for op in ("Igamma", "Igammac")],
    case("Betainc", arr(4, 5, **POSITIVE), arr(4, 5, seed=1, **POSITIVE), arr(4, 5, low=0, high=1), **SERIES),
    case("Betainc", scalar(2.0), scalar(3.0), arr(5, low=0, high=1), **SERIES),
    case("Zeta", arr(4, 5, low=1.5, high=6), arr(4, 5, **POSITIVE), **SERIES),
    case("Polygamma", np.float32([[0], [1], [2], [5]]), arr(7, **POSITIVE), **SERIES),
    case("Polygamma", np.float32([0.5, -1.0]), np.float32([1.0, 1.0]), **SERIES),
    case("NextAfter", arr(6), arr(6, seed=1)),
    case("NextAfter", ODD, ODD[::-1].copy(), atol=0.0),
    *[case("CumulativeLogsumexp", arr(3, 4, dtype=d), scalar(a, "int32"), exclusive=e, reverse=r, **TOLERANCE[d])
      for d in ("float32", "float16", "bfloat16") for a in (0, -1) for e in (False, True) for r in (False, True)],
    case("CumulativeLogsumexp", arr(0, 4), scalar(0, "int64")),
]  # fmt: skip
