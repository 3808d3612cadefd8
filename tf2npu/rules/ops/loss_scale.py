"""Loss scaling: TensorFlow's loss scale classes become the NPU's managers and optimizer."""

from __future__ import annotations

import libcst as cst

from tf2npu.rules.base import Example, rule
from tf2npu.scanner.sites import Call

_FIXED = "tensorflow.train.experimental.FixedLossScale"
_DYNAMIC = "tensorflow.train.experimental.DynamicLossScale"
_OPTIMIZER = "tensorflow.train.experimental.MixedPrecisionLossScaleOptimizer"
_CONTRIB = "tensorflow.contrib.mixed_precision"
_MANAGERS = {
    "tensorflow.train.experimental.FixedLossScale()", "tensorflow.train.experimental.DynamicLossScale()",
    f"{_CONTRIB}.FixedLossScaleManager()", f"{_CONTRIB}.ExponentialUpdateLossScaleManager()",
    "npu_bridge.npu_init.FixedLossScaleManager()", "npu_bridge.npu_init.ExponentialUpdateLossScaleManager()",
}  # fmt: skip
_SOURCE = "npu_bridge npu_loss_scale_manager, npu_loss_scale_optimizer; tf.train.experimental of TensorFlow 1.15"


@rule(
    id="NPU504",
    title="Loss scale",
    matches=(_FIXED, f"{_CONTRIB}.FixedLossScaleManager"),
    why="The NPU finds an overflow in its own status register; its loss scale classes read it.",
    source=_SOURCE,
    examples=(
        Example("f = tf.train.experimental.FixedLossScale(128)", "f = FixedLossScaleManager(128)"),
        Example("f = tf.train.experimental.FixedLossScale(loss_scale_value=128)", "f = FixedLossScaleManager(loss_scale=128)"),
        Example.same("class FixedLossScale(object):\n    pass\nf = FixedLossScale()", note="the user's own class"),
        Example.same("f = FixedLossScaleManager(loss_scale=128)", note="the manager already"),
    ),
)
def fixed_loss_scale(call: Call) -> None:
    """Uses the NPU's manager of a constant loss scale."""
    arg = call.arg("loss_scale_value")
    if arg is not None:
        call.rename_keyword(arg, "loss_scale")
    call.replace_callee(call.need("FixedLossScaleManager"))
    call.fixed("The loss scale is managed by the NPU's class.")


_DONE_WHEN = "The summary of `tf2npu run` tells no lost step, and the loss falls as that of the original script."


@rule(
    id="NPU505",
    title="Dynamic loss scale",
    matches=(_DYNAMIC, f"{_CONTRIB}.ExponentialUpdateLossScaleManager"),
    why="The NPU finds an overflow in its own status register; its loss scale classes read it.",
    done_when=_DONE_WHEN,
    source=_SOURCE,
    examples=(
        Example(
            "s = tf.train.experimental.DynamicLossScale()",
            "s = ExponentialUpdateLossScaleManager(init_loss_scale=2**15, incr_every_n_steps=2000)",
        ),
        Example(
            "s = tf.train.experimental.DynamicLossScale(1024, 500, multiplier=3)",
            "s = ExponentialUpdateLossScaleManager(1024, 500, incr_ratio=3)",
        ),
        Example(
            "m = tf.contrib.mixed_precision.ExponentialUpdateLossScaleManager(2**15, 1000)",
            "m = ExponentialUpdateLossScaleManager(2**15, 1000)",
        ),
        Example.same("s = tf.train.experimental.DynamicLossScale(**kw)", note="not resolved", level="manual"),
        Example.same("from mylib import DynamicLossScale\ns = DynamicLossScale()", note="not TensorFlow's"),
    ),
)
def dynamic_loss_scale(call: Call) -> None:
    """Uses the NPU's manager of a loss scale that adapts."""
    if call.has_star_args:
        return call.manual("The arguments come out of *args or **kwargs; write ExponentialUpdateLossScaleManager by hand.")
    if call.name == _DYNAMIC:
        for name, new, position, default in (
            ("initial_loss_scale", "init_loss_scale", 0, "2**15"),
            ("increment_period", "incr_every_n_steps", 1, "2000"),
            ("multiplier", "incr_ratio", 2, ""),
        ):
            _translate(call, name, new, position, default)
        call.info("On an overflow it waits for two bad steps and then takes 0.8 of the scale; decr_every_n_nan_or_inf=1 and "
                  "decr_ratio=0.5 do what DynamicLossScale did.")  # fmt: skip
    call.replace_callee(call.need("ExponentialUpdateLossScaleManager"))
    return call.fixed("The loss scale is managed by the NPU's class.")


def _translate(call: Call, name: str, new: str, position: int, default: str) -> None:
    arg = call.arg(name, position)
    if arg is None:
        if default:
            call.add_keyword(f"{new}={default}")
    elif arg.keyword is not None or position == 2:
        call.rename_keyword(arg, new)


@rule(
    id="NPU506",
    title="Loss scale optimizer",
    matches=(_OPTIMIZER, f"{_CONTRIB}.LossScaleOptimizer"),
    why="It leaves out the update when the NPU reports an overflow, on all devices alike.",
    done_when=_DONE_WHEN,
    source=_SOURCE,
    examples=(
        Example(
            "o = tf.train.experimental.MixedPrecisionLossScaleOptimizer(opt, 128.)",
            "o = NPULossScaleOptimizer(opt, FixedLossScaleManager(128.))",
        ),
        Example(
            "o = tf.train.experimental.MixedPrecisionLossScaleOptimizer(opt, loss_scale='dynamic')",
            "o = NPULossScaleOptimizer(opt, loss_scale_manager="
            "ExponentialUpdateLossScaleManager(init_loss_scale=2**15, incr_every_n_steps=2000))",
        ),
        Example.same(
            "def f(opt, scale):\n    return tf.train.experimental.MixedPrecisionLossScaleOptimizer(opt, scale)",
            note="what scale is, is not known",
            level="manual",
        ),
        Example(
            "mp = tf.contrib.mixed_precision\nm = mp.FixedLossScaleManager(2)\nif n is None:\n"
            "    m = mp.ExponentialUpdateLossScaleManager(8, 9)\no = mp.LossScaleOptimizer(opt, m)",
            "mp = tf.contrib.mixed_precision\nm = FixedLossScaleManager(2)\nif n is None:\n"
            "    m = ExponentialUpdateLossScaleManager(8, 9)\no = NPULossScaleOptimizer(opt, m)",
        ),
        Example.same(
            "m = load()\nif m is None:\n    m = read()\no = tf.contrib.mixed_precision.LossScaleOptimizer(opt, m)",
            note="one of two, and neither is known",
            level="manual",
        ),
        Example.same("from mylib import LossScaleOptimizer\no = LossScaleOptimizer(opt, 2)", note="not TensorFlow's"),
    ),
)
def loss_scale_optimizer(call: Call) -> None:
    """Uses the NPU's loss scale optimizer with a manager object."""
    keyword = "loss_scale" if call.name == _OPTIMIZER else "loss_scale_manager"
    arg = call.arg(keyword, 1)
    if call.has_star_args or arg is None:
        return call.manual("Use NPULossScaleOptimizer(opt, loss_scale_manager) by hand.")
    if not _to_manager(call, arg.value):
        return call.manual("Use NPULossScaleOptimizer with a FixedLossScaleManager or an ExponentialUpdateLossScaleManager.")
    if arg.keyword is not None and keyword == "loss_scale":
        call.rename_keyword(arg, "loss_scale_manager")
    call.replace_callee(call.need("NPULossScaleOptimizer"))
    if call.script.config.distributed in ("horovod", "tf"):
        call.add_keyword("is_distributed=True")
    return call.fixed("The update is left out when the NPU reports an overflow.")


def _to_manager(call: Call, value: cst.BaseExpression) -> bool:
    """Make sure that a loss scale argument is a manager; False when it cannot be told."""
    if isinstance(value, (cst.Integer, cst.Float)):
        call.wrap_in_call(value, call.need("FixedLossScaleManager"))
        return True
    if isinstance(value, cst.SimpleString) and value.evaluated_value == "dynamic":
        manager = call.need("ExponentialUpdateLossScaleManager")
        call.replace(value, f"{manager}(init_loss_scale=2**15, incr_every_n_steps=2000)")
        return True
    bindings = call.scope.lookup(value.value) if isinstance(value, cst.Name) and call.resolve(value) is None else []
    if bindings:
        return all(b.kind == "value" and b.scope and call.script.name_of(b.node, b.scope) in _MANAGERS for b in bindings)
    return call.resolve(value) in _MANAGERS
