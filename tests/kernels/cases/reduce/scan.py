"""Running sums and products: each axis, both flags, every type."""

from __future__ import annotations

import numpy as np

from tests.kernels.harness import arr, case, scalar

FLAGS = [{"exclusive": e, "reverse": r} for e in (False, True) for r in (False, True)]
X = arr(3, 4, 5)
WIDE = arr(6, 300)
WIDE[2, 3], WIDE[3, 4] = np.nan, np.inf

CASES = [
    *[case(op, X, scalar(axis, "int32"), **flags) for op in ("Cumsum", "Cumprod") for axis in (0, 1, 2, -1) for flags in FLAGS],
    *[case(op, arr(4, 5, dtype=t, low=-9, high=9), scalar(1, "int32"), id=t)
      for op in ("Cumsum", "Cumprod") for t in ("int8", "uint8", "int16", "int32", "int64", "float16", "bfloat16")],
    *[case(op, arr(0, 5), scalar(0, "int32"), exclusive=True, id="empty") for op in ("Cumsum", "Cumprod")],
    *[case(op, WIDE, scalar(0, "int32"), id="wide", **flags) for op in ("Cumsum", "Cumprod") for flags in FLAGS],
    *[case("Cumsum", arr(4, 300, dtype=t, low=-9, high=9), scalar(0, "int32"), id=f"wide {t}")
      for t in ("int8", "int32", "int64", "float16", "bfloat16")],
    case("Cumsum", arr(3, 17, 256), scalar(1, "int32"), reverse=True, id="wide middle"),
    case("Cumsum", arr(5, 9, 17, 3), scalar(1, "int32"), id="wide middle of four"),
    case("Cumsum", arr(3, 9001), scalar(0, "int32"), id="wide in pieces"),
    case("Cumsum", arr(7), np.array(0, np.int64), id="vector"),
    case("Cumsum", arr(200, 300), scalar(1, "int32"), id="large"),
]  # fmt: skip
