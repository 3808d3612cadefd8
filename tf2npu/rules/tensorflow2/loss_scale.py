"""Loss scaling of Keras in scripts for TensorFlow 2."""

from __future__ import annotations

from tf2npu.config import Config
from tf2npu.frameworks.tensorflow2.framework import ALIAS
from tf2npu.rules.base import Example, part_of, rule
from tf2npu.rules.facts.constant_values import text_of
from tf2npu.rules.facts.uncalled_references import passed_on
from tf2npu.scanner.sites import Call, Site

_TF2 = Config(dialect="tf2")
_HEAD = "import tensorflow as tf\nimport npu_device as npu\n"
_NPU = "train.optimizer.NpuLossScaleOptimizer"
_KERAS = "tensorflow.keras.mixed_precision.LossScaleOptimizer"
_EXPERIMENTAL = "tensorflow.keras.mixed_precision.experimental.LossScaleOptimizer"
_POLICIES = (
    "tensorflow.keras.mixed_precision.set_global_policy", "tensorflow.keras.mixed_precision.Policy",
    "tensorflow.keras.mixed_precision.experimental.set_policy", "tensorflow.keras.mixed_precision.experimental.Policy",
)  # fmt: skip


@rule(
    id="NPU804",
    title="Keras loss scaling",
    matches=(_KERAS, _EXPERIMENTAL),
    why="In the NPU's saturation mode an overflow gives the largest number, so Keras sees none and its scale grows for ever.",
    done_when="The optimizer is wrapped in NpuLossScaleOptimizer, and its loss_scale falls after a step with an overflow.",
    source="npu_device.train.optimizer.NpuLossScaleOptimizer",
    examples=(
        Example(
            "import tensorflow as tf\no = tf.keras.mixed_precision.LossScaleOptimizer(tf.keras.optimizers.Adam(), dynamic=True)",
            f"{_HEAD}o = npu.{_NPU}(tf.keras.optimizers.Adam(), dynamic=True)",
            config=_TF2,
        ),
        Example.same(
            "o = tf.keras.mixed_precision.experimental.LossScaleOptimizer(o, 'dynamic')",
            note="its arguments are others",
            level="manual",
            config=_TF2,
        ),
        Example.same(
            "import npu_device as npu\nimport tensorflow as tf\no = npu.train.optimizer.NpuLossScaleOptimizer(o)",
            note="done already",
            config=_TF2,
        ),
        Example.same("ok = isinstance(o, tf.keras.mixed_precision.LossScaleOptimizer)", note="it is one, too", config=_TF2),
    ),
)
def keras_loss_scale(call: Call) -> None:
    """Wraps an optimizer in the NPU's loss scaling in the place of Keras'."""
    if call.name == _EXPERIMENTAL:
        call.manual(
            f"Write npu.{_NPU}(optimizer), which asks the NPU for overflows: dynamic=False, initial_scale=N where a fixed scale "
            "is given."
        )
        return
    call.replace_callee(f"{call.need(ALIAS)}.{_NPU}")
    call.fixed(
        "NpuLossScaleOptimizer asks the NPU for overflows; from Atlas A2 on, which has infinity, Keras' own would do as well."
    )


@part_of(
    keras_loss_scale,
    on="reference",
    matches=(_KERAS, _EXPERIMENTAL),
    examples=(
        Example.same(
            "kinds = {'scaled': tf.keras.mixed_precision.LossScaleOptimizer}",
            note="called elsewhere",
            level="manual",
            config=_TF2,
        ),
        Example.same("def f(o: tf.keras.mixed_precision.LossScaleOptimizer):\n    pass", note="an annotation", config=_TF2),
    ),
)
def loss_scale_class(site: Site) -> None:
    """Reports the class of Keras' loss scaling that is passed on, chosen or extended."""
    if passed_on(site) is not None:
        site.manual(f"Write npu.{_NPU} where this class is called or extended: it asks the NPU for overflows.")


@part_of(
    keras_loss_scale,
    matches=_POLICIES,
    examples=(
        Example.same("tf.keras.mixed_precision.set_global_policy('mixed_float16')", level="manual", config=_TF2),
        Example.same("tf.keras.mixed_precision.set_global_policy('float32')", note="nothing is scaled", config=_TF2),
        Example.same(
            "import npu_device as npu\nimport tensorflow as tf\ntf.keras.mixed_precision.set_global_policy('mixed_float16')\n"
            "o = npu.train.optimizer.NpuLossScaleOptimizer(o)",
            note="wrapped",
            config=_TF2,
        ),
    ),
)
def policy_of_compile(call: Call) -> None:
    """Reports a policy of float16, under which `compile` wraps the optimizer in Keras' loss scaling."""
    value = call.value("name" if call.name.endswith("Policy") else "policy", 0)
    kind = text_of(value, call.scope) if value is not None else None
    if kind == "mixed_float16" and "LossScaleOptimizer" not in call.script.text:
        call.manual(
            "Under this policy compile() wraps the optimizer in Keras' loss scaling, which sees no overflow in the NPU's "
            f"saturation mode: give it npu.{_NPU}(optimizer). From Atlas A2 on, which has infinity, it may stay."
        )
