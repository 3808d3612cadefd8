"""Processes that are forked beside the device."""

from __future__ import annotations

from tf2npu.rules.base import Example, rule
from tf2npu.rules.constants import text_of
from tf2npu.scanner.sites import Call


@rule(
    id="NPU952",
    title="Forked processes",
    matches=("os.fork", "multiprocessing.set_start_method", "multiprocessing.get_context"),
    why="A process that is forked while a device is open holds half of its state, and hangs or dies.",
    source="TensorFlow adapter porting guide: start method forkserver for data processes",
    examples=(
        Example.same(
            "import multiprocessing\nimport tensorflow as tf\nmultiprocessing.set_start_method('fork')",
            level="manual",
            write="import multiprocessing\nimport tensorflow as tf\nmultiprocessing.set_start_method('forkserver')",
        ),
        Example.same(
            "import multiprocessing\nimport tensorflow as tf\nmultiprocessing.set_start_method('spawn')", note="a new process"
        ),
        Example.same(
            "import multiprocessing\nimport tensorflow as tf\np = multiprocessing.Pool(2)", note="can be made before the session"
        ),
    ),
)
def forked_process(call: Call) -> None:
    """Reports processes that are forked."""
    method = text_of(call.args[0].value, call.scope) if call.args else None
    if call.script.uses_tensorflow and (call.name == "os.fork" or method == "fork"):
        call.manual("Write multiprocessing.set_start_method('forkserver'), or start the processes before the first session.")
