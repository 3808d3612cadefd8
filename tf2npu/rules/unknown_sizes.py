"""Placeholders whose sizes are open."""

from __future__ import annotations

from typing import Any

import libcst as cst

from tf2npu.rules.base import Example, rule
from tf2npu.scanner.sites import Call


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
    ),
)
def unknown_size(call: Call) -> None:
    """Reports placeholders with None in their shape, or without a shape."""
    shape: Any = call.value("shape", 1)
    if call.has_star_args:
        return
    if shape is None or call.resolve(shape) == "None":
        call.info("No shape is given: each new shape that is fed is compiled anew. Write the shape, and feed that shape only.")
    elif isinstance(shape, cst.BinaryOperation) and "None" in call.source(shape):
        call.info("Some sizes are open: each new size is compiled anew. Feed batches of one size, or write the size.")
    elif isinstance(shape, (cst.List, cst.Tuple)):
        is_open = [isinstance(e.value, cst.Name) and e.value.value == "None" for e in shape.elements]
        if any(is_open):
            call.info(
                f"{sum(is_open)} of {len(is_open)} sizes are open: each new size is compiled anew. Feed batches of one size, "
                "dropping or padding the last one, or write the size."
            )
