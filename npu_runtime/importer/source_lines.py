"""The line of the user's code that made an operation."""

from __future__ import annotations

from typing import Any

from npu_runtime.library_frames import is_library


def users_line(operation: Any) -> str:
    """ "file:line" of the innermost frame of the user's that made a tf.Operation, "" where there is none.

    Source: a gradient's operation knows the one that it is the gradient of (`_original_op`).
    """
    while getattr(operation, "_original_op", None) is not None:
        operation = operation._original_op
    for frame in reversed(list(operation.traceback or ())):
        if not (frame.filename.startswith("<") or is_library(frame.filename)):
            return f"{frame.filename}:{frame.lineno}"
    return ""
