"""Keras callbacks and helpers that do nothing good on the NPU."""

from __future__ import annotations

import libcst as cst

from tf2npu.rules.base import Example, rule
from tf2npu.rules.facts.asked_distribution import to_convert
from tf2npu.scanner.sites import Call

_ADVICE = {
    "tensorflow.keras.callbacks.TerminateOnNaN": (
        "In saturation mode the NPU has no NaN: write enable_overflow_check and NPULossScaleOptimizer, which skip such steps."
    ),
    "tensorflow.train.NanTensorHook": (
        "In saturation mode the NPU has no NaN, so this hook never fires: NPULossScaleOptimizer looks at the overflow flag."
    ),
}
_ON_GPUS = {
    "tensorflow.keras.utils.multi_gpu_model": "model",
    "tensorflow.contrib.estimator.replicate_model_fn": "model_fn",
    "tensorflow.contrib.estimator.TowerOptimizer": "optimizer_or_optimizer_fn",
}
"""Wrappers that cut a batch between GPUs, and the parameter that is what they wrap."""


@rule(
    id="NPU930",
    title="Callbacks and wrappers for GPUs",
    matches=(*_ADVICE, *_ON_GPUS),
    why="They look for NaN or for GPUs, and on an NPU host there may be neither.",
    done_when="`tf2npu run` trains to the end without the callback or wrapper.",
    source="the vendor's published support levels for TensorFlow 1.15: tf.keras.callbacks, tf.train hooks, multi_gpu_model",
    examples=(
        Example.same(
            "c = tf.keras.callbacks.TerminateOnNaN()",
            level="manual",
            write="c = None  # NPULossScaleOptimizer skips the steps that overflow",
        ),
        Example("m = tf.keras.utils.multi_gpu_model(m, 2)", "m = m"),
        Example(
            "o = tf.contrib.estimator.TowerOptimizer(tf.train.AdamOptimizer(0.1))",
            "o = tf.train.AdamOptimizer(0.1)",
        ),
        Example.same("m = tf.keras.utils.multi_gpu_model(a or b, gpus=n)", level="manual"),
        Example.same("o = tf.contrib.estimator.TowerOptimizer(tf.train.AdamOptimizer, 0.1)", level="manual"),
        Example.same("c = tf.keras.callbacks.ModelCheckpoint('d')", note="works on the NPU"),
        Example.same("m = multi_gpu_model(m, 2)", note="the user's own"),
    ),
)
def unsupported_callback(call: Call) -> None:
    """Reports callbacks, hooks and wrappers that have no meaning on the NPU."""
    if call.name in _ADVICE:
        return call.manual(_ADVICE[call.name])
    wrapped = call.value(_ON_GPUS[call.name], 0)
    ranks = to_convert(call, " (tf2npu convert --distributed tf)")
    if wrapped is not None and _is_whole(call, wrapped):
        call.replace(call.node, call.source(wrapped))
        return call.fixed(
            f"There are no GPUs to share the batch: one NPU takes all of it. For several, train one process on each NPU{ranks}."
        )
    return call.manual(f"There are no GPUs: write what this call wraps in its place, and train one process on each NPU{ranks}.")


def _is_whole(call: Call, wrapped: cst.BaseExpression) -> bool:
    """Whether what is wrapped can stand in the place of the call, and is the object itself and no function that makes it."""
    if call.has_star_args or not isinstance(wrapped, (cst.Name, cst.Attribute, cst.Call)):
        return False
    return isinstance(wrapped, cst.Call) or not call.name.endswith("TowerOptimizer")
