"""Cases of npu_runtime.kernels.assertion; failing ones are in test_assertion."""

import numpy as np

from tests.kernels.harness import arr, case, scalar

TRUE = scalar(True, "bool")
TEXT = np.array(b"must be positive", object)

CASES = [
    case("Assert", TRUE, [arr(3)]),
    case("Assert", TRUE, [TEXT, arr(2, 3, dtype="int32"), arr(0)], summarize=2),
]
