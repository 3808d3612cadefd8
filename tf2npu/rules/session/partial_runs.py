"""Runs in pieces."""

from __future__ import annotations

from tf2npu.rules.base import Example, rule
from tf2npu.scanner.sites import Call

_SESSIONS = ("tensorflow.Session()", "tensorflow.InteractiveSession()")


@rule(
    id="NPU941",
    title="Partial run",
    matches=tuple(f"{s}.{m}" for s in _SESSIONS for m in ("partial_run", "partial_run_setup")),
    why="The NPU runs a compiled graph as a whole; it cannot stop in the middle and wait for more.",
    done_when="`tf2npu run` gets the numbers from the two calls that the original got from its partial run.",
    source="tf.Session.partial_run of TensorFlow 1.15",
    examples=(
        Example.same(
            "with tf.Session(config=npu_config_proto()) as s:\n    h = s.partial_run_setup([a, b], [x])",
            level="unsupported",
            write="with tf.Session(config=npu_config_proto()) as s:\n    middle = s.run(a, {x: 1})\n    s.run(b, {y: middle})",
        ),
        Example.same("h = task.partial_run(a)", note="another object's method"),
        Example.same("with tf.Session(config=npu_config_proto()) as s:\n    s.run([a, b])", note="one whole run"),
    ),
)
def partial_run(call: Call) -> None:
    """Reports Session.partial_run."""
    call.unsupported("Write two calls of sess.run, and feed the first one's result to the second.")
