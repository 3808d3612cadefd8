"""The line of the user's code that is being carried out."""

from __future__ import annotations

import os
import sys
from functools import cache
from importlib.util import find_spec

# Packages whose lines say nothing about whose wish it was.
_LIBRARIES = ("npu_bridge", "hccl", "npu_runtime", "tf2npu", "tensorflow", "tensorflow_estimator", "keras", "tf_keras", "tf_slim")


@cache
def _folders() -> tuple[str, ...]:
    specs = [find_spec(name) for name in _LIBRARIES]
    places = [place for spec in specs if spec for place in spec.submodule_search_locations or ()]
    return tuple(place.rstrip(os.sep) + os.sep for place in places)


@cache
def _is_users(filename: str) -> bool:
    inner = filename.startswith("<") and filename not in ("<string>", "<stdin>")
    is_pythons = filename.startswith(os.path.dirname(os.__file__)) and "site-packages" not in filename
    return not (inner or is_pythons or filename.startswith(_folders()))


def users_line() -> str:
    """`file:line` of the nearest frame outside the libraries, "" when there is none."""
    frame = sys._getframe(1)
    while frame is not None:
        if _is_users(frame.f_code.co_filename):
            return f"{frame.f_code.co_filename}:{frame.f_lineno}"
        frame = frame.f_back
    return ""
