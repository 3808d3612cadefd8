"""Cases of npu_runtime.kernels.random.candidate_sampling."""

import numpy as np

from tests.kernels.harness import case

TRUE = np.array([[1, 5], [0, 99], [3, 3]], np.int64)

CASES = [
    case(op, TRUE, num_true=2, num_sampled=sampled, unique=unique, range_max=range_max, seed=seed, seed2=7)
    for op in ("LogUniformCandidateSampler", "UniformCandidateSampler")
    for sampled, unique, range_max, seed in (
        (10, True, 100, 1), (10, False, 100, 2), (100, True, 100, 3), (1, True, 128, 4),
        (3000, False, 1 << 40, 5), (200, True, 1000, 0),
    )
]  # fmt: skip

CASES += [
    case("ComputeAccidentalHits", TRUE, np.array(sampled, np.int64), num_true=2)
    for sampled in ([5, 7, 0, 3, 9], [3, 3, 3], [99, 5, 1, 0, 3], [8], [])
]
