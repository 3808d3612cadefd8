"""Settings that npu_device does not look at: XLA of functions, and blocks of tf.device."""

from __future__ import annotations

from tf2npu.config import Config
from tf2npu.rules.base import Example, part_of, rule
from tf2npu.scanner.sites import Call

_TF2 = Config(dialect="tf2")
_MODELS = ("tensorflow.keras.Model()", "tensorflow.keras.Sequential()")
_XLA = "npu_device ignores {}: the NPU's compiler takes the function as a whole, with or without it."


@rule(
    id="NPU805",
    title="Ignored by npu_device",
    matches=("tensorflow.function", "tensorflow.compat.v2.function", *(f"{model}.compile" for model in _MODELS)),
    why="As the default device the NPU gets every function, whatever block it is made in and whatever compiler it asks for.",
    source="npu_device of TensorFlow 2: as_default()",
    examples=(
        Example.same(
            "@tf.function(jit_compile=True)\ndef f(x):\n    return x", level="info", config=_TF2,
            write="@tf.function\ndef f(x):\n    return x",
        ),
        Example.same("m = tf.keras.Sequential()\nm.compile('sgd', jit_compile=True)", level="info", config=_TF2),
        Example.same("f = tf.function(g, jit_compile=False)", note="off", config=_TF2),
        Example.same("@tf.function\ndef f(x):\n    return x", config=_TF2),
    ),
)  # fmt: skip
def ignored_xla(call: Call) -> None:
    """Names functions that ask for XLA."""
    for keyword in ("jit_compile", "experimental_compile"):
        value = call.value(keyword)
        if value is not None and call.resolve(value) not in ("False", "None"):
            call.info(_XLA.format(keyword))


@part_of(
    ignored_xla,
    matches=("tensorflow.device", "tensorflow.compat.v2.device"),
    examples=(
        Example.same("with tf.device('/GPU:0'):\n    x = f()", level="info", config=_TF2),
        Example.same("with my.device('/GPU:0'):\n    x = f()", note="not TensorFlow's", config=_TF2),
    ),
)
def ignored_device(call: Call) -> None:
    """Names blocks that place ops on a device."""
    call.info(
        "npu_device ignores tf.device: what runs in a function runs on the NPU. What has to stay on the CPU stands in "
        "tensorflow.python.eager.context.device('CPU:0')."
    )
