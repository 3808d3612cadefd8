"""The update of Keras' Adam as one kernel: optimizers of Keras 2 are graphs of small nodes, those of TensorFlow 1 are ops."""

from __future__ import annotations

from typing import Any

import numpy as np

from npu_runtime.kernels.native import optimizer_loops
from npu_runtime.kernels.threads.parallel import scratch
from npu_runtime.kernels.training.apply_update import dense

APPLY_MOMENTS = "_ApplyMoments"

Array = np.ndarray
Scalar = Any


@dense(APPLY_MOMENTS, 2, 12, is_made=True, loop=optimizer_loops.moments)
def apply_moments(
    var: Array, m: Array, v: Array, alpha: Scalar, first: Scalar, second: Scalar, epsilon: Scalar, grad: Array, /
) -> None:  # fmt: skip
    """m += (grad - m) * first; v += (grad^2 - v) * second; var -= m * alpha / (sqrt(v) + epsilon), rounded as single nodes do.

    Source: update_step of Adam in Keras 2.15; first and second are 1 - beta_1 and 1 - beta_2, alpha has the bias correction.
    """
    work, step = scratch("moments.work", var.shape, var.dtype), scratch("moments.step", var.shape, var.dtype)
    np.subtract(grad, m, work)
    np.multiply(work, first, work)
    np.add(m, work, m)
    np.multiply(grad, grad, work)
    np.subtract(work, v, work)
    np.multiply(work, second, work)
    np.add(v, work, v)
    np.sqrt(v, work)
    np.add(work, epsilon, work)
    np.multiply(m, alpha, step)
    np.divide(step, work, step)
    np.subtract(var, step, var)
