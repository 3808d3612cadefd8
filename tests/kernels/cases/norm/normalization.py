"""Cases of npu_runtime.kernels.norm.normalization."""

from typing import Any

import numpy as np

from tests.kernels.harness import Case, arr, case

NOTHING = np.zeros(0, "float32")


def channels_of(x: np.ndarray, attrs: dict[str, Any]) -> int:
    return x.shape[1] if attrs.get("data_format", "NHWC") in ("NCHW", "NCDHW") else x.shape[-1]


def norm(op: str, x: np.ndarray, id: str, **attrs: Any) -> Case:
    c = channels_of(x, attrs)
    needs_old = not attrs.get("is_training", True) or attrs.get("exponential_avg_factor", 1.0) != 1.0
    old = [arr(c, seed=3), arr(c, low=0.1, seed=4)] if needs_old else [NOTHING, NOTHING]
    return case(op, x, arr(c, seed=1), arr(c, seed=2), *old, id=id, **attrs)


OPS = ("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
FORWARD = [
    norm(op, arr(3, 4, 5, 6), f"{train}-{share}-{epsilon}", is_training=train, exponential_avg_factor=share, epsilon=epsilon)
    for op in OPS
    for train, share in ((True, 1.0), (True, 0.1), (False, 1.0), (False, 0.3))
    for epsilon in (1e-3, 0.5)
] + [
    norm("FusedBatchNormV3", arr(*shape), f"{shape}-{is_training}", is_training=is_training)
    for shape in ((1, 1, 1, 3), (2, 3, 3, 1), (17, 9, 11, 7), (12, 28, 28, 32), (1, 1, 4099, 1), (4, 5, 5, 3000))
    for is_training in (True, False)
] + [
    norm("FusedBatchNormV3", arr(0, 2, 2, 3), "empty", is_training=True),
    norm("FusedBatchNormV3", arr(2, 0, 2, 3), "no rows", is_training=True),
    # A fixed rounding error of inputs near 100 is 30 times that of inputs near 3; TensorFlow's own result is off by 4e-5 of it.
    norm("FusedBatchNormV3", arr(17, 9, 11, 7, low=100, high=102), "far from zero", is_training=True, rtol=1e-4),
    case("FusedBatchNormV3", arr(5, 9, 11, 7, low=99, high=102), arr(7, seed=1), arr(7, seed=2),
         arr(7, low=100, high=101, seed=3), arr(7, low=0.1, seed=4), is_training=False, rtol=1e-4, id="far from zero, inference"),
    # Means of up to four deviations, and results that are large beside them.
    case("FusedBatchNormV3", arr(5, 9, 11, 7, low=0, high=2), arr(7, low=50, high=200, seed=1), arr(7, seed=2), NOTHING, NOTHING,
         is_training=True, id="large scale"),
]  # fmt: skip
TYPES = [
    norm(op, arr(3, 4, 5, 6, dtype=dtype), f"{dtype}-{is_training}", is_training=is_training)
    for op, dtype, is_training in (
        # Without training TensorFlow's fp16 kernel leaves its reserve outputs undefined; V3's sixth is a scalar there.
        ("FusedBatchNormV2", "float16", True),
        ("FusedBatchNormV2", "bfloat16", True),
        ("FusedBatchNormV2", "bfloat16", False),
        ("FusedBatchNormV3", "bfloat16", True),
        ("FusedBatchNormV3", "bfloat16", False),
    )
]

CASES = FORWARD + TYPES
