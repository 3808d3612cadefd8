"""Batches cut by hand, of which the last is smaller."""

from __future__ import annotations

import re
from typing import Any

import libcst as cst

from tf2npu.rules.base import Example, rule
from tf2npu.scanner.sites import Call

_FEEDS = ("feed_dict", ".fit(", ".train_on_batch(", ".run(")


@rule(
    id="NPU933",
    title="Last batch cut by hand",
    matches=("builtins.range",),
    why="A last slice that is smaller has another shape: the graph is compiled again for it.",
    source="TensorFlow adapter porting guide: static shapes, pad or drop the last batch",
    examples=(
        Example.same(
            "s = tf.Session(config=npu_config_proto())\nfor i in range(0, n, b):\n"
            "    s.run(o, feed_dict={x: data[i:i + b]})\ns.close()",
            level="info",
            write="s = tf.Session(config=npu_config_proto())\nfor i in range(0, n - b + 1, b):\n"
            "    s.run(o, feed_dict={x: data[i:i + b]})\ns.close()",
        ),
        Example.same(
            "s = tf.Session(config=npu_config_proto())\nfor i in range(0, n - b + 1, b):\n"
            "    s.run(o, feed_dict={x: data[i:i + b]})\ns.close()",
            note="only whole batches",
        ),
        Example.same("for i in range(0, n, b):\n    print(data[i:i + b])", note="nothing is fed"),
    ),
)
def tail_batch(call: Call) -> None:
    """Reports loops that feed slices of which the last may be smaller."""
    if len(call.args) != 3 or not call.script.uses_tensorflow:
        return
    loop: Any = call.script.walked.parents.get(id(call.node))
    if not isinstance(loop, cst.For) or loop.iter is not call.node or not isinstance(loop.target, cst.Name):
        return
    stop, step = call.source(call.args[1].value), call.source(call.args[2].value)
    if re.search(r"[-/%]", stop):
        return  # the stop is computed: made a whole number of batches
    body = call.source(loop.body)
    index = re.escape(loop.target.value)
    is_sliced = re.search(rf"\[\s*{index}\s*:\s*(?:{index}\s*\+|min\()\s*", body)
    if is_sliced and any(feed in body for feed in _FEEDS):
        call.info(
            f"The last slice may be smaller than {step}. Write range(0, {stop} - {step} + 1, {step}), or pad the last slice and "
            "cut the result."
        )
