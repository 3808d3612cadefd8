"""Labels of metrics, of a type that the NPU compares fast."""

from __future__ import annotations

from tf2npu.config import Config
from tf2npu.frameworks.tensorflow1.scripts import tensorflow_name
from tf2npu.rules.base import Example, rule
from tf2npu.scanner.sites import Call


@rule(
    id="NPU508",
    title="Labels of accuracy as float32",
    matches=("tensorflow.metrics.accuracy",),
    why="Comparing integers of 64 bits is slow on the NPU; class numbers are exact in float32 up to 2**24.",
    source="TensorFlow adapter porting guide: ResNet-50; tf.metrics.accuracy of 1.15 casts predictions to the labels' type",
    examples=(
        Example(
            "a = tf.metrics.accuracy(labels, p)",
            "a = tf.metrics.accuracy(tf.cast(labels, tf.float32), p)",
            config=Config(unsafe_fixes=True),
        ),
        Example.same("a = tf.metrics.accuracy(labels, p)", note="only when asked for", level="info"),
        Example.same("a = tf.metrics.accuracy(tf.cast(labels, tf.float32), p)", note="done"),
    ),
)
def float_labels(call: Call) -> None:
    """Casts the labels of an accuracy to float32."""
    labels = call.value("labels", 0)
    if labels is None or call.has_star_args or "float32" in call.source(labels):
        return None
    prefix = tensorflow_name(call.script)
    code = f"{prefix or 'tf'}.cast({call.source(labels)}, {prefix or 'tf'}.float32)"
    if not call.allows_unsafe() or prefix == "":
        return call.info(
            f"The metric runs as it is. Pass {code} in the place of {call.source(labels)} to make it faster on an NPU, which "
            "compares 64-bit integers slowly."
        )
    call.wrap(labels, f"{prefix}.cast(", f", {prefix}.float32)")
    return call.fixed("Labels are compared as float32.")
