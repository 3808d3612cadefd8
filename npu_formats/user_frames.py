"""Frames of the user's code, apart from those of libraries, which say nothing about whose wish it was."""

from __future__ import annotations

import os
import sys
from functools import cache
from importlib.util import find_spec
from types import FrameType

from npu_formats.converted_copy import users_line

_LIBRARIES = (
    "npu_bridge", "npu_device", "hccl", "npu_runtime", "npu_formats", "tf2npu",
    "tensorflow", "tensorflow_estimator", "keras", "tf_keras", "tf_slim", "torch", "torch_npu", "torchvision", "torchaudio",
)  # fmt: skip


@cache
def _folders() -> tuple[str, ...]:
    specs = [find_spec(name) for name in _LIBRARIES]
    places = [place for spec in specs if spec for place in spec.submodule_search_locations or ()]
    return tuple(place.rstrip(os.sep) + os.sep for place in places)


@cache
def is_library(file: str) -> bool:
    """Whether a file belongs to Python, to a framework or to us, by the name that its code has."""
    is_pythons = file.startswith(os.path.dirname(os.__file__)) and "site-packages" not in file
    return is_pythons or file.startswith(_folders())


def calling_line() -> str:
    """`file:line` of the nearest frame outside the libraries that is being carried out, "" when there is none.

    Of a script that was converted for this run it is the line of the user's own file.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if _is_users(frame.f_code.co_filename):
            return users_line(frame.f_code.co_filename, frame.f_lineno)
        frame = frame.f_back
    return ""


def calling_frames(most: int = 64) -> str:
    """The frames outside the libraries that are being carried out, the innermost first: "file(line): function;file(line): ..."

    most: frames that are told, so that recursion makes no text without end.
    """
    frame: FrameType | None = sys._getframe(1)
    found: list[str] = []
    while frame is not None and len(found) < most:
        if _is_users(frame.f_code.co_filename):
            found.append(f"{frame.f_code.co_filename}({frame.f_lineno}): {frame.f_code.co_name}")
        frame = frame.f_back
    return ";".join(found)


def _is_users(filename: str) -> bool:
    inner = filename.startswith("<") and filename not in ("<string>", "<stdin>")
    return not (inner or is_library(filename))
