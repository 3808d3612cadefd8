"""Placeholders whose sizes are open."""

from __future__ import annotations

import re
from typing import Any

import libcst as cst

from tf2npu.rules.base import Example, rule
from tf2npu.scanner.script import Script
from tf2npu.scanner.script_facts import fact
from tf2npu.scanner.sites import Call

_SCALARS = re.compile(
    r"(?:^|_)(?:keep_?prob|dropout|drop_?(?:rate|out)|learning_?rate|lr|is_?train\w*|training|train_?(?:flag|mode|phase)|phase\w*"
    r"|global_step|epoch|momentum|temperature)\w{0,3}$", re.IGNORECASE,
)  # fmt: skip


@rule(
    id="NPU922",
    title="Placeholder of unknown size",
    matches=("tensorflow.placeholder",),
    why="The graph is compiled again for each new shape that is fed, which takes from seconds to minutes.",
    source="TensorFlow adapter porting guide: static shapes",
    examples=(
        Example.same(
            "x = tf.placeholder(tf.float32, [None, 784])", level="info", write="x = tf.placeholder(tf.float32, [64, 784])"
        ),
        Example.same("x = tf.placeholder(tf.float32, [64, 784])", note="all sizes are known"),
        Example.same("lr = tf.placeholder(tf.float32, [])", note="a scalar"),
        Example.same("p = tf.placeholder(tf.float32)\nsess.run(y, feed_dict={x: 3, p: 0.5})", note="fed with a number"),
    ),
)
def unknown_size(call: Call) -> None:
    """Reports placeholders with None in their shape, or without a shape."""
    shape: Any = call.value("shape", 1)
    if call.has_star_args:
        return
    if shape is None or call.resolve(shape) == "None":
        if _is_scalar(call):
            return
        call.info(
            "The placeholder has no shape. An NPU compiles the graph again for each new shape, slowly. Write the shape, and "
            "feed arrays of that shape only."
        )
    elif _is_open(call, shape):
        call.info(
            "The shape has an open size (None). An NPU compiles the graph again for each new size, slowly. Feed batches of one "
            "size: drop or pad the last one."
        )


def _is_open(call: Call, shape: Any) -> bool:
    """Whether a shape that is written out has None in it."""
    if isinstance(shape, cst.BinaryOperation):
        return "None" in call.source(shape)
    sizes = [e.value for e in shape.elements] if isinstance(shape, (cst.List, cst.Tuple)) else []
    return any(isinstance(size, cst.Name) and size.value == "None" for size in sizes)


def _is_scalar(call: Call) -> bool:
    """Whether a placeholder without a shape is fed with numbers: it is a flag, is called like one, or a number is fed here."""
    dtype = call.value("dtype", 0)
    if dtype is not None and call.resolve(dtype) == "tensorflow.bool":
        return True
    name = _target(call)
    return bool(_SCALARS.search(name.rpartition(".")[2])) or name in _fed_with_numbers(call.script)


def _target(call: Call) -> str:
    """The name or attribute that a placeholder is assigned to, as written."""
    parent: Any = call.script.walked.parents.get(id(call.node))
    target = parent.targets[0].target if isinstance(parent, cst.Assign) and len(parent.targets) == 1 else None
    return call.source(target) if isinstance(target, (cst.Name, cst.Attribute)) else ""


@fact
def _fed_with_numbers(script: Script) -> set[str]:
    """Names that are keys of dicts beside a number, as in feed_dict={keep_prob: 0.5}."""
    parents = [(node, script.walked.parents.get(id(node))) for node, _ in script.walked.references]
    keys = [n for n, e in parents if isinstance(e, cst.DictElement) and e.key is n and _is_number(e.value)]
    return {script.tree.source(key) for key in keys}


def _is_number(value: Any) -> bool:
    if isinstance(value, cst.UnaryOperation):
        value = value.expression
    return isinstance(value, (cst.Integer, cst.Float)) or (isinstance(value, cst.Name) and value.value in ("True", "False"))
