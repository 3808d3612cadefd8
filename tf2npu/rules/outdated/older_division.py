"""Divisions in files of TensorFlow before 1.0, which rounded toward zero."""

from __future__ import annotations

from typing import Any

import libcst as cst

from tf2npu.rules.base import Example, rule
from tf2npu.rules.facts.constant_values import bound_value
from tf2npu.rules.facts.old_libraries import is_guarded
from tf2npu.rules.outdated.older_tensorflow import OLD_NAMES
from tf2npu.scanner.script import Script
from tf2npu.scanner.sites import Call
from tf2npu.scanner.tree_walk import dotted_name

TRUNCATING = {"tensorflow.div": "truncatediv", "tensorflow.mod": "truncatemod"}
"""What each did before 1.0, by the name that 1.15 has for it."""
_FLOATS = frozenset(
    f"tensorflow.{name}" for name in ("to_float", "to_double", "random_normal", "truncated_normal", "sqrt", "exp")
)


@rule(
    id="NPU969",
    title="Name or call of an earlier TensorFlow",
    matches=tuple(TRUNCATING),
    why="Before 1.0 TensorFlow rounded quotients toward zero, as C does; since then it rounds them down, as Python does.",
    done_when="Nothing negative is divided here, or the line has the name that truncates.",
    source="release notes of TensorFlow 1.0 on division and modulus, compared with the kernels of 1.15.0",
    examples=(
        Example(
            "n = tf.mul(p, q)\ny = tf.mod(n, 3)",
            "n = tf.multiply(p, q)\ny = tf.mod(n, 3)",
            level="info",
            write="n = tf.multiply(p, q)\ny = tf.truncatemod(n, 3)",
        ),
        Example.same("y = tf.mod(b, 3)", note="nothing in the file is of before 1.0"),
        Example.same("y = tf.div(tf.to_float(n), 2.0)", note="a quotient of floats is not rounded"),
    ),
)
def rounded_division(call: Call) -> None:
    """Says what the division of negative numbers was in a file that has names of before 1.0."""
    is_written_so = dotted_name(call.node.func).rpartition(".")[2] in ("div", "mod")  # tf.floormod is the same as tf.mod
    if not (is_written_so and _has_old_names(call.script)) or is_guarded(call):
        return
    if call.name == "tensorflow.div" and any(_is_float(call, call.value(name, at)) for at, name in enumerate("xy")):
        return
    now, then = call.name.rpartition(".")[2], TRUNCATING[call.name]
    call.info(
        f"This file has names of before TensorFlow 1.0, when tf.{now} rounded toward zero; it rounds down since then, which "
        f"differs where a number is negative: write tf.{then} there."
    )


def _has_old_names(script: Script) -> bool:
    return any(script.name_of(reference, scope) in OLD_NAMES for reference, scope in script.walked.references)


def _is_float(call: Call, node: cst.BaseExpression | None) -> bool:
    """Whether an operand is seen to be no whole number."""
    value: Any = bound_value(node, call.scope) if isinstance(node, cst.Name) else node
    if not isinstance(value, cst.Call):
        return isinstance(value, cst.Float)
    made = Call(call.script, call.fix.rule, value, call.scope, call.resolve(value.func) or "")
    kind = made.value("dtype", 1) if made.name == "tensorflow.cast" else None
    return made.name in _FLOATS or (kind is not None and (call.resolve(kind) or "").startswith("tensorflow.float"))
