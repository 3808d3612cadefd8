"""``tf.contrib.cudnn_rnn``: scripts import it for a branch they do not take; only cells that need no cuDNN can be made."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from npu_bridge._contrib._rnn_blocks import LSTMBlockCell
from npu_bridge._unsupported import refuse

__all__ = [
    "CUDNN_GRU", "CUDNN_INPUT_AUTO_MODE", "CUDNN_INPUT_LINEAR_MODE", "CUDNN_INPUT_SKIP_MODE", "CUDNN_LSTM",
    "CUDNN_RNN_BIDIRECTION", "CUDNN_RNN_RELU", "CUDNN_RNN_TANH", "CUDNN_RNN_UNIDIRECTION", "CudnnCompatibleLSTMCell",
    "CudnnGRU", "CudnnLSTM", "CudnnRNNRelu", "CudnnRNNTanh",
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
