"""Layers of bidirectional recurrence, one on the concatenated outputs of the other.

Source: tensorflow/contrib/rnn/python/ops/rnn.py of TF 1.15.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf


def _check(cells_fw: Any, cells_bw: Any, initial_states_fw: Any, initial_states_bw: Any) -> None:
    for which, cells, states in (("fw", cells_fw, initial_states_fw), ("bw", cells_bw, initial_states_bw)):
        if not cells:
            raise ValueError(f"Must specify at least one {which} cell for BidirectionalRNN.")
        if not isinstance(cells, list):
            raise ValueError(f"cells_{which} must be a list of RNNCells (one per layer).")
        if states is not None and (not isinstance(states, list) or len(states) != len(cells)):
            raise ValueError(f"initial_states_{which} must be a list of state tensors (one per layer).")
    if len(cells_fw) != len(cells_bw):
        raise ValueError("Forward and Backward cells must have the same depth.")


def stack_bidirectional_rnn(
    cells_fw: Any,
    cells_bw: Any,
    inputs: Any,
    initial_states_fw: Any = None,
    initial_states_bw: Any = None,
    dtype: Any = None,
    sequence_length: Any = None,
    scope: Any = None,
) -> tuple[Any, Any, Any]:
    """Unrolled layers; gives the outputs of the last, and the final states forward and backward of each.

    Raises: ValueError when cells and states are no lists of equal length.
    """
    _check(cells_fw, cells_bw, initial_states_fw, initial_states_bw)
    states: tuple[list[Any], list[Any]] = ([], [])
    with tf.variable_scope(scope or "stack_bidirectional_rnn"):
        for i, (forward, backward) in enumerate(zip(cells_fw, cells_bw, strict=True)):
            with tf.variable_scope(f"cell_{i}") as cell_scope:
                inputs, *ends = tf.nn.static_bidirectional_rnn(
                    forward,
                    backward,
                    inputs,
                    initial_state_fw=initial_states_fw[i] if initial_states_fw else None,
                    initial_state_bw=initial_states_bw[i] if initial_states_bw else None,
                    sequence_length=sequence_length,
                    dtype=dtype,
                    scope=cell_scope,
                )
            for kept, end in zip(states, ends, strict=True):
                kept.append(end)
    return inputs, tuple(states[0]), tuple(states[1])


def stack_bidirectional_dynamic_rnn(
    cells_fw: Any,
    cells_bw: Any,
    inputs: Any,
    initial_states_fw: Any = None,
    initial_states_bw: Any = None,
    dtype: Any = None,
    sequence_length: Any = None,
    parallel_iterations: int | None = None,
    time_major: bool = False,
    scope: Any = None,
    swap_memory: bool = False,
) -> tuple[Any, Any, Any]:
    """Dynamic layers; gives the outputs of the last, and the final states forward and backward of each.

    Raises: ValueError when cells and states are no lists of equal length.
    """
    _check(cells_fw, cells_bw, initial_states_fw, initial_states_bw)
    states: tuple[list[Any], list[Any]] = ([], [])
    with tf.variable_scope(scope or "stack_bidirectional_rnn"):
        for i, (forward, backward) in enumerate(zip(cells_fw, cells_bw, strict=True)):
            with tf.variable_scope(f"cell_{i}"):
                outputs, ends = tf.nn.bidirectional_dynamic_rnn(
                    forward,
                    backward,
                    inputs,
                    initial_state_fw=initial_states_fw[i] if initial_states_fw else None,
                    initial_state_bw=initial_states_bw[i] if initial_states_bw else None,
                    sequence_length=sequence_length,
                    parallel_iterations=parallel_iterations,
                    dtype=dtype,
                    swap_memory=swap_memory,
                    time_major=time_major,
                )
            inputs = tf.concat(outputs, 2)
            for kept, end in zip(states, ends, strict=True):
                kept.append(end)
    return inputs, tuple(states[0]), tuple(states[1])
