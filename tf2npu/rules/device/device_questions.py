"""Questions about the devices of the host."""

from __future__ import annotations

import re
from typing import Any

import libcst as cst

from tf2npu.rules.base import Example, part_of, rule
from tf2npu.scanner.sites import Call, Site
from tf2npu.scanner.text.edits import Change

_DEVICE_LISTS = (
    "tensorflow.python.client.device_lib.list_local_devices",
    "tensorflow.config.experimental.list_physical_devices",
)


@rule(
    id="NPU919",
    title="Device list helper",
    on=("call", "reference"),
    matches=_DEVICE_LISTS,
    why="Code that counts GPUs finds none on an NPU host and may take another path.",
    done_when=(
        "The script starts where there is no GPU: `tf2npu run` passes this line, and takes the branch that is meant for the NPU."
    ),
    source="tf.config of TensorFlow 1.15",
    examples=(
        Example.same(
            "n = len(tf.config.experimental.list_physical_devices('GPU'))", level="info", write="n = 0  # an NPU host has none"
        ),
        Example.same(
            "from tensorflow.python.client import device_lib\n"
            "gpus = [d.name for d in device_lib.list_local_devices() if d.device_type == 'GPU']",
            level="info",
            write="gpus = []  # an NPU host has none",
        ),
        Example.same("def list_local_devices():\n    return [1]\nn = len(list_local_devices())", note="the user's own"),
        Example.same(
            "f = tf.config.experimental.list_physical_devices", level="info", write="n_gpus = 0  # an NPU host has none"
        ),
        Example.same("def check_available_gpus():\n    return [1]\ng = check_available_gpus()", note="the user's own"),
    ),
)
def device_list(site: Site) -> None:
    """Reports a look at the devices of the host."""
    site.info("There is no GPU on an NPU host, so this list is shorter: check what the program does then.")


_GPU_QUESTIONS = tuple(
    f"tensorflow.test.{name}"
    for name in ("is_gpu_available", "is_built_with_cuda", "is_built_with_gpu_support", "gpu_device_name")
)


@part_of(
    device_list,
    matches=_GPU_QUESTIONS,
    source="tf.test of TensorFlow 1.15",
    examples=(
        Example.same("if tf.test.is_gpu_available():\n    x = f(x)", level="info"),
        Example(
            "assert tf.test.is_gpu_available()",
            "assert True",
        ),
        Example(
            "if not tf.test.is_gpu_available() and FLAGS.use_gpu:\n    raise ValueError('no GPU')",
            "if not True and FLAGS.use_gpu:\n    raise ValueError('no GPU')",
        ),
        Example.same(
            "if tf.test.is_gpu_available():\n    f(x)\nelse:\n    raise ValueError('no GPU')",
            note="does more than to ask",
            level="manual",
        ),
        Example.same("def is_gpu_available():\n    return True\nok = is_gpu_available()", note="the user's own"),
        Example.same("s = tf.test.mock.patch('x')", note="another part of tf.test"),
    ),
)
def gpu_question(call: Call) -> None:
    """Reports questions whether there is a GPU, above all where the program ends when there is none."""
    if _only_ends_without(call):
        call.fix.changes.append(Change(*call.fix.site, "True"))
        call.fixed(
            "There is no GPU on an NPU host, so the program would end here. The answer is written as True: the NPU is its device."
        )
    elif _ends_without(call):
        call.manual("There is no GPU on an NPU host, so the program ends here: take this out.")
    else:
        answer = "this is empty" if call.name.endswith("gpu_device_name") else "this is False"
        call.info(f"There is no GPU on an NPU host, so {answer}: check what the program does then.")


def _only_ends_without(call: Call) -> bool:
    """Whether the answer decides nothing but that the program ends, and nothing catches the end."""
    if call.name.endswith("gpu_device_name") or not _ends_without(call):
        return False
    ancestors = list(call.script.walked.ancestors(call.node))
    if any(isinstance(ancestor, cst.Try) for ancestor in ancestors):
        return False
    number = next(n for n, a in enumerate(ancestors) if isinstance(a, (cst.Assert, cst.If)))
    statement, between = ancestors[number], ancestors[:number]
    if isinstance(statement, cst.Assert):
        return statement.test is call.node
    if not isinstance(statement, cst.If) or statement.orelse is not None or len(statement.body.body) != 1:
        return False
    denial, *others = between or [statement]
    is_denied = isinstance(denial, cst.UnaryOperation) and isinstance(denial.operator, cst.Not)
    is_needed = all(isinstance(one, cst.BooleanOperation) and isinstance(one.operator, cst.And) for one in others)
    return is_denied and is_needed and _is_end(call, statement.body.body[0])


def _is_end(call: Call, line: cst.CSTNode) -> bool:
    return re.fullmatch(r"(?:raise\b.*|(?:sys\.|os\._)?exit\(.*\))\s*", call.source(line), re.DOTALL) is not None


_DENIED = re.compile(r"not\b|.*(?:==\s*(?:''|\"\"|False)|is\s+False)\s*$|.*!=\s*['\"]/")


def _ends_without(call: Call) -> bool:
    """Whether an assert, or an if that raises or exits, hangs on the answer."""
    below: cst.CSTNode = call.node
    for ancestor in call.script.walked.ancestors(call.node):
        if isinstance(ancestor, cst.Assert):
            return True
        if isinstance(ancestor, cst.If):
            block: Any = ancestor.body if _DENIED.match(call.source(ancestor.test)) else ancestor.orelse
            is_asked = below is ancestor.test and not isinstance(block, (cst.If, type(None)))
            return is_asked and re.search(r"\braise\b|\bexit\(", call.source(block)) is not None
        if isinstance(ancestor, cst.BaseStatement):
            return False
        below = ancestor
    return False
