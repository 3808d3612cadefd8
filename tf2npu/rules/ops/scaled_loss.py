"""A loss that is multiplied with a scale before gradients are taken, and gradients that are divided by it again."""

from __future__ import annotations

import libcst as cst

from tf2npu.frameworks.tensorflow1.scripts import uses_tensorflow
from tf2npu.rules.base import Example, part_of, rule
from tf2npu.rules.facts.loss_products import Division, divisions_of_gradients, is_by_loss_scale, scale_of
from tf2npu.rules.facts.written_code import FIXED_LOSS_SCALE, can_be_repeated
from tf2npu.scanner.script import Script
from tf2npu.scanner.script_facts import fact
from tf2npu.scanner.sites import Call, Site

_OPTIMIZERS = (
    "tensorflow.train.Optimizer", "tensorflow.train.SyncReplicasOptimizer", "tensorflow.tpu.CrossShardOptimizer",
    "tensorflow.estimator.tpu.CrossShardOptimizer", "npu_bridge.npu_init.NPUDistributedOptimizer",
    "npu_bridge.npu_init.npu_tf_optimizer", "horovod.tensorflow.DistributedOptimizer",
    *(f"tensorflow.train.{name}Optimizer" for name in ("Adadelta", "Adagrad", "AdagradDA", "Adam", "Ftrl", "GradientDescent",
      "Momentum", "ProximalAdagrad", "ProximalGradientDescent", "RMSProp")),
    *(f"tensorflow.contrib.opt.{name}Optimizer" for name in ("AdaMax", "AdamGS", "AddSign", "LARS", "LazyAdam",
      "MovingAverage", "Nadam", "PowerSign", "RegAdagrad", "Shampoo", "VariableClipping")),
    "tensorflow.contrib.opt.AdamWOptimizer", "tensorflow.contrib.opt.MomentumWOptimizer",
)  # fmt: skip
_LOSS_ARGUMENT = {
    "tensorflow.gradients": "ys",
    "tensorflow.contrib.training.create_train_op": "total_loss",
    "tensorflow.contrib.slim.learning.create_train_op": "total_loss",
}
_GRADIENTS = (
    *_LOSS_ARGUMENT, "tensorflow.contrib.layers.optimize_loss",
    *(f"{name}().{method}" for method in ("compute_gradients", "minimize") for name in _OPTIMIZERS),
)  # fmt: skip
_ADAM = "tf.train.AdamOptimizer(0.1)"


@rule(
    id="NPU510",
    title="Loss scaled by hand",
    matches=_GRADIENTS,
    why="An overflow of float16 is found by the NPU, which then leaves the step out; a scale by hand does not see it.",
    done_when="No line multiplies the loss or divides gradients by a scale, and `tf2npu check` finds the loss of the original.",
    source="TensorFlow adapter porting guide: ResNet-50, loss_scale 512; npu_loss_scale_optimizer",
    examples=(
        Example.same(
            f"g = {_ADAM}.compute_gradients(loss * loss_scale)",
            level="manual",
            write=f"opt = NPULossScaleOptimizer({_ADAM}, FixedLossScaleManager(loss_scale=512))\ng = opt.compute_gradients(loss)",
        ),
        Example.same(f"g = {_ADAM}.compute_gradients(loss * 128.)", note="a power of two from 128 on", level="manual"),
        Example.same(
            f"scaled = tf.multiply(loss, FLAGS.loss_scale)\nstep = {_ADAM}.minimize(scaled)", note="by name", level="manual"
        ),
        Example.same("g = [g / 1000. for g in tf.gradients(loss * 1000., v)]", note="divided by it again", level="manual"),
        Example.same(f"g = {_ADAM}.compute_gradients(loss)", note="no scale"),
        Example.same(f"step = {_ADAM}.minimize(loss * 0.5)", note="a weight"),
        Example.same("g = tf.gradients(loss * batch_size, v)", note="a sum out of a mean"),
        Example.same(f"loss_scale = 1. / n_towers\nstep = {_ADAM}.minimize(loss * loss_scale)", note="an average"),
    ),
)
def scaled_loss(call: Call) -> None:
    """Reports gradients of a loss that is multiplied with a scale."""
    loss = call.value(_LOSS_ARGUMENT.get(call.name, "loss"), 0)
    scale = scale_of(call, loss) if loss is not None else None
    if scale is None:
        return
    _reported(call.script).append(call.node)
    divided = [d.line for d in divisions_of_gradients(call.script) if d.factor == scale or is_by_loss_scale(d)]
    where = f" (line {', '.join(map(str, dict.fromkeys(divided)))})" if divided else ""
    if call.name == "tensorflow.gradients":
        return call.manual(
            "Scaling the loss by hand misses float16 overflows on the NPU. Remove the scaling and the division of "
            f"gradients{where}. Take the gradients by NPULossScaleOptimizer(optimizer, "
            "FixedLossScaleManager(loss_scale=512)).compute_gradients(loss) instead."
        )
    return call.manual(
        "Scaling the loss by hand misses float16 overflows on the NPU. Remove the scaling and the division of "
        f"gradients{where}, and "
        "use NPULossScaleOptimizer(optimizer, FixedLossScaleManager(loss_scale=512)); 512 is the guide's value for ResNet-50.",
        _wrapped(call),
    )


def _wrapped(call: Call) -> str:
    """The optimizer that the gradients are taken by, with a loss scale of the NPU."""
    optimizer = call.node.func.value if isinstance(call.node.func, cst.Attribute) else None
    if call.name in _LOSS_ARGUMENT or not can_be_repeated(optimizer) or not isinstance(optimizer, cst.BaseExpression):
        return ""
    written = call.source(optimizer)
    return f"{written} = {FIXED_LOSS_SCALE.format(written, 512)}"


@part_of(
    scaled_loss,
    on="unknown_method",
    matches=("compute_gradients", "minimize"),
    examples=(
        Example.same("def f(opt):\n    return opt.minimize(loss * loss_scale)", level="manual"),
        Example.same("def f(opt):\n    return opt.minimize(loss + 1e-4 * l2)", note="weight decay"),
    ),
)
def scaled_loss_of_unknown(call: Call) -> None:
    """Reports gradients of a scaled loss, taken by an optimizer that comes from elsewhere."""
    scaled_loss(call)


@part_of(
    scaled_loss,
    on="module",
    examples=(
        Example.same("def f(opt, grads, loss_scale):\n    return opt.apply_gradients([(g / loss_scale, v) for g, v in grads])",
                     level="manual"),
        Example.same("grads = [g / n_towers for g in grads]", note="an average"),
    ),
)  # fmt: skip
def divided_gradients(site: Site) -> None:
    """Reports gradients that are divided by a loss scale, where the scaling itself is in another file."""
    script = site.script
    if not uses_tensorflow(script) or _reported(script):
        return
    found: list[Division] = [d for d in divisions_of_gradients(script) if is_by_loss_scale(d)]
    if found:
        site.fix.site = script.tree.span(found[0].node)
        site.manual(
            "Gradients are divided by a loss scale here, so the loss is scaled by hand elsewhere: let "
            "NPULossScaleOptimizer(optimizer, FixedLossScaleManager(loss_scale=512)) do both, which leaves out a step with an "
            "overflow, and take both out."
        )


@fact
def _reported(script: Script) -> list[cst.Call]:
    """Calls whose loss is scaled; filled while the calls of the script are looked at."""
    return []
