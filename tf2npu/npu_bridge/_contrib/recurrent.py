"""``tf.contrib.recurrent``: recurrent networks through functional control flow, here the plain ones with the same results."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

__all__ = ["bidirectional_functional_rnn", "functional_rnn"]


def functional_rnn(
    cell: Any,
    inputs: Any,
    sequence_length: Any = None,
    initial_state: Any = None,
    dtype: Any = None,
    time_major: bool = False,
    scope: Any = None,
    use_tpu: bool = False,
    reverse: bool = False,
) -> tuple[Any, Any]:
    """``tf.nn.dynamic_rnn``, from the last step to the first with ``reverse``."""

    def turned(value: tf.Tensor) -> tf.Tensor:
        time = 0 if time_major else 1
        if sequence_length is None:
            return tf.reverse(value, [time])
        return tf.reverse_sequence(value, sequence_length, seq_axis=time, batch_axis=1 - time)

    if reverse:
        inputs = tf.nest.map_structure(turned, inputs)
    outputs, state = tf.nn.dynamic_rnn(
        cell, inputs, sequence_length, initial_state, dtype, time_major=time_major, scope=scope or "rnn"
    )
    return (tf.nest.map_structure(turned, outputs) if reverse else outputs), state


def bidirectional_functional_rnn(
    cell_fw: Any,
    cell_bw: Any,
    inputs: Any,
    initial_state_fw: Any = None,
    initial_state_bw: Any = None,
    dtype: Any = None,
    sequence_length: Any = None,
    time_major: bool = False,
    use_tpu: bool = False,
    fast_reverse: bool = False,
    scope: Any = None,
) -> tuple[Any, Any]:
    """``tf.nn.bidirectional_dynamic_rnn``."""
    return tf.nn.bidirectional_dynamic_rnn(
        cell_fw, cell_bw, inputs, sequence_length, initial_state_fw, initial_state_bw, dtype, time_major=time_major, scope=scope
    )
