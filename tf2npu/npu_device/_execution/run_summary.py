"""The run log of a process that opened the device, on stderr at its end, and as a document for a report."""

from __future__ import annotations

import os
import sys
from typing import Any

from npu_device._execution import eager_operations

from npu_formats.environment import TF2NPU_LOG
from npu_runtime.session.function_session import FunctionSession
from npu_runtime.session.session_state import run_log


def print_log(session: FunctionSession) -> None:
    """Print the log, whole when TF2NPU_LOG is "full"."""
    log = run_log()
    lines = log.digest() + (log.summary() if os.environ.get(TF2NPU_LOG) in ("full", "debug") else [])
    lines += [f"  {line}" for line in session.log.lines(session.residency.copies, eager_operations.counts)]
    if not lines:
        lines = ["no function ran on the device: only what tf.function decorates does; eager operations run on the CPU"]
    if sys.stderr is not None:
        print("\n".join(f"npu_runtime: {line}" for line in lines), file=sys.stderr)


def document(session: FunctionSession) -> dict[str, Any]:
    """The run log and what is told of functions, as data."""
    return {**run_log().document(), **session.log.document(session.residency.copies, eager_operations.counts)}
