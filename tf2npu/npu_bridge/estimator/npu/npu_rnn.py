"""Recurrent networks over time-major inputs."""

from __future__ import annotations

from typing import Any

import tensorflow as tf


def npu_dynamic_rnn(
    cell: Any, inputs: tf.Tensor, initial_state: Any = None, dtype: Any = None, sequence_length: Any = None, scope: Any = None
) -> tuple[tf.Tensor, Any]:
    """Unroll ``cell`` over inputs [time, batch, ...]; outputs [time, batch, ...] and the last state.

    Source: ``tf.nn.static_rnn``, which it calls on the unstacked inputs.
    """
    steps = tf.unstack(inputs, axis=0)
    outputs, state = tf.nn.static_rnn(cell, steps, initial_state, dtype, sequence_length, scope)
    return tf.stack(outputs, axis=0), state
