"""Cases for npu_runtime.kernels.elementwise.predicate."""

from __future__ import annotations

from tests.kernels.harness import arr, case, scalar

CASES = [
    *(case("ToBool", scalar(value, dtype)) for value in (0, 1) for dtype in ("bool", "int32", "int64", "float32")),
    case("ToBool", arr(2, 3)),
    case("ToBool", arr(0)),
    case("ToBool", scalar(float("nan"), "float32")),
]
