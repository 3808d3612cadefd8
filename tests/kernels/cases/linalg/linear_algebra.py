"""Cases of npu_runtime.kernels.linalg.linear_algebra."""

import numpy as np

from tests.kernels.harness import arr, case

# TensorFlow reflects in fp32 where numpy reflects in fp64: the difference is TensorFlow's rounding.
ROUNDING = {"rtol": 2e-6, "atol": 2e-5}

CASES = [
    *[case("Qr", arr(*shape), **ROUNDING) for shape in ((5, 3), (3, 5), (4, 4), (1, 1), (2, 3, 6, 4), (64, 32))],
    *[case("Qr", arr(*shape), full_matrices=True, **ROUNDING) for shape in ((5, 3), (3, 5), (2, 4, 4))],
    case("Qr", np.eye(3, dtype=np.float32), id="identity", **ROUNDING),
    case("Qr", -np.triu(arr(4, 4)), id="upper", **ROUNDING),
    case("Qr", np.array([[0, 2], [3, 1], [0, 5]], np.float32), id="zero first", **ROUNDING),
]
