"""Floating-point operations of kernels, counted as TensorFlow's profiler counts them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from npu_runtime.graph.spec import Spec

Estimate = Callable[[Sequence[Spec], Sequence[Spec], dict[str, Any]], float]
"""(input specs, output specs, attrs) -> floating-point operations. Shapes are complete when it is called."""


def n_elements(spec: Spec) -> int:
    return math.prod(spec.known_shape())


def no_work(inputs: Sequence[Spec], outputs: Sequence[Spec], attrs: dict[str, Any]) -> float:
    """Data movement only."""
    return 0.0


def per_element(flops: float) -> Estimate:
    """`flops` for every element of output 0."""

    def estimate(inputs: Sequence[Spec], outputs: Sequence[Spec], attrs: dict[str, Any]) -> float:
        return flops * n_elements(outputs[0])

    return estimate


def per_input_element(flops: float, index: int = 0) -> Estimate:
    """`flops` for every element of input `index`: reductions."""

    def estimate(inputs: Sequence[Spec], outputs: Sequence[Spec], attrs: dict[str, Any]) -> float:
        return flops * n_elements(inputs[index])

    return estimate
