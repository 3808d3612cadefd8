"""Recurrent layers made for cuDNN."""

from __future__ import annotations

from tf2npu.rules.base import Example, rule
from tf2npu.scanner.sites import Call

_KERAS = {"CuDNNLSTM": "LSTM", "CuDNNGRU": "GRU"}
_CONTRIB = {
    "CudnnLSTM": "tf.nn.rnn_cell.LSTMCell", "CudnnGRU": "tf.nn.rnn_cell.GRUCell", "CudnnRNNRelu": "tf.nn.rnn_cell.BasicRNNCell",
    "CudnnRNNTanh": "tf.nn.rnn_cell.BasicRNNCell",
}  # fmt: skip


@rule(
    id="NPU948",
    title="cuDNN layers",
    once=True,
    matches=(
        *(f"tensorflow.keras.layers.{name}" for name in _KERAS),
        *(f"tensorflow.contrib.cudnn_rnn.{name}" for name in _CONTRIB),
    ),
    why="Their op exists for NVIDIA's GPUs only, and keeps its weights in cuDNN's own order.",
    done_when="`tf2npu run` trains the layer, and the checkpoints that are needed load into its variables.",
    source="CudnnRNN ops of TensorFlow 1.15 have GPU kernels only",
    examples=(
        Example.same(
            "y = tf.keras.layers.CuDNNLSTM(8)(x)",
            level="unsupported",
            write="y = tf.keras.layers.LSTM(8, recurrent_activation='sigmoid')(x)",
        ),
        Example.same("c = tf.contrib.cudnn_rnn.CudnnGRU(1, 8)", level="unsupported"),
        Example.same("y = tf.keras.layers.LSTM(8)(x)", note="runs anywhere"),
        Example.same("c = tf.contrib.cudnn_rnn.CudnnCompatibleGRUCell(8)", note="made of ordinary ops"),
        Example.same("y = CuDNNLSTM(8)(x)", note="not TensorFlow's"),
    ),
)
def cudnn_layer(call: Call) -> None:
    """Reports recurrent layers made for cuDNN and names the plain ones."""
    last = call.name.rpartition(".")[2]
    if last in _KERAS:
        call.unsupported(
            f"Write tf.keras.layers.{_KERAS[last]}(units, ..., recurrent_activation='sigmoid'): same weights"
            + (", with reset_after=True." if last == "CuDNNGRU" else ".")
        )
    else:
        call.unsupported(f"Write {_CONTRIB[last]} in tf.nn.dynamic_rnn; checkpoints of cuDNN weights have to be converted.")
