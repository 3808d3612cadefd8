"""The line of the user's code that is being carried out."""

from __future__ import annotations

import sys

from npu_runtime.library_frames import is_library


def _is_users(filename: str) -> bool:
    inner = filename.startswith("<") and filename not in ("<string>", "<stdin>")
    return not (inner or is_library(filename))


def users_line() -> str:
    """`file:line` of the nearest frame outside the libraries, "" when there is none."""
    frame = sys._getframe(1)
    while frame is not None:
        if _is_users(frame.f_code.co_filename):
            return f"{frame.f_code.co_filename}:{frame.f_lineno}"
        frame = frame.f_back
    return ""
