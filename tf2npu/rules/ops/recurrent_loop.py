"""Recurrent loops that run faster in a form of the NPU's own."""

from __future__ import annotations

from tf2npu.rules.base import Example, rule
from tf2npu.scanner.sites import Call

_CELLS = tuple(f"tensorflow.{where}.{name}" for where in ("nn.rnn_cell", "contrib.rnn", "keras.layers")
               for name in ("BasicLSTMCell", "LSTMCell", "GRUCell", "LSTMBlockCell"))  # fmt: skip


@rule(
    id="NPU511",
    title="Recurrent loop",
    matches=(
        "tensorflow.nn.dynamic_rnn",
        "tensorflow.nn.bidirectional_dynamic_rnn",
        "tensorflow.contrib.rnn.stack_bidirectional_dynamic_rnn",
    ),
    why="A loop runs step by step; the NPU has one operator for a whole sequence.",
    source="npu_bridge.estimator.npu.npu_dynamic_rnn.DynamicRNN, DynamicGRUV2",
    examples=(
        Example.same(
            "y, s = tf.nn.dynamic_rnn(tf.nn.rnn_cell.BasicLSTMCell(8), x, dtype=tf.float32)",
            level="info",
            write="from npu_bridge.estimator.npu.npu_dynamic_rnn import DynamicRNN\nimport tensorflow as tf\n"
            "y = DynamicRNN(8, dtype=tf.float32)(x)",
        ),
        Example.same("y, s = rnn.dynamic_rnn(cell, x)", note="not TensorFlow's"),
        Example.same(
            "import tensorflow as tf\nfrom tensorflow.python.ops import rnn\ny, s = rnn.dynamic_rnn(cell, x, dtype=tf.float32)",
            note="where TensorFlow defines it",
            level="info",
        ),
    ),
)
def recurrent_loop(call: Call) -> None:
    """Reports recurrent loops for which the NPU has an operator."""
    cell = call.value("cell", 0) or call.value("cell_fw", 0)
    name = (call.resolve(cell) or "").removesuffix("()") if cell is not None else ""
    kind = "DynamicGRUV2" if "GRU" in name else "DynamicRNN"
    if name not in _CELLS:
        return call.info(
            "The loop runs as it is. For plain cells faster on an NPU is DynamicRNN (LSTM) or DynamicGRUV2 (GRU) of "
            "npu_bridge.estimator.npu.npu_dynamic_rnn, on (time, batch, features); old checkpoints do not load."
        )
    return call.info(
        f"The loop runs as it is. Faster on an NPU is npu_bridge.estimator.npu.npu_dynamic_rnn.{kind}(hidden_size, "
        "dtype=tf.float32), on (time, batch, features). Weights get other names, so that old checkpoints do not load."
    )
