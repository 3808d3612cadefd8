"""Decays, by the step, of the weight that the agreement of signs has.

Source: tensorflow/contrib/opt/python/training/sign_decay.py of TF 1.15.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import tensorflow as tf

Decay = Callable[[Any], Any]


def _part(global_step: Any, decay_steps: Any, name: str) -> Any:
    """The part of decay_steps that is over, at most 1. Raises: ValueError without a step."""
    if global_step is None:
        raise ValueError(f"global_step is required for {name}.")
    return tf.cast(tf.minimum(global_step, decay_steps), tf.float32) / tf.cast(decay_steps, tf.float32)


def _wave(fraction: Any, part: Any, zero_after: float | None) -> Any:
    decayed = 0.5 * (1.0 + tf.cos(math.pi * fraction))
    return decayed if zero_after is None else tf.where(part >= zero_after, 0.0, decayed)


def get_linear_decay_fn(decay_steps: Any) -> Decay:
    """A line from 1 to 0 in decay_steps."""
    return lambda global_step: tf.maximum(0.0, 1.0 - _part(global_step, decay_steps, "linear_decay"))


def get_cosine_decay_fn(decay_steps: Any, num_periods: float = 0.5, zero_after: float | None = None) -> Decay:
    """num_periods of a cosine between 1 and 0 in decay_steps; 0 after zero_after periods."""

    def decay(global_step: Any) -> Any:
        periods = num_periods * _part(global_step, decay_steps, "cosine_decay")
        return _wave(2.0 * periods, periods, zero_after)

    return decay


def get_restart_decay_fn(decay_steps: Any, num_periods: int = 1, zero_after: float | None = None) -> Decay:
    """Half a cosine from 1 to 0, num_periods times in decay_steps; 0 after zero_after of them."""

    def decay(global_step: Any) -> Any:
        periods = num_periods * _part(global_step, decay_steps, "cosine_decay")
        return _wave(tf.mod(periods, 1.0), periods, zero_after)

    return decay
