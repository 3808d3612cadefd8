"""Sessions of tf.compat.v1 in scripts for TensorFlow 2, whose functions the NPU runs."""

from __future__ import annotations

import re

from tf2npu.config import Config
from tf2npu.rules.base import Example, rule
from tf2npu.scanner.sites import Call

_TF2 = Config(dialect="tf2")
_RUNS_GRAPHS = re.compile(r"\b(?:disable_v2_behavior|disable_eager_execution|enable_v1)\(")
"""Calls by which a script runs graphs and nothing else."""


@rule(
    id="NPU819",
    title="Session beside functions",
    matches=("tensorflow.Session", "tensorflow.InteractiveSession", "tensorflow.train.MonitoredTrainingSession"),
    why="npu_device takes functions of eager code and no sessions, and does not have both in one script.",
    done_when="The script makes no session.",
    source="TensorFlow 2 adapter porting guide: limits, tf.compat.v1 and eager execution in one script",
    examples=(
        Example.same(
            "config = tf.compat.v1.ConfigProto()\nconfig.gpu_options.allow_growth = True\n"
            "s = tf.compat.v1.InteractiveSession(config=config)\n@tf.function\ndef f(x):\n    return x",
            level="manual", config=_TF2, write="@tf.function\ndef f(x):\n    return x",
        ),
        Example.same(
            "with tf.Graph().as_default(), tf.compat.v1.Session() as s:\n    print(s.run(tf.ones(2)))", level="manual",
            config=_TF2, write="@tf.function\ndef f():\n    return tf.ones(2)\nprint(f())",
        ),
        Example.same(
            "import npu_device\nnpu_device.compat.enable_v1()\ns = tf.compat.v1.Session()", note="runs graphs alone", config=_TF2
        ),
        Example.same("s = requests.Session()", note="not TensorFlow's", config=_TF2),
        Example.same("@tf.function\ndef f(x):\n    return x", config=_TF2),
    ),
)  # fmt: skip
def session_beside_functions(call: Call) -> None:
    """Reports sessions in scripts for TensorFlow 2."""
    if _RUNS_GRAPHS.search(call.script.text):
        return
    call.manual(
        "npu_device runs functions, not sessions, and a script has one or the other. Leave this out where it only sets options "
        "of GPUs; what it runs becomes a tf.function, or a script of its own that is converted with --target tf1."
    )
