"""Cases of npu_runtime.kernels.elementwise.fake_quantization."""

import numpy as np

from tests.kernels.harness import arr, case, scalar

X, G = arr(4, 6, low=-8, high=8), arr(4, 6, seed=1)
LOW, HIGH = arr(6, low=-3, high=-1), arr(6, low=1, high=4)
SETTINGS = [{}, {"num_bits": 4}, {"narrow_range": True}, {"num_bits": 16}, {"num_bits": 2, "narrow_range": True}]
ENDS = [(-1.0, 2.0), (0.0, 5.0), (-3.0, 0.0), (0.3, 4.0), (-4.0, -0.5), (0.0, 0.0)]
CASES = [
    *[case("FakeQuantWithMinMaxArgs", X, **s) for s in SETTINGS],
    *[case("FakeQuantWithMinMaxArgs", X, min=a, max=b) for a, b in ENDS[:-1]],
    *[case("FakeQuantWithMinMaxArgsGradient", G, X, **s) for s in SETTINGS],
    *[case("FakeQuantWithMinMaxVars", X, scalar(a), scalar(b), **s) for a, b in ENDS for s in SETTINGS[:3]],
    *[case("FakeQuantWithMinMaxVarsGradient", G, X, scalar(a), scalar(b), **s) for a, b in ENDS for s in SETTINGS[:2]],
    *[case("FakeQuantWithMinMaxVarsPerChannel", x, LOW, HIGH, **s) for x in (X, arr(2, 3, 6), arr(6)) for s in SETTINGS],
    *[case("FakeQuantWithMinMaxVarsPerChannelGradient", g, x, LOW, HIGH, **s)
      for g, x in ((G, X), (arr(2, 3, 6), arr(2, 3, 6, seed=1))) for s in SETTINGS],
    case("FakeQuantWithMinMaxVars", np.zeros((0, 3), np.float32), scalar(-1.0), scalar(1.0)),
]  # fmt: skip
