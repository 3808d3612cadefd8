"""Updates of optimizers in one pass over their arrays, in fp32.

The arguments are those of the formulas in `training/optimizer.py` and `fused/moments_update.py`, in their order: whole arrays in
one dimension, and numbers. Every operation is the formula's, in its order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from npu_runtime.kernels.native.compiled import loop

Array = Any
"""A (n,) array of fp32."""
Number = Any
"""An fp32 number."""


@loop("void(f4[::1], f4, f4[::1])")
def gradient_descent(var: Array, alpha: Number, delta: Array) -> None:
    for i in range(var.size):
        var[i] -= delta[i] * alpha


@loop("void(f4[::1], f4[::1], f4, f4[::1], f4, b1)")
def momentum(var: Array, accum: Array, lr: Number, grad: Array, momentum: Number, use_nesterov: bool) -> None:
    if use_nesterov:
        for i in range(var.size):
            accum[i] = accum[i] * momentum + grad[i]
            var[i] -= accum[i] * momentum * lr + grad[i] * lr
    else:
        for i in range(var.size):
            accum[i] = accum[i] * momentum + grad[i]
            var[i] -= accum[i] * lr


@loop("void(f4[::1], f4[::1], f4, f4[::1], f4, b1)")
def keras_momentum(var: Array, accum: Array, lr: Number, grad: Array, momentum: Number, use_nesterov: bool) -> None:
    if use_nesterov:
        for i in range(var.size):
            scaled = grad[i] * lr
            accum[i] = accum[i] * momentum - scaled
            var[i] += accum[i] * momentum - scaled
    else:
        for i in range(var.size):
            accum[i] = accum[i] * momentum - grad[i] * lr
            var[i] += accum[i]


@loop("void(f4[::1], f4[::1], f4[::1], f4, f4, f4, f4, f4, f4, f4[::1], b1)")
def adam(
    var: Array, m: Array, v: Array, beta1_power: Number, beta2_power: Number, lr: Number, beta1: Number, beta2: Number,
    epsilon: Number, grad: Array, use_nesterov: bool,
) -> None:  # fmt: skip
    one = np.float32(1)
    alpha = lr * np.sqrt(one - beta2_power) / (one - beta1_power)
    first, second = one - beta1, one - beta2
    if use_nesterov:
        for i in range(var.size):
            m[i] += (grad[i] - m[i]) * first
            v[i] += (grad[i] * grad[i] - v[i]) * second
            var[i] -= (grad[i] * first + m[i] * beta1) * alpha / (np.sqrt(v[i]) + epsilon)
    else:
        for i in range(var.size):
            m[i] += (grad[i] - m[i]) * first
            v[i] += (grad[i] * grad[i] - v[i]) * second
            var[i] -= m[i] * alpha / (np.sqrt(v[i]) + epsilon)


@loop("void(f4[::1], f4[::1], f4[::1], f4, f4, f4, f4, f4[::1])")
def moments(
    var: Array, m: Array, v: Array, alpha: Number, first: Number, second: Number, epsilon: Number, grad: Array
) -> None:  # fmt: skip
    for i in range(var.size):
        m[i] += (grad[i] - m[i]) * first
        v[i] += (grad[i] * grad[i] - v[i]) * second
        var[i] -= m[i] * alpha / (np.sqrt(v[i]) + epsilon)


@loop("void(f4[::1], f4[::1], f4, f4[::1], b1)")
def adagrad(var: Array, accum: Array, lr: Number, grad: Array, update_slots: bool) -> None:
    for i in range(var.size):
        if update_slots:
            accum[i] += grad[i] * grad[i]
        var[i] -= grad[i] * lr / np.sqrt(accum[i])


@loop("void(f4[::1], f4[::1], f4[::1], f4, f4, f4, f4, f4[::1])")
def rms_prop(
    var: Array, ms: Array, mom: Array, lr: Number, rho: Number, momentum: Number, epsilon: Number, grad: Array
) -> None:  # fmt: skip
    rate = np.float32(1) - rho
    for i in range(var.size):
        ms[i] += (grad[i] * grad[i] - ms[i]) * rate
        mom[i] = mom[i] * momentum + grad[i] * lr / np.sqrt(ms[i] + epsilon)
        var[i] -= mom[i]
