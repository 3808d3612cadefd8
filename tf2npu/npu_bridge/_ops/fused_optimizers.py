"""Fused update steps: LARS, Adam and LAMB."""

from __future__ import annotations

from collections.abc import Sequence

import tensorflow as tf
from npu_bridge._log import once


def lars(
    inputs_w: Sequence[tf.Tensor],
    inputs_g: Sequence[tf.Tensor],
    weight_decay: float | tf.Tensor,
    hyperpara: float = 0.001,
    epsilon: float = 1e-05,
    name: str | None = None,
) -> list[tf.Tensor]:
    """Layer-wise adaptive rates for a list of weights and gradients.

    Returns: hyperpara |w| / (|g| + weight_decay |w| + epsilon) * (g + weight_decay w) for each pair.
    """
    with tf.name_scope(name, "LARS"):
        return [_lars_one(w, g, weight_decay, hyperpara, epsilon) for w, g in zip(inputs_w, inputs_g, strict=True)]


def lars_v2(
    input_weight: tf.Tensor,
    input_grad: tf.Tensor,
    weight_decay: float | tf.Tensor,
    learning_rate: float | tf.Tensor,
    hyperpara: float = 0.001,
    epsilon: float = 1e-05,
    use_clip: bool = False,
    name: str | None = None,
) -> tf.Tensor:
    """Layer-wise adaptive rate for one weight; with ``use_clip`` the rate is at most 1 / learning_rate of itself."""
    with tf.name_scope(name, "LARSV2"):
        if not use_clip:
            return _lars_one(input_weight, input_grad, weight_decay, hyperpara, epsilon)
        rate = _lars_rate(input_weight, input_grad, weight_decay, hyperpara, epsilon)
        clipped = tf.minimum(rate / learning_rate, 1.0)
        return clipped * (input_grad + weight_decay * input_weight)


def _lars_rate(w: tf.Tensor, g: tf.Tensor, weight_decay: float | tf.Tensor, hyperpara: float, epsilon: float) -> tf.Tensor:
    once("LARS computes the usual layer-wise rate; the device's own formula is not documented")
    w_norm, g_norm = tf.norm(w), tf.norm(g)
    return hyperpara * w_norm / (g_norm + weight_decay * w_norm + epsilon)


def _lars_one(w: tf.Tensor, g: tf.Tensor, weight_decay: float | tf.Tensor, hyperpara: float, epsilon: float) -> tf.Tensor:
    return _lars_rate(w, g, weight_decay, hyperpara, epsilon) * (g + weight_decay * w)


def adam_apply_one_assign(
    input0: tf.Tensor,
    input1: tf.Variable,
    input2: tf.Variable,
    input3: tf.Variable,
    input4: tf.Tensor,
    mul0_x: tf.Tensor,
    mul1_x: tf.Tensor,
    mul2_x: tf.Tensor,
    mul3_x: tf.Tensor,
    add2_y: tf.Tensor,
    name: str | None = None,
) -> tf.Operation:
    """One Adam step in place: gradient input0, v input1, m input2, weight input3, learning rate input4."""
    zero = tf.zeros([], input0.dtype.base_dtype)
    return _adam(input0, input1, input2, input3, input4, (mul0_x, mul1_x, mul2_x, mul3_x), zero, add2_y, name)


def adam_apply_one_with_decay_assign(
    input0: tf.Tensor,
    input1: tf.Variable,
    input2: tf.Variable,
    input3: tf.Variable,
    input4: tf.Tensor,
    mul0_x: tf.Tensor,
    mul1_x: tf.Tensor,
    mul2_x: tf.Tensor,
    mul3_x: tf.Tensor,
    mul4_x: tf.Tensor,
    add2_y: tf.Tensor,
    name: str | None = None,
) -> tf.Operation:
    """One Adam step in place with weight decay ``mul4_x``; see ``adam_apply_one_assign``."""
    return _adam(input0, input1, input2, input3, input4, (mul0_x, mul1_x, mul2_x, mul3_x), mul4_x, add2_y, name)


def _adam(
    gradient: tf.Tensor,
    v: tf.Variable,
    m: tf.Variable,
    weight: tf.Variable,
    rate: tf.Tensor,
    betas: Sequence[tf.Tensor],
    decay: tf.Tensor,
    epsilon: tf.Tensor,
    name: str | None,
) -> tf.Operation:
    if tf.executing_eagerly():
        raise RuntimeError("the fused Adam step works in graph mode only")
    with tf.name_scope(name, "AdamApplyOneAssign"):
        next_v = v * betas[2] + tf.square(gradient) * betas[3]
        next_m = m * betas[0] + gradient * betas[1]
        update = next_m / (tf.sqrt(next_v) + epsilon) + weight * decay
        next_weight = weight - rate * update
        return tf.group(tf.assign(v, next_v), tf.assign(m, next_m), tf.assign(weight, next_weight))


def lamb_apply_optimizer_assign(
    input0: tf.Tensor,
    input1: tf.Variable,
    input2: tf.Variable,
    input3: tf.Tensor,
    mul0_x: tf.Tensor,
    mul1_x: tf.Tensor,
    mul2_x: tf.Tensor,
    mul3_x: tf.Tensor,
    add2_y: tf.Tensor,
    steps: tf.Tensor,
    do_use_weight: tf.Tensor,
    weight_decay_rate: tf.Tensor,
    name: str | None = None,
) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """First half of a LAMB step: gradient input0, v input1 and m input2 (both assigned), weight input3.

    Returns: update, new v, new m; the update is the bias-corrected Adam step plus weight decay.
    """
    with tf.name_scope(name, "LambApplyOptimizerAssign"):
        next_v = tf.assign(input1, input1 * mul2_x + tf.square(input0) * mul3_x)
        next_m = tf.assign(input2, input2 * mul0_x + input0 * mul1_x)
        m_hat = next_m / (1.0 - tf.pow(mul0_x, steps))
        v_hat = next_v / (1.0 - tf.pow(mul2_x, steps))
        update = m_hat / (tf.sqrt(v_hat) + add2_y) + do_use_weight * weight_decay_rate * input3
        return update, next_v, next_m


def lamb_apply_weight_assign(
    input0: tf.Tensor, input1: tf.Tensor, input2: tf.Tensor, input3: tf.Tensor, input4: tf.Variable, name: str | None = None
) -> tf.Tensor:
    """Second half of a LAMB step: weight norm input0, update norm input1, learning rate input2, update input3, weight input4."""
    with tf.name_scope(name, "LambApplyWeightAssign"):
        both = tf.logical_and(input0 > 0, input1 > 0)
        ratio = tf.where(both, input0 / tf.where(both, input1, tf.ones_like(input1)), tf.ones_like(input0))
        return tf.assign(input4, input4 - ratio * input2 * input3)
