"""Cells whose units see only their own state, so that steps are cheap.

IndRNN: Li et al.; Indy cells: Gonnet, Deselaers; SRU: Lei, Zhang.
Source: tensorflow/contrib/rnn/python/ops/rnn_cell.py of TF 1.15.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf
from tensorflow.nn.rnn_cell import LSTMStateTuple
from tensorflow.python.ops.rnn_cell_impl import LayerRNNCell

Activation = Callable[[Any], Any]


class _OfUnits(LayerRNNCell):
    """A cell whose state and output are one vector of num_units."""

    def __init__(self, num_units: int, activation: Activation | None, reuse: Any, name: str | None, **kwargs: Any) -> None:
        super().__init__(_reuse=reuse, name=name, **kwargs)
        self.input_spec = tf.layers.InputSpec(ndim=2)
        self._num_units, self._activation = num_units, activation or tf.tanh

    @property
    def state_size(self) -> Any:
        return self._num_units

    @property
    def output_size(self) -> int:
        return self._num_units

    def build(self, inputs_shape: Any) -> None:
        """Raises: ValueError for inputs whose last extent is not known."""
        depth = tf.TensorShape(inputs_shape).dims[1].value
        if depth is None:
            raise ValueError(f"Expected inputs.shape[-1] to be known, saw shape: {inputs_shape}")
        self._make(depth)
        self.built = True

    def _own(self, name: str, size: int) -> Any:
        """Weights of each unit's own state."""
        return self.add_variable(name, [1, size], initializer=tf.random_uniform_initializer(-1, 1, dtype=self.dtype))


class IndRNNCell(_OfUnits):
    """activation(inputs W + state * u + b)."""

    def __init__(
        self, num_units: int, activation: Activation | None = None, reuse: Any = None, name: str | None = None, dtype: Any = None
    ) -> None:
        super().__init__(num_units, activation, reuse, name, dtype=dtype)

    def _make(self, depth: int) -> None:
        self._kernel_w = self.add_variable("kernel_w", [depth, self._num_units])
        self._kernel_u = self._own("kernel_u", self._num_units)
        self._bias = self.add_variable("bias", [self._num_units], initializer=tf.zeros_initializer(self.dtype))

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        mixed = tf.matmul(inputs, self._kernel_w) + state * self._kernel_u
        output = self._activation(tf.nn.bias_add(mixed, self._bias))
        return output, output


class _Indy(_OfUnits):
    def __init__(
        self,
        num_units: int,
        activation: Activation | None = None,
        reuse: Any = None,
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
        name: str | None = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(num_units, activation, reuse, name, dtype=dtype)
        self._kernel_initializer, self._bias_initializer = kernel_initializer, bias_initializer

    def _weights(self, names: tuple[str, str, str], depth: int, n_gates: int, bias: float = 0.0) -> tuple[Any, Any, Any]:
        size = n_gates * self._num_units
        kernel = self.add_variable(names[0], [depth, size], initializer=self._kernel_initializer)
        own = self._own(names[1], size)
        start = self._bias_initializer if self._bias_initializer is not None else tf.constant_initializer(bias, self.dtype)
        return kernel, own, self.add_variable(names[2], [size], initializer=start)

    @staticmethod
    def _mix(inputs: Any, state: Any, weights: tuple[Any, Any, Any], n_gates: int) -> Any:
        kernel, own, bias = weights
        return tf.nn.bias_add(tf.matmul(inputs, kernel) + tf.tile(state, [1, n_gates]) * own, bias)


class IndyGRUCell(_Indy):
    """A GRU whose units see only their own state."""

    def _make(self, depth: int) -> None:
        self._gates = self._weights(("gates/kernel_w", "gates/kernel_u", "gates/bias"), depth, 2, 1.0)
        self._candidate = self._weights(("candidate/kernel", "candidate/kernel_u", "candidate/bias"), depth, 1)

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        reset, update = tf.split(tf.sigmoid(self._mix(inputs, state, self._gates, 2)), 2, axis=1)
        candidate = self._activation(self._mix(inputs, reset * state, self._candidate, 1))
        new = update * state + (1 - update) * candidate
        return new, new


class IndyLSTMCell(_Indy):
    """An LSTM whose units see only their own output."""

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        activation: Activation | None = None,
        reuse: Any = None,
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
        name: str | None = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(num_units, activation, reuse, kernel_initializer, bias_initializer, name, dtype)
        self._forget_bias = forget_bias

    @property
    def state_size(self) -> Any:
        return LSTMStateTuple(self._num_units, self._num_units)

    def _make(self, depth: int) -> None:
        self._all = self._weights(("kernel_w", "kernel_u", "bias"), depth, 4)

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        cell, hidden = state
        i, j, f, o = tf.split(self._mix(inputs, hidden, self._all, 4), 4, axis=1)
        cell = cell * tf.sigmoid(f + self._forget_bias) + tf.sigmoid(i) * self._activation(j)
        hidden = self._activation(cell) * tf.sigmoid(o)
        return hidden, LSTMStateTuple(cell, hidden)


class SRUCell(_OfUnits):
    """The simple recurrent unit: no product with the state."""

    def __init__(
        self, num_units: int, activation: Activation | None = None, reuse: Any = None, name: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(num_units, activation, reuse, name, **kwargs)

    def _make(self, depth: int) -> None:
        self._kernel = self.add_variable("kernel", [depth, 4 * self._num_units])
        self._bias = self.add_variable("bias", [2 * self._num_units], initializer=tf.zeros_initializer)

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        n = self._num_units
        candidate, gates, around = tf.split(tf.matmul(inputs, self._kernel), [n, 2 * n, n], axis=1)
        forget, reset = tf.split(tf.sigmoid(tf.nn.bias_add(gates, self._bias)), 2, axis=1)
        cell = forget * state + (1.0 - forget) * candidate
        return reset * self._activation(cell) + (1.0 - reset) * around, cell
