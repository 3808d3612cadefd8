"""Batch normalisation with what follows it, a sum and an activation, in the pass that writes the result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from npu_runtime.cost.work import per_element
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.elementwise.elementwise import leaky_relu_body
from npu_runtime.kernels.norm.normalization import ONE_TYPE, Outputs, as_matrix, forward, shapes_v3
from npu_runtime.kernels.threads.tiling import filled

NORMALIZED_ACTIVATION = "_BatchNormActivation"


def _relu(block: np.ndarray) -> None:
    np.maximum(block, filled(0, block[0]), out=block)


def _relu6(block: np.ndarray) -> None:
    np.maximum(block, filled(0, block[0]), out=block)
    np.minimum(block, filled(6, block[0]), out=block)


def _leaky_relu(alpha: float) -> Callable[[np.ndarray], None]:
    body = leaky_relu_body(alpha)
    return lambda block: body(block, block)


ACTIVATIONS = {"Relu": _relu, "Relu6": _relu6}
"""Activations in place, over a block of lines: one line of the limit is enough, and one call does the whole block."""


MODES = (*ACTIVATIONS, "LeakyRelu")


def activation_by_lines(name: str, alpha: float) -> Callable[[np.ndarray], None]:
    """One of MODES over a block of lines, in place.  alpha: LeakyRelu's slope below zero."""
    return ACTIVATIONS.get(name) or _leaky_relu(alpha)


def _shapes(x: Spec, scale: Spec, *others: Spec, data_format: str = "NHWC", **attrs: Any) -> list[Shape]:
    return shapes_v3(x, scale, data_format=data_format)


@kernel(NORMALIZED_ACTIVATION, unit="vector", shape=_shapes, dtypes=ONE_TYPE, estimate=per_element(10), inplace=(0,))
def batch_norm_activation(
    x: np.ndarray, scale: np.ndarray, offset: np.ndarray, mean: np.ndarray, variance: np.ndarray, /, *side: np.ndarray,
    activation: str, alpha: float = 0.2, epsilon: float = 1e-4, exponential_avg_factor: float = 1.0, data_format: str = "NHWC",
    is_training: bool = True, out: tuple[np.ndarray | None, ...] | None = None,
) -> Outputs:  # fmt: skip
    """activation(FusedBatchNormV3 + side), bit for bit as the single nodes give it.

    side: nothing, or one tensor in the shape of x.  activation: one of MODES.  alpha: LeakyRelu's slope below zero.
    data_format: NHWC or NDHWC.
    Returns: as FusedBatchNormV3.  Raises: as FusedBatchNormV3.
    """
    buffers = out or (None,) * 6
    shared = [buffers[0] is not None and np.may_share_memory(buffers[0], added) for added in side]  # written before it is read
    sides = [as_matrix(added.copy() if is_shared else added, data_format) for added, is_shared in zip(side, shared, strict=True)]
    made = forward(
        x, scale, offset, mean, variance, epsilon, exponential_avg_factor, data_format, is_training, buffers, sides,
        activation_by_lines(activation, alpha),
    )  # fmt: skip
    return (*made, np.empty(0, np.float32) if buffers[5] is None else buffers[5])
