"""LSTM cells whose products are convolutions (Shi et al.: Convolutional LSTM Network).

Source: tensorflow/contrib/rnn/python/ops/rnn_cell.py of TF 1.15.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf
from tensorflow.nn.rnn_cell import LSTMStateTuple, RNNCell


class ConvLSTMCell(RNNCell):
    """An LSTM over images (batch, extents ..., channels). Raises: ValueError when input_shape has not conv_ndims + 1 axes."""

    def __init__(
        self,
        conv_ndims: int,
        input_shape: Sequence[int],
        output_channels: int,
        kernel_shape: Sequence[int],
        use_bias: bool = True,
        skip_connection: bool = False,
        forget_bias: float = 1.0,
        initializers: Any = None,
        name: str = "conv_lstm_cell",
    ) -> None:
        super().__init__(name=name)
        if conv_ndims != len(input_shape) - 1:
            raise ValueError(f"Invalid input_shape {input_shape} for conv_ndims={conv_ndims}.")
        self._image, self._depth = list(input_shape[:-1]), input_shape[-1]
        self._output_channels, self._kernel_shape = output_channels, list(kernel_shape)
        self._use_bias, self._skip_connection, self._forget_bias = use_bias, skip_connection, forget_bias

    @property
    def state_size(self) -> Any:
        size = tf.TensorShape([*self._image, self._output_channels])
        return LSTMStateTuple(size, size)

    @property
    def output_size(self) -> Any:
        return tf.TensorShape([*self._image, self._output_channels + (self._depth if self._skip_connection else 0)])

    def _gates(self, values: Any) -> list[Any]:
        n_filters = 4 * self._output_channels
        shape = [*self._kernel_shape, values.shape.dims[-1].value, n_filters]
        gates = tf.nn.convolution(values, tf.get_variable("kernel", shape, values.dtype), "SAME")
        if self._use_bias:
            gates += tf.get_variable("biases", [n_filters], values.dtype, tf.zeros_initializer())
        return tf.split(gates, 4, axis=-1)

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        """The hidden state is the output, with the inputs in it where skip_connection is set: a next step does not fit then,
        as in TF 1.15, unless the caller cuts it.
        """
        cell, hidden = state
        i, j, f, o = self._gates(tf.concat([inputs, hidden], -1))
        cell = tf.sigmoid(f + self._forget_bias) * cell + tf.sigmoid(i) * tf.tanh(j)
        output = tf.tanh(cell) * tf.sigmoid(o)
        if self._skip_connection:
            output = tf.concat([output, inputs], axis=-1)
        return output, LSTMStateTuple(cell, output)


class Conv1DLSTMCell(ConvLSTMCell):
    """Over sequences. kwargs: as for `ConvLSTMCell`."""

    def __init__(self, name: str = "conv_1d_lstm_cell", **kwargs: Any) -> None:
        super().__init__(conv_ndims=1, name=name, **kwargs)


class Conv2DLSTMCell(ConvLSTMCell):
    """Over images. kwargs: as for `ConvLSTMCell`."""

    def __init__(self, name: str = "conv_2d_lstm_cell", **kwargs: Any) -> None:
        super().__init__(conv_ndims=2, name=name, **kwargs)


class Conv3DLSTMCell(ConvLSTMCell):
    """Over volumes. kwargs: as for `ConvLSTMCell`."""

    def __init__(self, name: str = "conv_3d_lstm_cell", **kwargs: Any) -> None:
        super().__init__(conv_ndims=3, name=name, **kwargs)
