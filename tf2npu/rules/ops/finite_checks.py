"""Checks of tensors for NaN and infinity."""

from __future__ import annotations

import re

import libcst as cst

from tf2npu.rules.base import Example, rule
from tf2npu.rules.facts.pipelines.input_pipeline import in_pipeline
from tf2npu.rules.facts.written_code import LOSS_SCALE
from tf2npu.scanner.sites import Call

_OF_GRADIENTS = re.compile(r"\bgrad|loss|\bg\b|\bgv?\b", re.IGNORECASE)
_NUMBERS = ("tensorflow.to_float", "tensorflow.to_int32", "tensorflow.cast", "tensorflow.math.count_nonzero")
_CHOICES = ("tensorflow.where", "tensorflow.where_v2", "tensorflow.compat.v2.where")
_CHECKS = (
    "is_finite", "is_nan", "is_inf", "verify_tensor_all_finite", "check_numerics", "add_check_numerics_ops",
    "debugging.check_numerics", "debugging.is_finite", "debugging.assert_all_finite",
)  # fmt: skip


@rule(
    id="NPU936",
    title="Looking for NaN and infinity",
    matches=tuple(f"tensorflow.{name}" for name in _CHECKS),
    why="NPUs in saturation mode give the largest number in the place of infinity or NaN: such a test never fires there.",
    done_when="No line tests a gradient or the loss for NaN, and the optimizer is an NPULossScaleOptimizer.",
    source="TensorFlow adapter porting guide: overflow is detected by NPULossScaleOptimizer",
    examples=(
        Example.same(
            "ok = tf.reduce_all(tf.is_finite(grad))",
            level="manual",
            write="opt = NPULossScaleOptimizer(opt, ExponentialUpdateLossScaleManager(2**15, 2000))",
        ),
        Example.same("x = tf.where(tf.is_nan(x), z, x)", level="info"),
        Example.same("loss = tf.where(tf.is_nan(loss), tf.zeros_like(loss), loss)", note="replaced, as it was", level="info"),
        Example.same(
            "loss = tf.compat.v2.where(condition=tf.math.is_nan(loss), x=0.0, y=loss)", note="replaced, by keywords", level="info"
        ),
        Example.same("n_nan = tf.reduce_sum(tf.to_float(tf.is_nan(loss)))", note="of no gradient", level="info"),
        Example.same("import numpy as np\nimport tensorflow as tf\nok = np.isnan(v)", note="on the host"),
        Example.same("d = d.map(lambda x: tf.where(tf.is_nan(x), 0.0, x))\n", note="in the pipeline, on the host"),
    ),
)
def finite_check(call: Call) -> None:
    """Reports tests for NaN and infinity, in gradients above all."""
    if in_pipeline(call):
        return
    first = call.args[0].value if call.args else None
    if first is not None and _OF_GRADIENTS.search(call.source(first)) and not _is_counted_or_replaced(call):
        call.manual(
            "Remove this test and wrap the optimizer: NPULossScaleOptimizer(opt, ExponentialUpdateLossScaleManager("
            "init_loss_scale=2**15, incr_every_n_steps=2000)) skips steps that overflow.",
            _loss_scale_code(),
        )
    else:
        call.info(
            "The test runs as it is, but misses overflows on an NPU in saturation mode, where they give the largest number, not "
            "infinity or NaN. For gradients use NPULossScaleOptimizer."
        )


def _loss_scale_code() -> str:
    return f"opt = {LOSS_SCALE.format('opt')}  # opt: the optimizer of this loss"


def _is_counted_or_replaced(call: Call) -> bool:
    """Whether a test for NaN chooses between values or is made a number: no step is left out for it.

    A device in saturation mode makes no infinity, and so no NaN that was none before.
    """
    if not call.name.endswith(".is_nan"):
        return False
    argument = call.script.walked.parents.get(id(call.node))
    outer = call.script.walked.parents.get(id(argument)) if isinstance(argument, cst.Arg) else None
    if not isinstance(outer, cst.Call) or not isinstance(argument, cst.Arg):
        return False
    if outer.args[0] is not argument and (argument.keyword is None or argument.keyword.value != "condition"):
        return False
    name = call.resolve(outer.func)
    return name in _NUMBERS or (name in _CHOICES and len(outer.args) > 1)
