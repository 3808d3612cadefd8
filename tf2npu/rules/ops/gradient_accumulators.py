"""Accumulators of gradients, which stay on the host."""

from __future__ import annotations

from tf2npu.rules.base import Example, rule
from tf2npu.scanner.sites import Call


@rule(
    id="NPU989",
    title="Accumulator on the host",
    once=True,
    matches=("tensorflow.ConditionalAccumulator",),
    why="The list of operators of the NPU has no accumulators, so each gradient goes to the host and back.",
    source="operator list of the Ascend 910: no ConditionalAccumulator, AccumulatorApplyGradient or AccumulatorTakeGradient",
    examples=(
        Example.same(
            "a = tf.ConditionalAccumulator(tf.float32, shape=[2])",
            level="info",
            write="a = tf.get_variable('sum', [2], initializer=tf.zeros_initializer(), trainable=False)",
        ),
        Example.same("a = tf.get_variable('sum', [2], trainable=False)", note="a variable of the device"),
        Example.same("a = mine.ConditionalAccumulator(t)", note="not TensorFlow's"),
    ),
)
def accumulator(call: Call) -> None:
    """Says of accumulators that they stay on the host."""
    call.info(
        "The NPU has no op for accumulators: gradients that go through this one are copied to the host and back in every step. A "
        "variable with tf.assign_add keeps the sum on the device. On an NPU host, mix_compile_mode=True lets it stay as it is."
    )
