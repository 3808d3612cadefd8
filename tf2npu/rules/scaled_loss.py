"""A loss that is scaled by hand, and what runs faster in a form of the NPU's own."""

from __future__ import annotations

import re
from typing import Any

import libcst as cst

from tf2npu.rules.base import Example, rule
from tf2npu.scanner.sites import Call

_SCALE = re.compile(r"(^|_)(loss_?)?scale(r|_value)?$", re.IGNORECASE)
_GRADIENTS = (
    "tensorflow.gradients", *(f"tensorflow.train.{name}Optimizer().{method}" for method in ("compute_gradients", "minimize")
    for name in ("Adadelta", "Adagrad", "Adam", "Ftrl", "GradientDescent", "Momentum", "RMSProp")),
)  # fmt: skip
_ADVICE = (
    "The loss is scaled by hand. On the NPU let NPULossScaleOptimizer(optimizer, FixedLossScaleManager(loss_scale=512)) do it, "
    "which leaves out a step with an overflow, and take the scaling and the division of the gradients out (512 is the "
    "guide's value for ResNet-50)."
)


@rule(
    id="NPU510",
    title="Loss scaled by hand",
    matches=_GRADIENTS,
    why="An overflow of float16 is found by the NPU, which then leaves the step out; a scale by hand does not see it.",
    source="TensorFlow adapter porting guide: ResNet-50, loss_scale 512; npu_loss_scale_optimizer",
    examples=(
        Example.same(
            "g = tf.train.AdamOptimizer(0.1).compute_gradients(loss * loss_scale)",
            level="manual",
            write="opt = NPULossScaleOptimizer(tf.train.AdamOptimizer(0.1), FixedLossScaleManager(loss_scale=512))\n"
            "g = opt.compute_gradients(loss)",
        ),
        Example.same("g = tf.train.AdamOptimizer(0.1).compute_gradients(loss)", note="no scale"),
    ),
)
def scaled_loss(call: Call) -> None:
    """Reports gradients of a loss that is multiplied with a scale."""
    loss = call.value("ys" if call.name == "tensorflow.gradients" else "loss", 0)
    if loss is not None and _is_scaled(loss):
        call.manual(_ADVICE)


@rule(
    id="NPU510",
    title="Loss scaled by hand",
    on="unknown_method",
    matches=("compute_gradients", "minimize"),
    why="An overflow of float16 is found by the NPU, which then leaves the step out; a scale by hand does not see it.",
    source="TensorFlow adapter porting guide: ResNet-50, loss_scale 512; npu_loss_scale_optimizer",
    examples=(Example.same("def f(opt):\n    return opt.minimize(loss * loss_scale)", level="manual"),),
)
def scaled_loss_of_unknown(call: Call) -> None:
    """Reports gradients of a scaled loss, taken by an optimizer that comes from elsewhere."""
    scaled_loss(call)


def _is_scaled(node: Any) -> bool:
    if not isinstance(node, cst.BinaryOperation) or not isinstance(node.operator, cst.Multiply):
        return False
    return any(_SCALE.search(_last_name(side)) for side in (node.left, node.right))


def _last_name(node: Any) -> str:
    if isinstance(node, cst.Call):
        return _last_name(node.func)
    return node.value if isinstance(node, cst.Name) else node.attr.value if isinstance(node, cst.Attribute) else ""


_CELLS = tuple(f"tensorflow.{where}.{name}" for where in ("nn.rnn_cell", "contrib.rnn", "keras.layers")
               for name in ("BasicLSTMCell", "LSTMCell", "GRUCell", "LSTMBlockCell"))  # fmt: skip


@rule(
    id="NPU511",
    title="Recurrent loop",
    matches=("tensorflow.nn.dynamic_rnn", "tensorflow.nn.bidirectional_dynamic_rnn"),
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
    ),
)
def recurrent_loop(call: Call) -> None:
    """Reports recurrent loops for which the NPU has an operator."""
    cell = call.value("cell", 0) or call.value("cell_fw", 0)
    name = (call.resolve(cell) or "").removesuffix("()") if cell is not None else ""
    kind = "DynamicGRUV2" if "GRU" in name else "DynamicRNN"
    known = "" if name in _CELLS else " if the cell is a plain LSTM (DynamicRNN) or GRU (DynamicGRUV2)"
    call.info(
        f"Faster on the NPU{known}: npu_bridge.estimator.npu.npu_dynamic_rnn.{kind}(hidden_size, dtype=tf.float32), which "
        "takes (time, batch, features). Weights have other names, so checkpoints do not carry over."
    )
