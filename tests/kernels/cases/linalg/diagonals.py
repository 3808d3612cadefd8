"""Diagonals in, out and replaced: one, several, off the main one, each alignment."""

from __future__ import annotations

import numpy as np

from tests.kernels.harness import arr, case, i32, scalar

ALIGNS = ("RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT")
ANY = scalar(-1, "int32")
PAD = scalar(9.5)
BANDS = [
    (i32(0), 3, 1),
    (i32(1), 3, 1),
    (i32(-2), 1, 1),
    (i32(-1, 1), 3, 3),
    (i32(-2, 2), 3, 5),
    (i32(0, 2), 3, 3),
    (i32(-2, -1), 2, 2),
]
"""(k, longest diagonal, number of diagonals) of a 3 x 4 matrix."""


def _diagonals(n: int, longest: int) -> np.ndarray:
    return arr(2, longest) if n == 1 else arr(2, n, longest)


CASES = [
    *[case("Diag", arr(*shape, dtype=t)) for shape in ((3,), (2, 3)) for t in ("float32", "float16", "int32", "int64")],
    case("DiagPart", arr(4, 4)),
    case("DiagPart", arr(2, 3, 2, 3, dtype="int32")),
    *[case("MatrixDiag", arr(2, 3, dtype=t), id=t) for t in ("float32", "bfloat16", "int64", "bool")],
    case("MatrixDiag", arr(0, 3)),
    *[case("MatrixDiagPart", arr(*shape)) for shape in ((3, 3), (2, 3, 5), (2, 5, 3), (0, 2, 2))],
    *[case("MatrixDiagV2", _diagonals(n, m), k, scalar(3, "int32"), scalar(4, "int32"), PAD) for k, m, n in BANDS],
    *[case("MatrixDiagV3", _diagonals(n, m), k, scalar(3, "int32"), scalar(4, "int32"), PAD, align=a)
      for k, m, n in BANDS for a in ALIGNS],
    case("MatrixDiagV3", arr(2, 3), scalar(0, "int32"), ANY, ANY, scalar(0.0)),
    case("MatrixDiagV3", arr(2, 3), scalar(1, "int32"), ANY, ANY, scalar(0.0)),
    case("MatrixDiagV3", arr(2, 3), scalar(0, "int32"), scalar(5, "int32"), ANY, scalar(0.0)),
    *[case("MatrixDiagPartV2", arr(2, 3, 4), k, PAD) for k, _, _ in BANDS],
    *[case("MatrixDiagPartV3", arr(2, 3, 4), k, PAD, align=a) for k, _, _ in BANDS for a in ALIGNS],
    case("MatrixDiagPartV3", arr(3, 3, dtype="int32"), scalar(0, "int32"), scalar(0, "int32")),
    case("MatrixSetDiag", arr(2, 3, 4), arr(2, 3, seed=1)),
    case("MatrixSetDiag", arr(4, 3, dtype="int32"), arr(3, dtype="int32", seed=1)),
    *[case("MatrixSetDiagV2", arr(2, 3, 4), _diagonals(n, m), k) for k, m, n in BANDS],
    *[case("MatrixSetDiagV3", arr(2, 3, 4), _diagonals(n, m), k, align=a) for k, m, n in BANDS for a in ALIGNS],
    *[case("MatrixBandPart", arr(2, 4, 5), scalar(low, "int64"), scalar(high, "int64"))
      for low in (-1, 0, 2) for high in (-1, 0, 2)],
    *[case("MatrixBandPart", arr(*shape), scalar(0, "int64"), scalar(-1, "int64"))
      for shape in ((0, 3), (3, 0), (0, 0), (0, 3, 3))],
    case("MatrixBandPart", arr(3, 3, dtype="bool"), scalar(1, "int32"), scalar(0, "int32")),
]  # fmt: skip
