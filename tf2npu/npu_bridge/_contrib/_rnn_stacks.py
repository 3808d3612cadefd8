"""Layers of bidirectional recurrence, one on the concatenated outputs of the other.

Source: tensorflow/contrib/rnn/python/ops/rnn.py of TF 1.15.
"""

from __future__ import annotations

from collections.abc import Callable
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

    def layer(inputs: Any, forward: Any, backward: Any, starts: Any, scope: Any) -> tuple[Any, Any]:
        outputs, *ends = tf.nn.static_bidirectional_rnn(
            forward, backward, inputs, *starts, dtype=dtype, sequence_length=sequence_length, scope=scope
        )
        return outputs, ends

    return _stacked(layer, (cells_fw, cells_bw), (initial_states_fw, initial_states_bw), inputs, scope)


def _stacked(
    layer: Callable[..., tuple[Any, Any]], cells: tuple[Any, Any], starts: tuple[Any, Any], inputs: Any, scope: Any
) -> tuple[Any, Any, Any]:
    """Run layer after layer.  layer(inputs, forward cell, backward cell, first states, scope) -> outputs, last states."""
    ends: tuple[list[Any], list[Any]] = ([], [])
    with tf.variable_scope(scope or "stack_bidirectional_rnn"):
        for i, (forward, backward) in enumerate(zip(*cells, strict=True)):
            with tf.variable_scope(f"cell_{i}") as cell_scope:
                first = [states[i] if states else None for states in starts]
                inputs, last = layer(inputs, forward, backward, first, cell_scope)
            for kept, end in zip(ends, last, strict=True):
                kept.append(end)
    return inputs, tuple(ends[0]), tuple(ends[1])


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

    def layer(inputs: Any, forward: Any, backward: Any, starts: Any, scope: Any) -> tuple[Any, Any]:
        outputs, ends = tf.nn.bidirectional_dynamic_rnn(
            forward,
            backward,
            inputs,
            sequence_length=sequence_length,
            initial_state_fw=starts[0],
            initial_state_bw=starts[1],
            parallel_iterations=parallel_iterations,
            dtype=dtype,
            swap_memory=swap_memory,
            time_major=time_major,
        )
        return tf.concat(outputs, 2), ends

    return _stacked(layer, (cells_fw, cells_bw), (initial_states_fw, initial_states_bw), inputs, scope)
