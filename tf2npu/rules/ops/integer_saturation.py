"""Casts to small integers."""

from __future__ import annotations

import re

from tf2npu.rules.base import Example, rule
from tf2npu.rules.facts.constant_values import text_of
from tf2npu.rules.facts.pipelines.input_pipeline import in_pipeline
from tf2npu.scanner.sites import Call

_SMALL = {"uint8": (0, 255), "int8": (-128, 127), "uint16": (0, 65535), "int16": (-32768, 32767)}


@rule(
    id="NPU937",
    title="Cast to a small integer",
    matches=("tensorflow.cast",),
    why="Out of range, the NPU saturates (300 becomes 255) where a CPU wraps (300 becomes 44).",
    source="TensorFlow adapter porting guide: uint8 overflow; C++ conversion rules of TensorFlow's CPU kernel",
    examples=(
        Example.same("y = tf.cast(x, tf.uint8)", level="info", write="y = tf.saturate_cast(x, tf.uint8)"),
        Example.same("y = tf.cast(tf.clip_by_value(x, 0, 255), tf.uint8)", note="in range"),
        Example.same("y = tf.cast(x, tf.int32)", note="large enough"),
        Example.same("y = tf.saturate_cast(x, tf.uint8)", note="saturates everywhere"),
    ),
)
def integer_saturation(call: Call) -> None:
    """Reports casts whose result differs from the CPU's when a value is out of range."""
    value = call.value("dtype", 1)
    if value is None or not call.args:
        return
    kind = text_of(value, call.scope) or (call.resolve(value) or "").rpartition(".")[2]
    if kind in _SMALL and not _is_in_range(call) and not in_pipeline(call):
        low, high = _SMALL[kind]
        call.info(
            f"Out of range values saturate on the NPU and wrap on a CPU: write tf.saturate_cast(x, tf.{kind}) to have "
            f"{low}..{high} on both, or tf.floormod(x, ...) before the cast to wrap."
        )


def _is_in_range(call: Call) -> bool:
    """Whether the value was clipped, here or where its name got it."""
    source = call.source(call.args[0].value)
    if "clip_by_value" in source or "saturate_cast" in source:
        return True
    return re.search(rf"\b{re.escape(source)}\s*=\s*[\w.]*clip_by_value\(", call.script.text) is not None
