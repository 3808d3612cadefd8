"""A sum of matrix products as one: what is summed over lies side by side, and no product is written before it is added."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from npu_runtime.cost.work import n_elements
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.linalg.matmul import multiply
from npu_runtime.kernels.threads.parallel import scratch

PRODUCT_SUM = "_ProductSum"


def _shape(*operands: Spec, count: int) -> Shape:
    left, right = operands[0].shape, operands[count].shape
    return None if left is None or right is None else (left[1], right[1])


def _flops(inputs: Sequence[Spec], outputs: Sequence[Spec], attrs: dict[str, Any]) -> float:
    """Flops as the products and their sum count alone."""
    count = attrs["count"]
    inner = sum(spec.known_shape()[0] for spec in inputs[:count])
    return (2.0 * inner + count - 1) * n_elements(outputs[0])


def _stacked(name: str, parts: Sequence[np.ndarray]) -> np.ndarray:
    """The rows of all parts below each other, in scratch that is good until the next call."""
    stack = scratch(name, (sum(len(part) for part in parts), parts[0].shape[1]))
    return np.concatenate(parts, axis=0, out=stack)


@kernel(PRODUCT_SUM, unit="cube", shape=_shape, dtypes=frozenset({"float32"}), estimate=_flops)
def product_sum(*operands: np.ndarray, count: int, out: np.ndarray | None = None) -> np.ndarray:
    """The sum of left' @ right over `count` pairs: the gradient of a matrix that several products share.

    operands: `count` of (k, m), then as many of (k, n), fp32; k may differ between pairs.  Returns: (m, n).
    """
    left, right = _stacked("product sum left", operands[:count]), _stacked("product sum right", operands[count:])
    result = np.empty((left.shape[1], right.shape[1]), np.float32) if out is None else out
    return multiply(left.T, right, result)
