"""Text that is executed as code."""

from __future__ import annotations

import re
from typing import Any

import libcst as cst

from tf2npu.frameworks.tensorflow1.scripts import uses_tensorflow
from tf2npu.rules.base import Example, rule
from tf2npu.scanner.sites import Call


@rule(
    id="NPU917",
    title="Executed text",
    matches=("builtins.exec", "builtins.eval"),
    why="TensorFlow code inside a text is not converted.",
    source="docs/adding_a_rule.md",
    examples=(
        Example.same("s = 'tf.Session()'\nexec(s)", level="info", write="s = tf.Session(config=npu_config_proto())"),
        Example.same("exec(open('model.py').read())", level="info"),
        Example.same("exec('print(1)')", note="no TensorFlow in it"),
    ),
)
def executed_text(call: Call) -> None:
    """Reports exec and eval of text that uses TensorFlow."""
    node: Any = call.args[0].value if call.args else None
    if isinstance(node, cst.Name):
        bindings = call.scope.lookup(node.value)
        node = bindings[0].node if len(bindings) == 1 and bindings[0].kind == "value" else None
    if isinstance(node, (cst.SimpleString, cst.ConcatenatedString)) and "tf." in call.source(node):
        call.info("The text that is executed here uses TensorFlow; it is not converted.")
    elif (
        call.name == "builtins.exec"
        and isinstance(node, cst.Call)
        and uses_tensorflow(call.script)
        and re.search(r"\.read\w*\(|\bopen\(", call.source(node))
    ):
        call.info("The file that is executed here is not seen: convert it too, and see that it is the converted one that runs.")
