"""The gradient of a Relu taken of what a pool has chosen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from npu_runtime.cost.work import n_elements
from npu_runtime.graph.spec import Shape, Spec
from npu_runtime.kernels.base import kernel
from npu_runtime.kernels.pool.pooling import pool_layout
from npu_runtime.kernels.pool.pooling_gradients import max_grad_flops, max_pool_gradient

POOLED_RELU_GRADIENT = "_MaxPoolReluGrad"


def _relu_grad_shapes(orig_input: Spec, orig_output: Spec, grad: Spec, **attrs: Any) -> list[Shape]:
    return [orig_input.shape, grad.shape]


@kernel(
    POOLED_RELU_GRADIENT, unit="vector", shape=_relu_grad_shapes, dtypes=frozenset({"float32"}),
    estimate=lambda inputs, outputs, attrs: max_grad_flops(inputs, outputs, attrs) + n_elements(outputs[0]),
)  # fmt: skip
def max_pool_relu_grad(
    orig_input: np.ndarray, orig_output: np.ndarray, grad: np.ndarray, /, *, ksize: Sequence[int], strides: Sequence[int],
    padding: str, explicit_paddings: Sequence[int] = (), out: tuple[np.ndarray | None, ...] | None = None,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """ReluGrad(MaxPoolGrad(orig_input, orig_output, grad), orig_input): a Relu's gradient taken where there are fewer of them.

    orig_input, orig_output, grad: as for MaxPoolGrad, channels last, fp32.  Returns: as orig_input; and as grad, the gradients
    that went anywhere, which have the same sum.  Raises: as MaxPoolGrad.
    """
    layout, extents = pool_layout(ksize, strides, padding, "NHWC", explicit_paddings)
    first, second = out or (None, None)
    passed = np.empty(grad.shape, np.float32) if second is None else second
    return max_pool_gradient(orig_input, orig_output, grad, layout, extents, first, passed), passed
