"""The line of the user's code that made an operation."""

from __future__ import annotations

from typing import Any

from npu_formats.user_frames import is_library

_GRADIENTS = "tensorflow/python/ops/gradients_util.py"
"""The end of the name of the file in which TensorFlow walks from operation to operation, making their gradients."""


def users_line(operation: Any) -> str:
    """ "file:line" of the innermost frame of the user's that made a tf.Operation, "" where there is none.

    Source: a gradient's operation knows the one that it is the gradient of (`_original_op`).
    """
    while (original := getattr(operation, "_original_op", None)) is not None:
        own = _innermost(operation, is_gradient=True)
        if own:
            return own
        operation = original
    return _innermost(operation)


def _innermost(operation: Any, *, is_gradient: bool = False) -> str:
    """is_gradient: the script asks for all gradients in one line, so only frames inside of TensorFlow's walk tell something:
    those of a gradient that the script defines.
    """
    for frame in reversed(list(operation.traceback or ())):
        if is_gradient and frame.filename.endswith(_GRADIENTS):
            return ""
        if not (frame.filename.startswith("<") or is_library(frame.filename)):
            return f"{frame.filename}:{frame.lineno}"
    return ""
