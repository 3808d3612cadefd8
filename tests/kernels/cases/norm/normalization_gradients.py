"""Cases of npu_runtime.kernels.norm.normalization_gradients."""

from typing import Any

import numpy as np

from tests.kernels.harness import Case, arr, case

OPS = ("FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3")


def grad(op: str, shape: tuple[int, ...], id: str, dtype: str = "float32", low: float = -2.0, **attrs: Any) -> Case:
    """The gradient at x with its own batch statistics."""
    x = arr(*shape, dtype=dtype, low=low, high=low + 4, seed=1)
    wide = x.astype(np.float32).reshape(-1, shape[-1])
    mean, variance = (wide.mean(axis=0), wide.var(axis=0)) if x.size else (arr(shape[-1]), arr(shape[-1], low=0.1))
    third = [np.zeros(0, np.float32)] if op.endswith("V3") else []
    return case(op, arr(*shape, dtype=dtype), x, arr(shape[-1], seed=2), mean, variance, *third, id=id, **attrs)


CASES = [
    grad(op, (3, 4, 5, 6), f"{is_training}-{epsilon}", is_training=is_training, epsilon=epsilon)
    for op in OPS
    for is_training in (True, False)
    for epsilon in (1e-3, 0.5)
] + [
    grad("FusedBatchNormGradV3", shape, f"{shape}-{is_training}", is_training=is_training)
    for shape in ((1, 1, 1, 3), (2, 3, 3, 1), (17, 9, 11, 7), (12, 28, 28, 32), (1, 1, 4099, 1), (4, 5, 5, 3000), (0, 2, 2, 3))
    for is_training in (True, False)
] + [
    # The rounding error of a mean near 100, in deviations: TensorFlow's own and ours alike.
    grad("FusedBatchNormGradV3", (17, 9, 11, 7), f"far from zero-{is_training}", low=100, is_training=is_training, rtol=1e-4)
    for is_training in (True, False)
] + [
    grad(op, (3, 4, 5, 6), f"bfloat16-{is_training}", "bfloat16", is_training=is_training)
    for op in OPS[1:]
    for is_training in (True, False)
]  # fmt: skip
