"""Optimizers on the rows that a sparse gradient names; formulas as in `optimizer` where TensorFlow's are the same."""

from __future__ import annotations

import numpy as np

from npu_runtime.kernels.training import optimizer
from npu_runtime.kernels.training.apply_update import NOT_NEGATIVE, NOT_POSITIVE, sparse
from npu_runtime.kernels.training.optimizer import PROXIMAL, WIDE, Array, Scalar, one_minus

FOLLOWING = {**PROXIMAL, "lr_power": NOT_POSITIVE}


@sparse("Momentum", 1, 4)
def momentum(
    var: Array, accum: Array, lr: Scalar, grad: Array, indices: Array, momentum: Scalar, /, *, use_nesterov: bool = False
) -> None:
    """The update of ApplyMomentum."""
    optimizer.momentum(var, accum, lr, grad, momentum, use_nesterov=use_nesterov)


@sparse("KerasMomentum", 1, 4, ref=False)
def keras_momentum(
    var: Array, accum: Array, lr: Scalar, grad: Array, indices: Array, momentum: Scalar, /, *, use_nesterov: bool = False
) -> None:
    """The update of ResourceApplyKerasMomentum."""
    optimizer.keras_momentum(var, accum, lr, grad, momentum, use_nesterov=use_nesterov)


@sparse("Adagrad", 1, 5, looks_first=True)
def adagrad(var: Array, accum: Array, lr: Scalar, grad: Array, indices: Array, /, *, update_slots: bool = True) -> None:
    """The update of ApplyAdagrad."""
    optimizer.adagrad(var, accum, lr, grad, update_slots=update_slots)


@sparse("AdagradV2", 1, 6, looks_first=True)
def adagrad_v2(
    var: Array, accum: Array, lr: Scalar, epsilon: Scalar, grad: Array, indices: Array, /, *, update_slots: bool = True
) -> None:
    """The update of ApplyAdagradV2."""
    optimizer.adagrad_v2(var, accum, lr, epsilon, grad, update_slots=update_slots)


@sparse("AdagradDA", 2, 10, dtypes=WIDE)
def adagrad_da(
    var: Array, gradient_accumulator: Array, gradient_squared_accumulator: Array, grad: Array, indices: Array, lr: Scalar,
    l1: Scalar, l2: Scalar, global_step: Scalar, /,
) -> None:  # fmt: skip
    """The update of ApplyAdagradDA."""
    optimizer.adagrad_da(var, gradient_accumulator, gradient_squared_accumulator, grad, lr, l1, l2, global_step)


@sparse("Adadelta", 2, 13, looks_first=True)
def adadelta(
    var: Array, accum: Array, accum_update: Array, lr: Scalar, rho: Scalar, epsilon: Scalar, grad: Array,
    indices: Array, /,
) -> None:  # fmt: skip
    """The update of ApplyAdadelta."""
    optimizer.adadelta(var, accum, accum_update, lr, rho, epsilon, grad)


@sparse("RMSProp", 2, 11, looks_first=True)
def rms_prop(
    var: Array, ms: Array, mom: Array, lr: Scalar, rho: Scalar, momentum: Scalar, epsilon: Scalar, grad: Array,
    indices: Array, /,
) -> None:  # fmt: skip
    """ms = ms * rho + grad^2 * (1 - rho); mom = mom * momentum + lr * grad / sqrt(ms + epsilon); var -= mom."""
    _average(ms, grad * grad, rho)
    _descend(var, mom, grad, ms + epsilon, lr, momentum)


@sparse("CenteredRMSProp", 3, 16, looks_first=True)
def centered_rms_prop(
    var: Array, mg: Array, ms: Array, mom: Array, lr: Scalar, rho: Scalar, momentum: Scalar, epsilon: Scalar,
    grad: Array, indices: Array, /,
) -> None:  # fmt: skip
    """RMSProp with ms - mg^2 in the place of ms."""
    _average(ms, grad * grad, rho)
    _average(mg, grad, rho)
    _descend(var, mom, grad, ms + epsilon - mg * mg, lr, momentum)


def _average(average: Array, new: Array, rho: Scalar) -> None:
    average *= rho
    average += new * one_minus(rho)


def _descend(var: Array, mom: Array, grad: Array, square: Array, lr: Scalar, momentum: Scalar) -> None:
    mom *= momentum
    mom += lr / np.sqrt(square) * grad
    var -= mom


@sparse("ProximalGradientDescent", 0, 8, dtypes=WIDE)
def proximal_gradient_descent(var: Array, alpha: Scalar, l1: Scalar, l2: Scalar, grad: Array, indices: Array, /) -> None:
    """The update of ApplyProximalGradientDescent."""
    optimizer.proximal_gradient_descent(var, alpha, l1, l2, grad)


@sparse("ProximalAdagrad", 1, 12, dtypes=WIDE, bounds=PROXIMAL)
def proximal_adagrad(var: Array, accum: Array, lr: Scalar, l1: Scalar, l2: Scalar, grad: Array, indices: Array, /) -> None:
    """The update of ApplyProximalAdagrad."""
    optimizer.proximal_adagrad(var, accum, lr, l1, l2, grad)


@sparse("Ftrl", 2, 16, bounds=FOLLOWING)
def ftrl(
    var: Array, accum: Array, linear: Array, grad: Array, indices: Array, lr: Scalar, l1: Scalar, l2: Scalar,
    lr_power: Scalar, /, *, multiply_linear_by_lr: bool = False,
) -> None:  # fmt: skip
    """The update of ApplyFtrl."""
    optimizer.follow(var, accum, linear, grad, grad, lr, l1, l2, lr_power, multiply_linear_by_lr)


@sparse("FtrlV2", 2, 18, bounds={**FOLLOWING, "l2_shrinkage": NOT_NEGATIVE})
def ftrl_v2(
    var: Array, accum: Array, linear: Array, grad: Array, indices: Array, lr: Scalar, l1: Scalar, l2: Scalar,
    l2_shrinkage: Scalar, lr_power: Scalar, /, *, multiply_linear_by_lr: bool = False,
) -> None:  # fmt: skip
    """The update of ApplyFtrlV2."""
    shifted = grad + grad.dtype.type(2) * l2_shrinkage * var
    optimizer.follow(var, accum, linear, grad, shifted, lr, l1, l2, lr_power, multiply_linear_by_lr)
