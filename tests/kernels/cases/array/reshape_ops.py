"""Ops that pass their input on, or see it under another shape."""

from __future__ import annotations

import numpy as np

from tests.kernels.harness import arr, case, i32, scalar

CASES = [
    *[case(op, x) for op in ("Identity", "Snapshot", "StopGradient", "GuaranteeConst", "PreventGradient")
      for x in (arr(3, 4), arr(0, 2, dtype="int32"), scalar(True, "bool"), arr(3, dtype="bfloat16"))],
    case("PreventGradient", arr(3), message="not differentiable"),
    case("IdentityN", [arr(3, 4), arr(2, dtype="int64"), scalar(True, "bool")]),
    *[case(op, x, message="bad") for op in ("CheckNumerics", "CheckNumericsV2")
      for x in (arr(3, 4), arr(0), scalar(2.0), arr(3, dtype="float16"))],
    case("Reshape", arr(3, 4), i32(2, 6)),
    case("Reshape", arr(3, 4), i32(-1)),
    case("Reshape", arr(3, 4), i32(2, -1, 3)),
    case("Reshape", arr(1, 1), np.zeros(0, np.int32), id="to-scalar"),
    case("Reshape", scalar(3.0), i32(1, 1, 1)),
    case("Reshape", arr(0, 4), i32(4, 0)),
    case("Reshape", arr(0, 4), i32(-1, 4)),
    case("Reshape", arr(0, 4), i32(0, -1)),
    case("Reshape", arr(2, 0, 3), i32(3, -1, 0)),
    case("Reshape", arr(6, dtype="int32"), np.array([2, 3], np.int64)),
    *[case(op, arr(1, 3, dtype="uint64"), id="keys") for op in ("Identity", "Squeeze", "StopGradient")],
    *[case(op, arr(1, 3, dtype="uint64"), i32(n), id="keys") for op, n in (("Reshape", 3), ("ExpandDims", 1))],
    case("IdentityN", [arr(3, dtype="uint64"), arr(2)], id="keys"),
    case("Squeeze", arr(1, 3, 1, 4)),
    case("Squeeze", arr(1, 3, 1, 4), squeeze_dims=[0]),
    case("Squeeze", arr(1, 3, 1, 4), squeeze_dims=[-2]),
    case("Squeeze", arr(1, 3, 1, 4), squeeze_dims=[0, 2]),
    case("Squeeze", arr(1, 1), id="to-scalar"),
    case("Squeeze", arr(1, 0, 1), squeeze_dims=[2]),
    *[case("ExpandDims", arr(3, 4), np.array(axis, np.int32)) for axis in (0, 1, 2, -1, -2, -3)],
    case("ExpandDims", scalar(2.0), np.array(0, np.int64)),
    case("ExpandDims", arr(3), i32(1)),
    case("EnsureShape", arr(3, 4), shape=(3, 4)),
    case("EnsureShape", arr(3, 4), shape=(None, 4)),
]  # fmt: skip
