"""The log of a defect of ours: a file with the details, one line for the user."""

from __future__ import annotations

import os
import platform
import sys
import tempfile
import traceback
from pathlib import Path

import tf2npu
from npu_formats.escape import visible
from npu_formats.files.state_folder import new_log


def one_line(error: BaseException) -> str:
    """Write the traceback to a log file and return the line that names it."""
    details = "".join(traceback.format_exception(error))
    summary = " ".join(f"{type(error).__name__}: {error}".split())[:200]
    return visible(f"tf2npu: internal error: {summary}; details in {store(details)}")


def store(details: str) -> Path:
    """Write details to a new log file: in the user's state folder, else in the system's temporary one."""
    text = f"tf2npu {tf2npu.__version__}, Python {platform.python_version()}, {platform.platform()}\n{sys.argv}\n{details}"
    data = text.encode("utf-8", "backslashreplace")
    for folder in (None, Path(tempfile.gettempdir())):
        try:
            return new_log("tf2npu-error-", data, folder)
        except OSError:
            continue  # the next folder may take it
    return Path(os.devnull)
