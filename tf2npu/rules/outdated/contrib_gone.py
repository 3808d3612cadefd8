"""Modules of tf.contrib that earlier releases had and TensorFlow 1.15 has no more."""

from __future__ import annotations

from tf2npu.frameworks.tensorflow1.scripts import uses_tensorflow
from tf2npu.rules.base import Example, rule
from tf2npu.rules.facts.files.file_uses import uses
from tf2npu.scanner.sites import Site

# Module -> what has taken its place.
_INSTEAD = {
    "coder": "the package tensorflow-compression", "gan": "the package tensorflow-gan (import tensorflow_gan as tfgan)",
    "gdr": "hccl_ops of npu_bridge", "hvx": "nothing: it was for phones", "imperative": "a graph and a session",
    "kfac": "the package kfac", "linalg": "tf.linalg", "lite": "tf.lite", "mpi": "hccl_ops of npu_bridge",
    "mpi_collectives": "hccl_ops of npu_bridge", "ndlstm": "tf.nn.dynamic_rnn over the rows, then over the columns",
    "py2tf": "tf.autograph", "verbs": "hccl_ops of npu_bridge",
}  # fmt: skip
GONE_MODULES = {f"tensorflow.contrib.{name}": instead for name, instead in _INSTEAD.items()}


@rule(
    id="NPU967",
    title="contrib module that 1.15 no longer has",
    once=True,
    on="module",
    matches=tuple(GONE_MODULES),
    why="The NPU's adapter works with TensorFlow 1.15, where importing or using the module ends the program.",
    done_when="With TensorFlow 1.15 the script is imported to its end, and `tf2npu run` trains it without this module.",
    source="tensorflow/contrib of TensorFlow 1.4 to 1.14 compared with 1.15.0",
    examples=(
        Example.same("tfgan = tf.contrib.gan", level="unsupported", write="import tensorflow_gan as tfgan"),
        Example.same("from tensorflow.contrib import kfac", level="unsupported", write="import kfac"),
        Example.same("try:\n    from tensorflow.contrib import gan\nexcept ImportError:\n    gan = None", note="has another way"),
        Example.same("from tensorflow.contrib import slim", note="still there"),
    ),
)
def contrib_gone(site: Site) -> None:
    """Reports each module of tf.contrib that is gone."""
    script = site.script
    if "contrib" not in script.text or not uses_tensorflow(script):
        return
    for module in uses(site, _module):
        public = module.replace("tensorflow", "tf", 1)
        site.unsupported(f"TensorFlow 1.15 has no {public}; in its place: {GONE_MODULES[module]}.")


def _module(name: str) -> str | None:
    """The module that is gone which a name belongs to."""
    if not name.startswith("tensorflow.contrib."):
        return None
    module = ".".join(name.split(".")[:3])
    return module if module in GONE_MODULES else None
