"""Variables and iterators initialised by one run."""

from __future__ import annotations

from typing import Any

import libcst as cst

from tf2npu.rules.base import Example, rule
from tf2npu.rules.facts.constant_values import bound_value
from tf2npu.scanner.sites import Call

_VARIABLES = ("global_variables_initializer", "initialize_all_variables", "variables_initializer", "local_variables_initializer")


@rule(
    id="NPU926",
    title="Variables and iterator in one run",
    on=("unknown_method", "call"),
    matches={"unknown_method": ("run",), "call": ("tensorflow.Session().run", "tensorflow.InteractiveSession().run")},
    why="Variables live on the device and iterators on the host; one run that initialises both may do it in either order.",
    done_when="`tf2npu run` passes both initializers, and no call of sess.run gets both of them.",
    source="TensorFlow adapter porting guide: separate sess.run calls for variables and iterator.initializer",
    examples=(
        Example.same(
            "with tf.Session(config=npu_config_proto()) as s:\n    s.run([tf.global_variables_initializer(), it.initializer])",
            level="manual",
            write="with tf.Session(config=npu_config_proto()) as s:\n    s.run(tf.global_variables_initializer())\n"
            "    s.run(it.initializer)",
        ),
        Example.same(
            "with tf.Session(config=npu_config_proto()) as s:\n"
            "    s.run(tf.global_variables_initializer())\n    s.run(it.initializer)",
            note="two runs",
        ),
        Example.same(
            "with tf.Session(config=npu_config_proto()) as s:\n"
            "    s.run([tf.global_variables_initializer(), tf.local_variables_initializer()])",
            note="no iterator",
        ),
    ),
)
def mixed_run(call: Call) -> None:
    """Reports a run that initialises variables and an iterator."""
    fetches: Any = call.value("fetches", 0)
    fetches = bound_value(fetches, call.scope) or fetches
    if not isinstance(fetches, (cst.List, cst.Tuple)):
        return
    texts = [_meaning(call, element.value) for element in fetches.elements]
    if any(v in text for text in texts for v in _VARIABLES) and any(_is_iterator(text) for text in texts):
        call.manual("Make this two runs: sess.run(tf.global_variables_initializer()), then sess.run(iterator.initializer).")


def _meaning(call: Call, node: Any) -> str:
    value = bound_value(node, call.scope)
    return call.source(value if value is not None else node)


def _is_iterator(text: str) -> bool:
    return text.endswith(".initializer") or ".make_initializer(" in text
