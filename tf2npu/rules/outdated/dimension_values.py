"""Dimensions that are asked for None, which they are in TensorFlow 2 and never in 1.15."""

from __future__ import annotations

import re
from typing import Any

import libcst as cst

from tf2npu.frameworks.tensorflow1.scripts import uses_tensorflow
from tf2npu.rules.base import Example, rule
from tf2npu.scanner.script import Script
from tf2npu.scanner.sites import Site

_ABOUT_NONE = r"(?:\b{0}\s+is\s+(?:not\s+)?None\b|\bisinstance\(\s*{0}\s*,)"
_OF_TENSORFLOW_2 = re.compile(r"\bcompat\.v1\.(?!disable_|enable_)\w")
"""Names as scripts write them whose dimensions are those of TensorFlow 2; the modes that bring 1.15's back are none."""


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
        Example(
            "x = tf.compat.v1.placeholder(tf.float32, [2, 3])\nn = max(d for d in x.get_shape()[1:])",
            "x = tf.compat.v1.placeholder(tf.float32, [2, 3])\nn = max(d for d in x.get_shape().as_list()[1:])",
        ),
        Example(
            "x = tf.compat.v1.placeholder(tf.float32, [2, 3])\nb, n = map(lambda d: d, x.get_shape())",
            "x = tf.compat.v1.placeholder(tf.float32, [2, 3])\nb, n = map(lambda d: d, x.get_shape().as_list())",
        ),
        Example.same(
            "x = tf.compat.v1.placeholder(tf.float32, [2, 3])\nn = max(d.value for d in x.get_shape()[1:])", note="as 1.15 has it"
        ),
        Example.same("sizes = [d for d in x.get_shape()[1:]]", note="may mean the dimensions of 1.15: no name of TensorFlow 2"),
        Example.same("sizes = [d.value for d in x.get_shape()]", note="as 1.15 has it"),
        Example.same("sizes = [d for d in x.get_shape().as_list() if d is not None]", note="numbers in both"),
        Example.same("n = x.get_shape()[0] * 2", note="computes with both"),
    ),
)
def dimension_value(site: Site) -> None:
    """Takes dimensions that are asked for None as numbers."""
    script = site.script
    if not uses_tensorflow(script) or "get_shape()" not in script.text:
        return
    has_names_of_2 = "compat" in script.tree.tokens and _OF_TENSORFLOW_2.search(script.text) is not None
    for call, _ in script.walked.calls:
        func = call.func
        if not isinstance(func, cst.Attribute) or func.attr.value != "get_shape" or call.args:
            continue
        is_number = _is_asked_for_none(script, call) or (has_names_of_2 and _is_taken_for_numbers(script, call))
        if is_number and not script.is_switched_off(site.fix.rule, call):
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
    return _tests(name, text) and not _is_object(name, text)


def _is_taken_for_numbers(script: Script, call: cst.Call) -> bool:
    """Whether a script takes a shape's dimensions, or a slice of them, one after the other."""
    parents = script.walked.parents
    shape: Any = call
    around: Any = parents.get(id(call))
    if isinstance(around, cst.Subscript) and len(around.slice) == 1 and isinstance(around.slice[0].slice, cst.Slice):
        shape, around = around, parents.get(id(around))
    if isinstance(around, (cst.For, cst.CompFor)):
        text = script.tree.source(around if isinstance(around, cst.For) else parents[id(around)])
        return around.iter is shape and isinstance(around.target, cst.Name) and not _is_object(around.target.value, text)
    mapping: Any = parents.get(id(around)) if isinstance(around, cst.Arg) else around
    is_map = isinstance(mapping, cst.Call) and isinstance(mapping.func, cst.Name) and mapping.func.value == "map"
    return is_map and not _is_object(r"\w+", script.tree.source(mapping))


def _is_object(name: str, text: str) -> bool:
    return re.search(rf"\b{name}\.value\b|Dimension\b", text) is not None


def _tests(name: str, text: str) -> bool:
    pattern = _ABOUT_NONE.format(name) if name.isidentifier() else rf"{name}\s+is\s+(?:not\s+)?None\b"
    return re.search(pattern, text) is not None
