"""Gradients of batch normalisation and of the activation behind it, in the pass that sums them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from npu_runtime.cost.work import per_element
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.elementwise.elementwise_gradients import leaky_relu_grad_body, relu6_grad, relu_grad
from npu_runtime.kernels.half_storage import store
from npu_runtime.kernels.norm.normalization import (
    ONE_TYPE,
    Outputs,
)
from npu_runtime.kernels.norm.normalization_gradients import backward, gradient_shapes
from npu_runtime.kernels.threads.tiling import Body

NORMALIZED_ACTIVATION_GRADIENT = "_BatchNormActivationGrad"
ACTIVATION_GRADIENTS: dict[str, Callable[[float], Body]] = {
    "ReluGrad": lambda alpha: relu_grad,
    "Relu6Grad": lambda alpha: relu6_grad,
    "LeakyReluGrad": leaky_relu_grad_body,
}
"""Made of the slope below zero, which only the last one has."""


def _activation_shapes(gradients: Spec, features: Spec, *others: Spec, **attrs: Any) -> list[Shape]:
    attrs.pop("activation")
    attrs.pop("alpha", None)
    return gradient_shapes(gradients, *others, **attrs)


@kernel(
    NORMALIZED_ACTIVATION_GRADIENT, unit="vector", shape=_activation_shapes, dtypes=ONE_TYPE, estimate=per_element(14),
    inplace=(0,),
)  # fmt: skip
def batch_norm_activation_grad(
    gradients: np.ndarray, features: np.ndarray, x: np.ndarray, scale: np.ndarray, reserve_space_1: np.ndarray,
    reserve_space_2: np.ndarray, reserve_space_3: np.ndarray, /, *, activation: str, alpha: float = 0.2, epsilon: float = 1e-4,
    data_format: str = "NHWC", is_training: bool = True, out: tuple[np.ndarray | None, ...] | None = None,
) -> Outputs:  # fmt: skip
    """FusedBatchNormGradV3 of what the gradient of an activation makes of `gradients`, bit for bit as the two nodes give it.

    gradients: gradient of the activation's result.  features: that result, in the shape of x.  activation: one of
    ACTIVATION_GRADIENTS.  alpha: its slope below zero.  data_format: NHWC or NDHWC.
    Returns: as FusedBatchNormGradV3.  Raises: as FusedBatchNormGradV3.
    """
    buffers = list(out or (None,) * 5)
    if buffers[0] is not None and np.may_share_memory(buffers[0], x):
        buffers[0] = None  # x is read after what passes the activation is written
    made = backward(
        gradients, x, scale, reserve_space_1, reserve_space_2, epsilon, data_format, is_training, tuple(buffers),
        (ACTIVATION_GRADIENTS[activation](alpha), features),
    )  # fmt: skip
    if out is None or out[0] is None or buffers[0] is not None:
        return made
    return (store(made[0], x.dtype, out[0]), *made[1:])
