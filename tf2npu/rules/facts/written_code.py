"""Code that a person writes at or beside a place, made of the names and arguments that stand there."""

from __future__ import annotations

import libcst as cst

from tf2npu.frameworks.tensorflow1.scripts import tensorflow_name
from tf2npu.scanner.sites import Call, Site

LOSS_SCALE = "NPULossScaleOptimizer({}, ExponentialUpdateLossScaleManager(init_loss_scale=2**15, incr_every_n_steps=2000))"
"""An optimizer that leaves out steps with an overflow; the numbers are those of the vendor's guide."""
FIXED_LOSS_SCALE = "NPULossScaleOptimizer({}, FixedLossScaleManager(loss_scale={}))"
_MIXED_COMPUTING = """\
config = {tf}.ConfigProto()
npu_optimizer = config.graph_options.rewrite_options.custom_optimizers.add()
npu_optimizer.name = 'NpuOptimizer'
npu_optimizer.parameter_map['mix_compile_mode'].b = True  # of an Estimator: NPURunConfig(mix_compile_mode=True)"""


def mixed_computing(site: Site) -> str:
    """A session config that leaves ops which the NPU does not have to the host."""
    return _MIXED_COMPUTING.format(tf=tensorflow_name(site.script)) if tensorflow_name(site.script) else ""


def given(call: Call, keyword: str, position: int | None = None) -> str:
    """Source text of an argument, in parentheses where it has several lines; "" where it is not given or not seen."""
    value = call.value(keyword, position) if not call.has_star_args else None
    if value is None:
        return ""
    text = call.source(value)
    return f"({text})" if "\n" in text or "\r" in text else text


def can_be_repeated(node: cst.BaseExpression | None) -> bool:
    """Whether an expression may stand twice in code: it makes nothing, and gives the same each time."""
    if isinstance(node, cst.Attribute):
        return can_be_repeated(node.value)
    if isinstance(node, cst.Subscript):
        is_fixed = all(isinstance(e.slice, cst.Index) and isinstance(e.slice.value, (cst.Integer, cst.Name)) for e in node.slice)
        return is_fixed and can_be_repeated(node.value)
    return isinstance(node, cst.Name)


def called(call: Call, function: str) -> str:
    """The call with another function and the same arguments."""
    text = call.source(call.node)
    return function + text.removeprefix(call.source(call.node.func)) if text.startswith(call.source(call.node.func)) else ""
