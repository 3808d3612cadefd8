"""Dimensions that are asked for None, which they are in TensorFlow 2 and never in 1.15."""

from __future__ import annotations

import re
from typing import Any

import libcst as cst

from tf2npu.rules.base import Example, rule
from tf2npu.scanner.script import Script
from tf2npu.scanner.sites import Site

_ABOUT_NONE = r"(?:\b{0}\s+is\s+(?:not\s+)?None\b|\bisinstance\(\s*{0}\s*,)"


@rule(
    id="NPU972",
    title="Dimensions as numbers",
    on="module",
    why="In TensorFlow 2 a dimension is a number or None; in 1.15 it is an object, which is never None, nor an int.",
    source="tf.TensorShape and tf.enable_v2_tensorshape of TensorFlow 1.15",
    examples=(
        Example(
            "sizes = [-1 if d is None else d for d in x.get_shape()]",
            "sizes = [-1 if d is None else d for d in x.get_shape().as_list()]",
        ),
        Example(
            "for d in x.get_shape():\n    if d is not None:\n        n = n * d",
            "for d in x.get_shape().as_list():\n    if d is not None:\n        n = n * d",
        ),
        Example("known = x.get_shape()[0] is not None", "known = x.get_shape().as_list()[0] is not None"),
        Example.same("sizes = [d.value for d in x.get_shape()]", note="as 1.15 has it"),
        Example.same("sizes = [d for d in x.get_shape().as_list() if d is not None]", note="numbers in both"),
        Example.same("n = x.get_shape()[0] * 2", note="computes with both"),
    ),
)
def dimension_value(site: Site) -> None:
    """Takes dimensions that are asked for None as numbers."""
    script = site.script
    if not script.uses_tensorflow or "get_shape()" not in script.text:
        return
    for call, _ in script.walked.calls:
        func = call.func
        if not isinstance(func, cst.Attribute) or func.attr.value != "get_shape" or call.args:
            continue
        if _is_asked_for_none(script, call) and not script.is_switched_off(site.fix.rule, call):
            site.fix.site = script.tree.span(call)
            site.insert(site.fix.site[1], ".as_list()")
            site.fixed("A dimension of 1.15 is an object that is never None: as_list() gives numbers, in TensorFlow 2 as well.")


def _is_asked_for_none(script: Script, call: cst.Call) -> bool:
    """Whether a shape's dimensions, one after the other or one of them, are compared with None, or asked for their type."""
    parent: Any = script.walked.parents.get(id(call))
    if isinstance(parent, cst.Subscript):
        around: Any = script.walked.parents.get(id(parent))
        return isinstance(around, cst.Comparison) and _tests(re.escape(script.tree.source(parent)), script.tree.source(around))
    if not isinstance(parent, (cst.For, cst.CompFor)) or parent.iter is not call or not isinstance(parent.target, cst.Name):
        return False
    name = parent.target.value
    text = script.tree.source(parent if isinstance(parent, cst.For) else script.walked.parents[id(parent)])
    return _tests(name, text) and re.search(rf"\b{name}\.value\b|Dimension\b", text) is None


def _tests(name: str, text: str) -> bool:
    pattern = _ABOUT_NONE.format(name) if name.isidentifier() else rf"{name}\s+is\s+(?:not\s+)?None\b"
    return re.search(pattern, text) is not None
