"""Optimizers: one formula each, for ref and resource variables; operations in the order of TensorFlow's CPU functors.

In every formula var, slots and grad are tiles of the whole arrays, the other inputs scalars of the same dtype.
Source of all formulas: the op documentation and CPU behaviour of TensorFlow's `Apply*` ops.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from npu_runtime.kernels.native import optimizer_loops
from npu_runtime.kernels.threads.parallel import scratch
from npu_runtime.kernels.training.apply_update import NOT_NEGATIVE, POSITIVE, dense

Array = np.ndarray
Scalar = Any
"""A () array, or a numpy scalar, of the variable's dtype."""
WIDE = frozenset({"float32"})
PROXIMAL = {"lr": POSITIVE, "l1": NOT_NEGATIVE, "l2": NOT_NEGATIVE}


def one_minus(x: Scalar) -> Scalar:
    """1 - x without leaving the dtype of x."""
    return x.dtype.type(1) - x[()]


def decay(average: Array, towards: Array, rate: Scalar) -> None:
    """average += (towards - average) * rate; `towards` is used up."""
    towards -= average
    towards *= rate
    average += towards


@dense("GradientDescent", 0, 2, loop=optimizer_loops.gradient_descent)
def gradient_descent(var: Array, alpha: Scalar, delta: Array, /) -> None:
    """var -= delta * alpha."""
    var -= np.multiply(delta, alpha, scratch("step", var.shape, var.dtype))


@dense("Momentum", 1, 4, loop=optimizer_loops.momentum)
def momentum(var: Array, accum: Array, lr: Scalar, grad: Array, momentum: Scalar, /, *, use_nesterov: bool = False) -> None:
    """accum = accum * momentum + grad; var -= accum * lr (Nesterov: grad * lr + accum * momentum * lr)."""
    accum *= momentum
    accum += grad
    if use_nesterov:
        step = accum * momentum
        step *= lr
        step += grad * lr
    else:
        step = np.multiply(accum, lr, scratch("step", var.shape, var.dtype))
    var -= step


@dense("KerasMomentum", 1, 4, ref=False, loop=optimizer_loops.keras_momentum)
def keras_momentum(var: Array, accum: Array, lr: Scalar, grad: Array, momentum: Scalar, /, *, use_nesterov: bool = False) -> None:
    """accum = accum * momentum - grad * lr; var += accum (Nesterov: accum * momentum - grad * lr)."""
    scaled = grad * lr
    accum *= momentum
    accum -= scaled
    if use_nesterov:
        step = accum * momentum
        step -= scaled
        var += step
    else:
        var += accum


@dense("Adam", 2, 12, loop=optimizer_loops.adam)
def adam(
    var: Array, m: Array, v: Array, beta1_power: Scalar, beta2_power: Scalar, lr: Scalar, beta1: Scalar,
    beta2: Scalar, epsilon: Scalar, grad: Array, /, *, use_nesterov: bool = False,
) -> None:  # fmt: skip
    """m and v decay towards grad and grad^2; var -= m * alpha / (sqrt(v) + epsilon), alpha with the bias correction."""
    alpha = lr[()] * np.sqrt(one_minus(beta2_power)) / one_minus(beta1_power)
    work, step = scratch("square", var.shape, var.dtype), scratch("step", var.shape, var.dtype)
    np.subtract(grad, m, work)
    np.multiply(work, one_minus(beta1), work)
    np.add(m, work, m)
    decay(v, np.multiply(grad, grad, work), one_minus(beta2))
    np.sqrt(v, work)
    work += epsilon
    if use_nesterov:
        np.add(grad * one_minus(beta1), m * beta1, step)
        step *= alpha
    else:
        np.multiply(m, alpha, step)
    step /= work
    var -= step


@dense("AdamWithAmsgrad", 3, 13, ref=False)
def adam_with_amsgrad(
    var: Array, m: Array, v: Array, vhat: Array, beta1_power: Scalar, beta2_power: Scalar, lr: Scalar,
    beta1: Scalar, beta2: Scalar, epsilon: Scalar, grad: Array, /,
) -> None:  # fmt: skip
    """Adam with the largest v so far in the denominator."""
    alpha = lr * np.sqrt(one_minus(beta2_power)) / one_minus(beta1_power)
    decay(m, grad.copy(), one_minus(beta1))
    decay(v, grad * grad, one_minus(beta2))
    np.maximum(vhat, v, out=vhat)
    var -= m * alpha / (np.sqrt(vhat) + epsilon)


@dense("AdaMax", 2, 9)
def adamax(
    var: Array, m: Array, v: Array, beta1_power: Scalar, lr: Scalar, beta1: Scalar, beta2: Scalar,
    epsilon: Scalar, grad: Array, /,
) -> None:  # fmt: skip
    """m decays towards grad; v = max(beta2 * v, |grad|); var -= lr / (1 - beta1_power) * m / (v + epsilon)."""
    decay(m, grad.copy(), one_minus(beta1))
    v *= beta2
    np.maximum(v, np.abs(grad), out=v)
    step = m / (v + epsilon)
    step *= lr / one_minus(beta1_power)
    var -= step


@dense("Adagrad", 1, 5, loop=optimizer_loops.adagrad)
def adagrad(var: Array, accum: Array, lr: Scalar, grad: Array, /, *, update_slots: bool = True) -> None:
    """accum += grad^2; var -= grad * lr / sqrt(accum)."""
    if update_slots:
        accum += grad * grad
    var -= grad * lr / np.sqrt(accum)


@dense("AdagradV2", 1, 6)
def adagrad_v2(var: Array, accum: Array, lr: Scalar, epsilon: Scalar, grad: Array, /, *, update_slots: bool = True) -> None:
    """accum += grad^2; var -= grad * lr / (sqrt(accum) + epsilon)."""
    if update_slots:
        accum += grad * grad
    var -= grad * lr / (np.sqrt(accum) + epsilon)


@dense("AdagradDA", 2, 10, dtypes=WIDE)
def adagrad_da(
    var: Array, gradient_accumulator: Array, gradient_squared_accumulator: Array, grad: Array, lr: Scalar, l1: Scalar,
    l2: Scalar, global_step: Scalar, /,
) -> None:  # fmt: skip
    """Dual averaging: var follows from the sums of the gradients and of their squares alone."""
    gradient_accumulator += grad
    gradient_squared_accumulator += grad * grad
    step = np.float32(global_step)
    if l1 > 0:
        shrunk = np.maximum(np.abs(gradient_accumulator) - step * l1, np.float32(0))
        top = -lr * np.sign(gradient_accumulator) * shrunk
    else:
        top = lr * -gradient_accumulator
    np.divide(top, l2 * (step * lr) + np.sqrt(gradient_squared_accumulator), out=var)


@dense("Adadelta", 2, 13)
def adadelta(var: Array, accum: Array, accum_update: Array, lr: Scalar, rho: Scalar, epsilon: Scalar, grad: Array, /) -> None:
    """Steps scaled by the running size of earlier steps over the running size of the gradients."""
    accum *= rho
    accum += grad * grad * one_minus(rho)
    step = np.sqrt(accum_update + epsilon)
    step /= np.sqrt(accum + epsilon)
    step *= grad
    var -= step * lr
    np.multiply(step, step, out=step)
    step *= one_minus(rho)
    accum_update *= rho
    accum_update += step


@dense("RMSProp", 2, 11, loop=optimizer_loops.rms_prop)
def rms_prop(
    var: Array, ms: Array, mom: Array, lr: Scalar, rho: Scalar, momentum: Scalar, epsilon: Scalar,
    grad: Array, /,
) -> None:  # fmt: skip
    """ms decays towards grad^2; mom = mom * momentum + grad * lr / sqrt(ms + epsilon); var -= mom."""
    square, step = scratch("square", var.shape, var.dtype), scratch("step", var.shape, var.dtype)
    decay(ms, np.multiply(grad, grad, square), one_minus(rho))
    _descend(var, mom, np.multiply(grad, lr, step), np.add(ms, epsilon, square), momentum)


@dense("CenteredRMSProp", 3, 16)
def centered_rms_prop(
    var: Array, mg: Array, ms: Array, mom: Array, lr: Scalar, rho: Scalar, momentum: Scalar,
    epsilon: Scalar, grad: Array, /,
) -> None:  # fmt: skip
    """RMSProp with the variance of the gradients, ms - mg^2, in the place of their mean square."""
    decay(ms, grad * grad, one_minus(rho))
    decay(mg, grad.copy(), one_minus(rho))
    variance = ms - mg * mg
    variance += epsilon
    _descend(var, mom, grad * lr, variance, momentum)


def _descend(var: Array, mom: Array, step: Array, square: Array, momentum: Scalar) -> None:
    """mom = mom * momentum + step / sqrt(square); var -= mom."""
    step /= np.sqrt(square, out=square)
    mom *= momentum
    mom += step
    var -= mom


@dense("ProximalGradientDescent", 0, 8, dtypes=WIDE)
def proximal_gradient_descent(var: Array, alpha: Scalar, l1: Scalar, l2: Scalar, delta: Array, /) -> None:
    """A gradient step, then the proximal step of the l1 and l2 penalties."""
    var -= delta * alpha
    _shrink(var, alpha, l1, l2)


@dense("ProximalAdagrad", 1, 12, dtypes=WIDE, bounds=PROXIMAL)
def proximal_adagrad(var: Array, accum: Array, lr: Scalar, l1: Scalar, l2: Scalar, grad: Array, /) -> None:
    """Adagrad's step, then the proximal step with Adagrad's rates."""
    accum += grad * grad
    rate = lr / np.sqrt(accum)
    var -= grad * rate
    _shrink(var, rate, l1, l2)


def _shrink(var: Array, rate: Array | Scalar, l1: Scalar, l2: Scalar) -> None:
    """var = sign(var) * max(|var| - rate * l1, 0) / (1 + l2 * rate)."""
    if l1 > 0:
        size = np.maximum(np.abs(var) - rate * l1, var.dtype.type(0))
        np.multiply(np.sign(var), size, out=var)
    var /= var.dtype.type(1) + l2 * rate


@dense("AddSign", 1, 8)
def add_sign(var: Array, m: Array, lr: Scalar, alpha: Scalar, sign_decay: Scalar, beta: Scalar, grad: Array, /) -> None:
    """var -= lr * (alpha + sign_decay * sign(grad) * sign(m)) * grad."""
    _track(m, grad, beta)
    var -= lr * (alpha + sign_decay * (np.sign(grad) * np.sign(m))) * grad


@dense("PowerSign", 1, 9)
def power_sign(var: Array, m: Array, lr: Scalar, logbase: Scalar, sign_decay: Scalar, beta: Scalar, grad: Array, /) -> None:
    """var -= lr * exp(logbase * sign_decay * sign(grad) * sign(m)) * grad."""
    _track(m, grad, beta)
    var -= lr * np.exp(logbase * sign_decay * (np.sign(grad) * np.sign(m))) * grad


def _track(m: Array, grad: Array, beta: Scalar) -> None:
    m *= beta
    m += grad * one_minus(beta)


@dense("Ftrl", 2, 16)
def ftrl(
    var: Array, accum: Array, linear: Array, grad: Array, lr: Scalar, l1: Scalar, l2: Scalar,
    lr_power: Scalar, /, *, multiply_linear_by_lr: bool = False,
) -> None:  # fmt: skip
    """Follow the regularised leader: var minimises the linear model of the losses plus the penalties."""
    follow(var, accum, linear, grad, grad, lr, l1, l2, lr_power, multiply_linear_by_lr)
    _drop_small(var, linear, l1 * lr if multiply_linear_by_lr else l1)


@dense("FtrlV2", 2, 18)
def ftrl_v2(
    var: Array, accum: Array, linear: Array, grad: Array, lr: Scalar, l1: Scalar, l2: Scalar,
    l2_shrinkage: Scalar, lr_power: Scalar, /, *, multiply_linear_by_lr: bool = False,
) -> None:  # fmt: skip
    """Ftrl with the gradient of l2_shrinkage * var^2 added to the linear term only."""
    shifted = grad + grad.dtype.type(2) * l2_shrinkage * var
    follow(var, accum, linear, grad, shifted, lr, l1, l2, lr_power, multiply_linear_by_lr)
    _drop_small(var, linear, l1 * lr if multiply_linear_by_lr else l1)


def _drop_small(var: Array, linear: Array, l1: Scalar) -> None:
    """var is 0 where |linear| is no more than l1, also where its formula gave 0 / 0."""
    np.copyto(var, var.dtype.type(0), where=~(np.abs(linear) > l1))


def follow(
    var: Array, accum: Array, linear: Array, grad: Array, shifted: Array, lr: Scalar, l1: Scalar, l2: Scalar,
    lr_power: Scalar, linear_has_lr: bool,
) -> None:  # fmt: skip
    """Ftrl's update; `shifted` is the gradient for the linear term; var is l1-clipped(linear) - linear over the curvature."""
    grown = accum + grad * grad
    before, after = (_power(x, lr_power) for x in (accum, grown))
    two = grad.dtype.type(2)
    if linear_has_lr:
        linear += shifted * lr - (after - before) * var
        curvature = after + two * l2 * lr
        limit = l1 * lr
    else:
        linear += shifted - (after - before) / lr * var
        curvature = after / lr + two * l2
        limit = l1
    np.divide(np.clip(linear, -limit, limit) - linear, curvature, out=var)
    accum[...] = grown


def _power(x: Array, lr_power: Scalar) -> Array:
    return np.sqrt(x) if lr_power == -0.5 else x**-lr_power
