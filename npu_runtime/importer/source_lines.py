"""The line of the user's code that made an operation."""

from __future__ import annotations

import os
from functools import cache
from importlib.util import find_spec
from typing import Any

_LIBRARIES = ("tensorflow", "tensorflow_estimator", "keras", "tf_keras", "tf_slim", "npu_bridge", "npu_runtime", "tf2npu")
"""Packages whose lines say nothing about whose wish it was."""


@cache
def _folders() -> tuple[str, ...]:
    specs = [find_spec(name) for name in _LIBRARIES]
    places = [place for spec in specs if spec for place in spec.submodule_search_locations or ()]
    return tuple(place.rstrip(os.sep) + os.sep for place in places)


@cache
def _is_users(file: str) -> bool:
    is_pythons = file.startswith(os.path.dirname(os.__file__)) and "site-packages" not in file
    return not (is_pythons or file.startswith(("<", *_folders())))


def users_line(operation: Any) -> str:
    """ "file:line" of the innermost frame of the user's that made a tf.Operation, "" where there is none.

    Source: a gradient's operation knows the one that it is the gradient of (`_original_op`).
    """
    while getattr(operation, "_original_op", None) is not None:
        operation = operation._original_op
    for frame in reversed(list(operation.traceback or ())):
        if _is_users(frame.filename):
            return f"{frame.filename}:{frame.lineno}"
    return ""
