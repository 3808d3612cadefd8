"""Updates of reinforcement learning: of a value network with a target network, and of a policy with clipped ratios."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

from benchmarks.models.drawn import Draws
from benchmarks.models.drawn_tasks.choices import activation, training_step
from benchmarks.models.model import Model, integers, numbers

DISCOUNT, RATIO_BOUND, MOVED = 0.99, 0.2, 0.005
"""Worth of a reward one step later; how far a clipped ratio is from 1; share of the network that its target takes each step."""


def deep_q_network(draws: Draws) -> Model:
    """Frames of a game; double and dueling values of actions, Huber loss with weights, a target that follows slowly."""
    batch, side, n_actions = draws.size(16, 64), 4 * draws.size(9, 21), draws.size(4, 18)
    shape = [batch, side, side, draws.one_of(1, 4)]
    before, after = (tf.placeholder(tf.uint8, shape) for _ in range(2))
    actions = tf.placeholder(tf.int32, [batch])
    rewards, ended, weights = (tf.placeholder(tf.float32, [batch]) for _ in range(3))
    values_of = _values_network(draws, n_actions)
    values = values_of(before, "online", True)
    chosen = tf.argmax(values_of(after, "online", True), 1, output_type=tf.int32)
    later = values_of(after, "target", False)
    best = tf.gather_nd(later, tf.stack([tf.range(batch), chosen], 1))
    wanted = tf.stop_gradient(rewards + DISCOUNT * (1.0 - ended) * best)
    taken = tf.reduce_sum(values * tf.one_hot(actions, n_actions), 1)
    loss = tf.reduce_mean(weights * tf.losses.huber_loss(wanted, taken, reduction=tf.losses.Reduction.NONE))
    pairs = list(zip(*(tf.global_variables(scope) for scope in ("target/", "online/")), strict=True))
    with tf.control_dependencies([training_step(draws, loss)]):
        train = tf.group(*[target.assign(target + MOVED * (online.read_value() - target)) for target, online in pairs])
    feeds = {frames: integers(256, n, *shape)[0].astype(np.uint8) for n, frames in ((1, before), (2, after))}
    feeds |= {actions: integers(n_actions, batch), rewards: numbers(batch), weights: np.ones(batch, np.float32)}
    return Model(loss, train, feeds | {ended: (np.arange(batch) % 5 == 0).astype(np.float32)})


def _values_network(draws: Draws, n_actions: int) -> Callable[[tf.Tensor, str, bool], tf.Tensor]:
    """A network in a scope, by turns trained and not: the value of each action for frames, (batch, n_actions)."""
    act, width, kernel = activation(draws), draws.size(64, 400), draws.one_of(3, 4, 5)
    depths = [draws.size(12, 48) for _ in range(draws.one_of(2, 3))]

    def values(frames: tf.Tensor, scope: str, is_trained: bool) -> tf.Tensor:
        with tf.variable_scope(scope, reuse=tf.AUTO_REUSE):
            net = tf.to_float(frames) / 255.0
            for n, depth in enumerate(depths):
                net = tf.layers.conv2d(net, depth, kernel, 2, activation=act, trainable=is_trained, name=f"conv{n}")
            net = tf.layers.dense(tf.layers.flatten(net), width, act, trainable=is_trained, name="dense")
            state = tf.layers.dense(net, 1, trainable=is_trained, name="state")
            actions = tf.layers.dense(net, n_actions, trainable=is_trained, name="actions")
            return state + actions - tf.reduce_mean(actions, 1, keepdims=True)

    return values


def clipped_policy(draws: Draws) -> Model:
    """Actions of several numbers from a normal policy; the ratio to the old policy clipped, the value's move, too."""
    batch, n_seen, n_actions = draws.size(64, 1024), draws.size(8, 120), draws.size(2, 20)
    act, widths = activation(draws), [draws.size(32, 256) for _ in range(draws.one_of(2, 3))]
    seen, actions = tf.placeholder(tf.float32, [batch, n_seen]), tf.placeholder(tf.float32, [batch, n_actions])
    old, gains, returns, old_values = (tf.placeholder(tf.float32, [batch]) for _ in range(4))
    mean = _layers(seen, widths, n_actions, act)
    logarithm = tf.get_variable("logarithm", [n_actions], initializer=tf.zeros_initializer())
    value = tf.squeeze(_layers(seen, widths, 1, act), 1)
    per_action = tf.square((actions - mean) * tf.exp(-logarithm)) + 2 * logarithm + np.log(2 * np.pi)
    ratio = tf.exp(-0.5 * tf.reduce_sum(per_action, 1) - old)
    moments = tf.nn.moments(gains, [0])
    advantage = (gains - moments[0]) / (tf.sqrt(moments[1]) + 1e-8)
    bounded = tf.clip_by_value(ratio, 1 - RATIO_BOUND, 1 + RATIO_BOUND)
    policy = tf.reduce_mean(tf.maximum(-advantage * ratio, -advantage * bounded))
    near = old_values + tf.clip_by_value(value - old_values, -RATIO_BOUND, RATIO_BOUND)
    errors = 0.5 * tf.reduce_mean(tf.maximum(tf.square(value - returns), tf.square(near - returns)))
    entropy = tf.reduce_sum(logarithm + 0.5 * np.log(2 * np.pi * np.e))
    loss = policy + 0.5 * errors - 0.01 * entropy
    chosen = numbers(batch, n_actions)
    likely = -0.5 * np.sum(np.square(chosen) + np.log(2 * np.pi), 1)
    feeds = {seen: numbers(batch, n_seen), actions: chosen, old: likely.astype(np.float32)}
    feeds |= {given: numbers(n, batch)[-1] for n, given in enumerate((gains, returns, old_values), 1)}
    return Model(loss, training_step(draws, loss), feeds)


def _layers(net: tf.Tensor, widths: list[int], n_outputs: int, act: Callable[[Any], Any]) -> tf.Tensor:
    for width in widths:
        net = tf.layers.dense(net, width, act, kernel_initializer=tf.orthogonal_initializer())
    return tf.layers.dense(net, n_outputs, kernel_initializer=tf.orthogonal_initializer(0.1))
