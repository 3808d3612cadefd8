"""A dynamic loss scale made under control dependencies."""

from __future__ import annotations

import libcst as cst

from tf2npu.rules.base import Example, rule
from tf2npu.scanner.sites import Call

_MANAGERS = (
    "npu_bridge.npu_init.ExponentialUpdateLossScaleManager",
    "tensorflow.contrib.mixed_precision.ExponentialUpdateLossScaleManager",
    "tensorflow.train.experimental.DynamicLossScale",
)


@rule(
    id="NPU946",
    title="Loss scale under control dependencies",
    matches=_MANAGERS,
    why="The manager makes variables; under control dependencies they wait for ops of the step, and their start may never come.",
    done_when="The manager is made above the block, and `tf2npu run` passes the first step.",
    source="TensorFlow adapter porting guide: create the dynamic loss scale manager outside of tf.control_dependencies",
    examples=(
        Example.same(
            "from npu_bridge.npu_init import ExponentialUpdateLossScaleManager\nimport tensorflow as tf\n"
            "with tf.control_dependencies(ops):\n m = ExponentialUpdateLossScaleManager(1, 2)",
            level="manual",
            write="from npu_bridge.npu_init import ExponentialUpdateLossScaleManager\nimport tensorflow as tf\n"
            "m = ExponentialUpdateLossScaleManager(1, 2)\nwith tf.control_dependencies(ops):\n    opt = f(m)",
        ),
        Example.same(
            "from npu_bridge.npu_init import ExponentialUpdateLossScaleManager\nimport tensorflow as tf\n"
            "m = ExponentialUpdateLossScaleManager(init_loss_scale=1, incr_every_n_steps=2)",
            note="outside",
        ),
        Example.same(
            "from npu_bridge.npu_init import ExponentialUpdateLossScaleManager\nimport tensorflow as tf\n"
            "with tf.name_scope('a'):\n    m = ExponentialUpdateLossScaleManager(init_loss_scale=1, incr_every_n_steps=2)",
            note="only a name",
        ),
    ),
)
def loss_scale_placement(call: Call) -> None:
    """Reports loss scale managers that are made inside tf.control_dependencies."""
    for ancestor in call.script.walked.ancestors(call.node):
        if isinstance(ancestor, (cst.FunctionDef, cst.Lambda)):
            return
        if isinstance(ancestor, cst.With) and any("control_dependencies(" in call.source(item.item) for item in ancestor.items):
            call.manual("Make the manager before `with tf.control_dependencies(...)`, and use it inside.")
            return
