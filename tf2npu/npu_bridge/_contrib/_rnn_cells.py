"""Recurrent cells with layer normalisation, with few gates and with gates that a search found.

Source: tensorflow/contrib/rnn/python/ops/rnn_cell.py of TF 1.15.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf
from tensorflow.nn.rnn_cell import LSTMStateTuple, RNNCell
from tensorflow.python.ops.rnn_cell_impl import LayerRNNCell
from tf_slim.layers.layers import layer_norm

Activation = Callable[[Any], Any]


def _linear(inputs: Any, n_outputs: int, kernel: str = "kernel", bias: str | None = "bias", initializer: Any = None) -> Any:
    """A dense layer whose variables belong to the present scope."""
    weights = tf.get_variable(kernel, [inputs.shape.dims[-1].value, n_outputs], inputs.dtype, initializer)
    product = tf.matmul(inputs, weights)
    if bias is None:
        return product
    return tf.nn.bias_add(product, tf.get_variable(bias, [n_outputs], inputs.dtype, tf.zeros_initializer()))


def normalized(values: Any, scope: str, gain: float, shift: float) -> Any:
    """Layer normalisation with a scale and an offset that start at gain and shift."""
    with tf.variable_scope(scope):
        for name, start in (("gamma", gain), ("beta", shift)):
            tf.get_variable(name, values.shape[-1:], values.dtype, tf.constant_initializer(start))
    return layer_norm(values, reuse=True, scope=scope)


class LayerNormBasicLSTMCell(RNNCell):
    """LSTM with layer normalisation of gates and cell, and dropout of the candidate (Ba et al.; Semeniuta et al.)."""

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        input_size: Any = None,
        activation: Activation = tf.tanh,
        layer_norm: bool = True,
        norm_gain: float = 1.0,
        norm_shift: float = 0.0,
        dropout_keep_prob: Any = 1.0,
        dropout_prob_seed: int | None = None,
        reuse: Any = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        if input_size is not None:
            tf.logging.warning("%s: The input_size parameter is deprecated.", self)
        self._num_units, self._forget_bias, self._activation = num_units, forget_bias, activation
        self._layer_norm, self._norm_gain, self._norm_shift = layer_norm, norm_gain, norm_shift
        self._keep_prob, self._seed = dropout_keep_prob, dropout_prob_seed

    @property
    def state_size(self) -> Any:
        return LSTMStateTuple(self._num_units, self._num_units)

    @property
    def output_size(self) -> int:
        return self._num_units

    def _norm(self, values: Any, scope: str) -> Any:
        return normalized(values, scope, self._norm_gain, self._norm_shift) if self._layer_norm else values

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        cell, output = state
        gates = _linear(tf.concat([inputs, output], 1), 4 * self._num_units, bias=None if self._layer_norm else "bias")
        parts = zip(tf.split(gates, 4, axis=1), ("input", "transform", "forget", "output"), strict=True)
        i, j, f, o = (self._norm(part, name) for part, name in parts)
        candidate = self._activation(j)
        if not isinstance(self._keep_prob, float) or self._keep_prob < 1:
            candidate = tf.nn.dropout(candidate, self._keep_prob, seed=self._seed)
        cell = cell * tf.sigmoid(f + self._forget_bias) + tf.sigmoid(i) * candidate
        cell = self._norm(cell, "state")
        output = self._activation(cell) * tf.sigmoid(o)
        return output, LSTMStateTuple(cell, output)


class UGRNNCell(RNNCell):
    """One gate between the old state and a candidate (Collins, Sohl-Dickstein, Sussillo)."""

    def __init__(
        self,
        num_units: int,
        initializer: Any = None,
        forget_bias: float = 1.0,
        activation: Activation = tf.tanh,
        reuse: Any = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        self._num_units, self._initializer, self._forget_bias = num_units, initializer, forget_bias
        self._activation = activation

    @property
    def state_size(self) -> int:
        return self._num_units

    @property
    def output_size(self) -> int:
        return self._num_units

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        with tf.variable_scope(tf.get_variable_scope(), initializer=self._initializer):
            mixed = _linear(tf.concat([inputs, state], 1), 2 * self._num_units)
            gate, candidate = tf.split(mixed, 2, axis=1)
            gate = tf.sigmoid(gate + self._forget_bias)
            new = gate * state + (1.0 - gate) * self._activation(candidate)
        return new, new


class NASCell(LayerRNNCell):
    """The cell that a search for architectures found (Zoph, Le: Neural Architecture Search with Reinforcement Learning)."""

    def __init__(
        self, num_units: int, num_proj: int | None = None, use_bias: bool = False, reuse: Any = None, **kwargs: Any
    ) -> None:
        super().__init__(_reuse=reuse, **kwargs)
        self._num_units, self._num_proj, self._use_bias = num_units, num_proj, use_bias

    @property
    def state_size(self) -> Any:
        return LSTMStateTuple(self._num_units, self.output_size)

    @property
    def output_size(self) -> int:
        return self._num_units if self._num_proj is None else self._num_proj

    def build(self, inputs_shape: Any) -> None:
        """Raises: ValueError for inputs whose last extent is not known."""
        n_inputs = tf.TensorShape(inputs_shape).with_rank(2).dims[1].value
        if n_inputs is None:
            raise ValueError("Could not infer input size from inputs.get_shape()[-1]")
        n_gates = 8 * self._num_units
        self.recurrent_kernel = self.add_variable("recurrent_kernel", [self.output_size, n_gates])
        self.kernel = self.add_variable("kernel", [n_inputs, n_gates])
        if self._use_bias:
            self.bias = self.add_variable("bias", [n_gates], initializer=tf.zeros_initializer)
        if self._num_proj is not None:
            self.projection_weights = self.add_variable("projection_weights", [self._num_units, self._num_proj])
        self.built = True

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        cell, output = state
        recurrent = tf.matmul(output, self.recurrent_kernel)
        if self._use_bias:
            recurrent = tf.nn.bias_add(recurrent, self.bias)
        x, h = (tf.split(product, 8, axis=1) for product in (tf.matmul(inputs, self.kernel), recurrent))
        first = tf.tanh(tf.sigmoid(x[0] + h[0]) * tf.nn.relu(x[1] + h[1]))
        second = tf.tanh(tf.sigmoid(x[2] + h[2]) + tf.nn.relu(x[3] * h[3]))
        third = tf.tanh(tf.tanh(x[4] + h[4]) * tf.sigmoid(x[5] + h[5]))
        fourth = tf.sigmoid(tf.tanh(x[6] + h[6]) + tf.sigmoid(x[7] + h[7]))
        cell = tf.tanh(first + cell) * second
        output = tf.tanh(cell * tf.tanh(third + fourth))
        if self._num_proj is not None:
            output = tf.matmul(output, self.projection_weights)
        return output, LSTMStateTuple(cell, output)
