"""Keras callbacks and helpers that do nothing good on the NPU."""

from __future__ import annotations

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
    "tensorflow.keras.utils.multi_gpu_model": ("There are no GPUs: remove this call, and train one process on each NPU{}."),
    "tensorflow.contrib.estimator.replicate_model_fn": (
        "There are no GPUs: give the model_fn itself, and train one process on each NPU{}."
    ),
    "tensorflow.contrib.estimator.TowerOptimizer": (
        "There are no GPUs: use the optimizer itself, and train one process on each NPU{}."
    ),
}


@rule(
    id="NPU930",
    title="Callbacks and wrappers for GPUs",
    matches=tuple(_ADVICE),
    why="They look for NaN or for GPUs, and on an NPU host there may be neither.",
    done_when="`tf2npu run` trains to the end without the callback or wrapper.",
    source="the vendor's published support levels for TensorFlow 1.15: tf.keras.callbacks, tf.train hooks, multi_gpu_model",
    examples=(
        Example.same(
            "c = tf.keras.callbacks.TerminateOnNaN()",
            level="manual",
            write="c = None  # NPULossScaleOptimizer skips the steps that overflow",
        ),
        Example.same("m = tf.keras.utils.multi_gpu_model(m, 2)", level="manual"),
        Example.same("c = tf.keras.callbacks.ModelCheckpoint('d')", note="works on the NPU"),
        Example.same("m = multi_gpu_model(m, 2)", note="the user's own"),
    ),
)
def unsupported_callback(call: Call) -> None:
    """Reports callbacks, hooks and wrappers that have no meaning on the NPU."""
    call.manual(_ADVICE[call.name].format(to_convert(call, " (tf2npu convert --distributed tf)")))
