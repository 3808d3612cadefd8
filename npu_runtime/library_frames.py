"""Which lines are those of libraries, and say nothing about whose wish it was."""

from __future__ import annotations

import os
from functools import cache
from importlib.util import find_spec

_LIBRARIES = ("npu_bridge", "hccl", "npu_runtime", "tf2npu", "tensorflow", "tensorflow_estimator", "keras", "tf_keras", "tf_slim")


@cache
def _folders() -> tuple[str, ...]:
    specs = [find_spec(name) for name in _LIBRARIES]
    places = [place for spec in specs if spec for place in spec.submodule_search_locations or ()]
    return tuple(place.rstrip(os.sep) + os.sep for place in places)


@cache
def is_library(file: str) -> bool:
    """Whether a file belongs to Python, to TensorFlow or to us, by the name that its code has."""
    is_pythons = file.startswith(os.path.dirname(os.__file__)) and "site-packages" not in file
    return is_pythons or file.startswith(_folders())
