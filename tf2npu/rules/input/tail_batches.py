"""Batches cut by hand, of which the last is smaller."""

from __future__ import annotations

import re
from typing import Any

import libcst as cst

from tf2npu.frameworks.tensorflow1.scripts import uses_tensorflow
from tf2npu.rules.base import Example, rule
from tf2npu.scanner.sites import Call

_FEEDS = ("feed_dict", ".fit(", ".train_on_batch(", ".run(")
_COLLECTS = re.compile(r"\.(?:append|extend)\(|\byield\b|\w\[[^\]]+\]\s*=[^=]|\+=\s*(?:list|\[)")
"""Signs that a loop keeps the result of each run: it is a prediction, whose rows are all wanted."""
_TRAINS = re.compile(r"train|optim|minimize|\bfit\b")
_PADS = re.compile(r"\b(?:pad|repeat|tile|concatenate)\(")
_ROUNDED_UP = re.compile(r"ceil|\+\s*1\)?$")


@rule(
    id="NPU933",
    title="Last batch cut by hand",
    matches=("builtins.range",),
    why="A last slice that is smaller has another shape: the graph is compiled again for it.",
    source="TensorFlow adapter porting guide: static shapes, pad or drop the last batch (listing 5-47)",
    examples=(
        Example.same(
            "s = tf.Session(config=npu_config_proto())\nfor i in range(0, n, b):\n"
            "    s.run(o, feed_dict={x: data[i:i + b]})\ns.close()",
            level="info",
            write="s = tf.Session(config=npu_config_proto())\nfor i in range(0, n - b + 1, b):\n"
            "    s.run(o, feed_dict={x: data[i:i + b]})\ns.close()",
        ),
        Example.same(
            "s = tf.Session(config=npu_config_proto())\nfor i in range(0, n, b):\n"
            "    found.append(s.run(o, feed_dict={x: data[i:i + b]}))\ns.close()",
            note="a prediction, of which no row may be dropped",
            level="info",
            write="s = tf.Session(config=npu_config_proto())\nfor i in range(0, n, b):\n"
            "    part = data[i:i + b]\n    rows = len(part)\n"
            "    part = np.concatenate([part, np.repeat(part[-1:], b - rows, axis=0)])\n"
            "    found.append(s.run(o, feed_dict={x: part})[:rows])\ns.close()",
        ),
        Example.same(
            "s = tf.Session(config=npu_config_proto())\nfor i in range(0, n - b + 1, b):\n"
            "    s.run(o, feed_dict={x: data[i:i + b]})\ns.close()",
            note="only whole batches",
        ),
        Example.same("for i in range(0, n, b):\n    print(data[i:i + b])", note="nothing is fed"),
        Example.same("for i in range(0, n // b):\n    print(data[i * b:(i + 1) * b])", note="whole batches, and nothing is fed"),
    ),
)
def tail_batch(call: Call) -> None:
    """Reports loops that feed slices of which the last may be smaller, and shows how to pad those of a prediction."""
    loop: Any = call.script.walked.parents.get(id(call.node))
    if not uses_tensorflow(call.script) or not isinstance(loop, cst.For) or loop.iter is not call.node:
        return
    found = _slices(call, loop) if isinstance(loop.target, cst.Name) else None
    body = call.source(loop.body)
    if found is None or _PADS.search(body) or not any(feed in body for feed in _FEEDS):
        return
    step, data, piece = found
    if data and _COLLECTS.search(body) and not _TRAINS.search(body):
        call.info(
            f"The last slice of this prediction may be smaller than {step}, and no row of it may be dropped. Pad it and cut the "
            f"result: part = {piece}; rows = len(part); part = np.concatenate([part, np.repeat(part[-1:], {step} - rows, "
            f"axis=0)]); feed part in the place of {piece}, and keep [:rows] of what the run gives."
        )
    elif len(call.args) == 3:
        stop = call.source(call.args[1].value)
        call.info(
            f"The last slice may be smaller than {step}. Write range(0, {stop} - {step} + 1, {step}), or pad the last slice and "
            "cut the result."
        )


def _slices(call: Call, loop: cst.For) -> tuple[str, str, str] | None:
    """The size of the slices, what is sliced, and the slice, of a loop whose last slice may be smaller."""
    body, index = call.source(loop.body), re.escape(loop.target.value) if isinstance(loop.target, cst.Name) else ""
    if len(call.args) == 3:
        stop, step = call.source(call.args[1].value), call.source(call.args[2].value)
        if re.search(r"[-/%]", stop):
            return None  # the stop is computed: made a whole number of batches
        found = re.search(rf"([\w.]*)\[\s*{index}\s*:\s*(?:{index}\s*\+|min\()\s*[^\]]*\]", body)
        return (step, found[1], found[0]) if found else None
    stop = call.source(call.args[-1].value) if call.args else ""
    found = re.search(rf"([\w.]+)\[\s*{index}\s*\*\s*([\w.]+)\s*:\s*\(\s*{index}\s*\+\s*1\s*\)\s*\*\s*\2\s*\]", body)
    return (found[2], found[1], found[0]) if found and _ROUNDED_UP.search(stop) and _COLLECTS.search(body) else None
