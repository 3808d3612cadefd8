"""``tf.contrib.cudnn_rnn``: scripts import it for a branch they do not take; only cells that need no cuDNN can be made."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from npu_bridge._contrib._rnn_blocks import LSTMBlockCell
from npu_bridge._unsupported import refuse
from tensorflow.python.ops.rnn_cell_impl import LayerRNNCell

__all__ = [
    "CUDNN_GRU", "CUDNN_INPUT_AUTO_MODE", "CUDNN_INPUT_LINEAR_MODE", "CUDNN_INPUT_SKIP_MODE", "CUDNN_LSTM",
    "CUDNN_RNN_BIDIRECTION", "CUDNN_RNN_RELU", "CUDNN_RNN_TANH", "CUDNN_RNN_UNIDIRECTION", "CudnnCompatibleGRUCell",
    "CudnnCompatibleLSTMCell", "CudnnGRU", "CudnnLSTM", "CudnnRNNRelu", "CudnnRNNTanh",
]  # fmt: skip
CUDNN_RNN_UNIDIRECTION, CUDNN_RNN_BIDIRECTION = "unidirectional", "bidirectional"
CUDNN_LSTM, CUDNN_GRU, CUDNN_RNN_RELU, CUDNN_RNN_TANH = "lstm", "gru", "rnn_relu", "rnn_tanh"
CUDNN_INPUT_LINEAR_MODE, CUDNN_INPUT_SKIP_MODE, CUDNN_INPUT_AUTO_MODE = "linear_input", "skip_input", "auto_select"


class CudnnCompatibleLSTMCell(LSTMBlockCell):
    """The cell that computes what cuDNN's LSTM does."""

    def __init__(self, num_units: int, reuse: bool | None = None) -> None:
        super().__init__(
            num_units, forget_bias=0, cell_clip=None, use_peephole=False, reuse=reuse, name="cudnn_compatible_lstm_cell"
        )


class CudnnCompatibleGRUCell(LayerRNNCell):
    """The cell that computes what cuDNN's GRU does: it resets what the state is multiplied to, and has a bias for that.

    Raises: ValueError for inputs of unknown depth.
    Source: tensorflow/contrib/cudnn_rnn/python/ops/cudnn_rnn_ops.py of TF 1.15; names and shapes of variables are those there.
    """

    def __init__(self, num_units: int, reuse: bool | None = None, kernel_initializer: Any = None) -> None:
        super().__init__(_reuse=reuse)
        self.input_spec = tf.layers.InputSpec(ndim=2)
        self._num_units = num_units
        self._kernel_initializer = tf.keras.initializers.get(kernel_initializer)

    @property
    def state_size(self) -> int:
        return self._num_units

    @property
    def output_size(self) -> int:
        return self._num_units

    def build(self, inputs_shape: Any) -> None:
        depth, n = tf.TensorShape(inputs_shape).dims[1].value, self._num_units
        if depth is None:
            raise ValueError(f"Expected inputs.shape[-1] to be known, saw shape: {inputs_shape}")
        self._gate_kernel, self._gate_bias = self._pair("gates", [depth + n, 2 * n], 1.0)
        self._input_kernel, self._input_bias = self._pair("candidate/input_projection", [depth, n], 0.0)
        self._hidden_kernel, self._hidden_bias = self._pair("candidate/hidden_projection", [n, n], 0.0)

    def _pair(self, name: str, shape: list[int], bias: float) -> tuple[Any, Any]:
        """A kernel and its bias, which is the same everywhere at first."""
        kernel = self.add_weight(f"{name}/kernel", shape, initializer=self._kernel_initializer)
        return kernel, self.add_weight(f"{name}/bias", shape[1:], initializer=tf.constant_initializer(bias))

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        gates = tf.nn.bias_add(tf.matmul(tf.concat([inputs, state], 1), self._gate_kernel), self._gate_bias)
        reset, update = tf.split(tf.sigmoid(gates), 2, axis=1)
        hidden = reset * tf.nn.bias_add(tf.matmul(state, self._hidden_kernel), self._hidden_bias)
        candidate = tf.tanh(tf.nn.bias_add(tf.matmul(inputs, self._input_kernel), self._input_bias) + hidden)
        h = (1 - update) * candidate + update * state
        return h, h


class _NeedsCudnn:
    """A layer of cuDNN. Raises: UnsupportedOnSimulator when it is made."""

    def __init__(
        self,
        num_layers: int,
        num_units: int,
        input_mode: str = CUDNN_INPUT_LINEAR_MODE,
        direction: str = CUDNN_RNN_UNIDIRECTION,
        dropout: float = 0.0,
        seed: int | None = None,
        dtype: Any = tf.float32,
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
        name: str | None = None,
    ) -> None:
        refuse(
            f"tf.contrib.cudnn_rnn.{type(self).__name__}",
            "cuDNN runs on another kind of device; use tf.contrib.rnn.LSTMBlockFusedCell or npu_bridge's DynamicRNN",
        )


class CudnnLSTM(_NeedsCudnn):
    """LSTM layers of cuDNN."""


class CudnnGRU(_NeedsCudnn):
    """GRU layers of cuDNN."""


class CudnnRNNTanh(_NeedsCudnn):
    """Plain recurrent layers of cuDNN with tanh."""


class CudnnRNNRelu(_NeedsCudnn):
    """Plain recurrent layers of cuDNN with relu."""
