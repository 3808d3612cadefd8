"""The code that asks for a CUDA name: PyTorch's own goes on as on a machine without CUDA, all other code is switched over."""

from __future__ import annotations

import os
from functools import cache
from types import FrameType

import torch

_FOLDER = os.path.join(os.path.dirname(torch.__file__), "")
_OURS = os.path.join(os.path.dirname(os.path.dirname(__file__)), "")


@cache
def _is_of_torch(file: str) -> bool:
    return file.startswith((_FOLDER, _OURS))


def is_of_torch(frame: FrameType) -> bool:
    """Whether a frame carries out code of PyTorch's or of ours."""
    return _is_of_torch(frame.f_code.co_filename)
