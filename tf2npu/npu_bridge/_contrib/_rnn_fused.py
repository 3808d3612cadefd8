"""Recurrences over a whole sequence (time first) in one call. Source: tensorflow/contrib/rnn of TF 1.15."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import tensorflow as tf


class FusedRNNCell(ABC):
    """Takes all inputs (time, batch, depth), or a list of steps, and gives all outputs and the final state."""

    @abstractmethod
    def __call__(
        self, inputs: Any, initial_state: Any = None, dtype: Any = None, sequence_length: Any = None, scope: Any = None
    ) -> tuple[Any, Any]:
        """Run over the sequence."""


class FusedRNNCellAdaptor(FusedRNNCell):
    """A cell of one step as a recurrence."""

    def __init__(self, cell: Any, use_dynamic_rnn: bool = False) -> None:
        self._cell, self._use_dynamic_rnn = cell, use_dynamic_rnn

    def __call__(
        self, inputs: Any, initial_state: Any = None, dtype: Any = None, sequence_length: Any = None, scope: Any = None
    ) -> tuple[Any, Any]:
        options = {"sequence_length": sequence_length, "initial_state": initial_state, "dtype": dtype, "scope": scope}
        is_list = isinstance(inputs, list)
        if self._use_dynamic_rnn:
            outputs, state = tf.nn.dynamic_rnn(self._cell, tf.stack(inputs) if is_list else inputs, time_major=True, **options)
            return tf.unstack(outputs) if is_list else outputs, state
        outputs, state = tf.nn.static_rnn(self._cell, inputs if is_list else tf.unstack(inputs), **options)
        return outputs if is_list else tf.stack(outputs), state


class TimeReversedFusedRNN(FusedRNNCell):
    """A recurrence that runs backward in time."""

    def __init__(self, cell: Any) -> None:
        self._cell = cell

    @staticmethod
    def _reversed(steps: Any, lengths: Any) -> Any:
        if isinstance(steps, list):
            return steps[::-1]
        return tf.reverse(steps, [0]) if lengths is None else tf.reverse_sequence(steps, lengths, 0, 1)

    def __call__(
        self, inputs: Any, initial_state: Any = None, dtype: Any = None, sequence_length: Any = None, scope: Any = None
    ) -> tuple[Any, Any]:
        outputs, state = self._cell(
            self._reversed(inputs, sequence_length),
            initial_state=initial_state,
            dtype=dtype,
            sequence_length=sequence_length,
            scope=scope,
        )
        return self._reversed(outputs, sequence_length), state
